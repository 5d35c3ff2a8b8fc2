// Package form finds the parts of bodies of the type multipart/form-data (RFC 7578, RFC 2046) in
// place, without copying them.
//
// It rejects a form in which two readers could see different fields: a line that begins with the
// boundary and is none, line feeds without carriage returns, folded or repeated headers, encoded
// names, and bytes outside of the parts. Time and memory are linear in the size of the body, and
// no call takes longer than 256 KiB of search between two points at which the garbage collector
// can stop its goroutine.
//
// What the fields mean, and which of them occur, is left to package splice.
package form
