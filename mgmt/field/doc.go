// Package field has what requests and responses over REST and over gRPC share: fields
// with a meaning in every message, how errors name a field, and numbers that are read
// exactly.
package field
