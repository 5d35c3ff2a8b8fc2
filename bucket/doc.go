// Package bucket puts objects into object storage, and reads and deletes them there: S3 and what speaks its protocol, Azure, or a
// directory. It is the only package that knows the clouds' clients.
//
// Guarantees:
//
//   - An object appears whole, or not at all. Put returns nil when the object is durable.
//   - A Put of the same name and content may be repeated after a crash: the object is replaced.
//   - No address is in an error, because it may hold a token. Credentials come from the environment.
package bucket
