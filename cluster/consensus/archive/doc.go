// Package archive is the format of a snapshot on its way between two nodes: a manifest, then the
// files. The size is known in advance, and the receiver checks the hash of each file while it
// writes the file. A tar offers neither without more rules than this format has fields. All
// numbers are big endian:
//
//	magic     8 bytes
//	length    4 bytes, that of the manifest in bytes
//	manifest  a list of files
//	hash      32 bytes, SHA-256 of the manifest
//	files     concatenated, in the order of the manifest
//
// For each file, ordered by name, the manifest has:
//
//	length    2 bytes, of the name
//	file      the name
//	size      8 bytes
//	hash      32 bytes, SHA-256 of the file
//
// Guarantees:
//
//   - Equal files make equal archives, byte for byte, and an archive that a Writer accepts is the
//     one that a Reader of its files returns.
//   - A Writer creates only plain file names, without a path.
//   - Finish returns no error only if every file is complete and has its hash.
package archive
