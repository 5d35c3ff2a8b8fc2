// Package googleschema translates JSON schemas to the form of Google's API, a subset of OpenAPI's with types in capitals, and
// back. Anything that is no schema comes back as it is. A schema does not grow without bound, whatever it refers to.
package googleschema
