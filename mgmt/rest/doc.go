// Package rest translates between HTTP with JSON and the messages of the API. It reads
// bodies and queries exactly: a member that the message does not have, that is of another
// type or that occurs twice is an error with the field's name. It writes responses, and
// errors with their details, and it knows the generated handlers.
//
// It knows no caller, no state and no service.
package rest
