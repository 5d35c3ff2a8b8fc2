// Package openapi serves the API's description: the OpenAPI document, and a page for people
// that is made from it.
//
// The page is one file without a script. Its Content-Security-Policy keeps a browser from
// loading anything else.
package openapi
