// Package openapi shows the API's description: the OpenAPI document as it is, and
// a page for people that is made of it.
//
// The page is one file with no script. A browser that shows it loads nothing
// else, and is told so by a policy of its content.
package openapi
