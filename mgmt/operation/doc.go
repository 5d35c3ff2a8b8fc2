// Package operation runs the operations of the API. A request over REST or gRPC whose
// caller is known goes through one pipeline (Table.Run): may the caller use the operation,
// do If-Match and if_revision agree, do the fields keep their rules, and was the request
// answered before under its Idempotency-Key. Then the service's method runs. It makes its
// changes by Change, in one entry of the log with their audit events and the response.
//
// It knows no service and no transport.
package operation
