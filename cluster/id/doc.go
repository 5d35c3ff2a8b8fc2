// Package id names things. Every identifier that crosses a package border has
// a type of its own here, so that a signature says what it wants and a
// deployment cannot be passed where a model name is due.
//
// It is a leaf: the standard library is all it imports.
package id
