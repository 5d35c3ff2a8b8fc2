// Package syntax reads the source of a template into a Tree.
//
// Parse rejects everything that templates do not support, with the line, the column and the
// word: unknown tags, filters, tests and functions, arguments that do not fit, methods that
// change a value, and sources that nest too deep. A Tree that it returns has the frames of
// all names, by the rules of Jinja's idtracking.py, so whatever runs it looks no name up by
// its text but the values that are given.
//
// The way of a source: lex cuts it into tokens, the parser builds nodes, and the binder
// finds the frame of each name. A Tree is immutable.
package syntax
