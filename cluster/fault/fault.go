package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Error is a refusal or a failure that a caller may be told of.
type Error struct {
	Op         string         // what was being done, for the log: "decode", "identify"
	Kind       Kind           // what sort of trouble; decides every status
	Code       string         // symbolic code for the caller; empty means the Kind's own
	Param      string         // the request field at fault; empty if none is
	Detail     string         // what the caller is told: what is wrong and what to do
	Status     int            // HTTP status of a provider's answer that is passed on; 0 means the Kind's own
	Type       string         // OpenAI error type; empty means the Kind's own
	RetryAfter time.Duration  // when trying again makes sense; 0 if unknown
	NoRetry    bool           // tells SDKs not to try again by themselves
	Details    map[string]any // further facts for the caller, under error.details
	Err        error          // the cause, for the log only
}

// Error returns the whole story, for logs.
func (e *Error) Error() string {
	s := e.Kind.String()
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error with a text for the caller.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Field makes a Malformed error that names the request field at fault.
func Field(param, code, format string, args ...any) *Error {
	return &Error{Kind: Malformed, Code: code, Param: param, Detail: fmt.Sprintf(format, args...)}
}

// From returns err as an *Error. What has no kind becomes Internal, or Canceled
// or Timeout if it is a context's error.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return &Error{Kind: Canceled, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Timeout, Err: err}
	}
	return &Error{Kind: Internal, Err: err}
}

// KindOf returns the kind of err; Internal for an error without one.
func KindOf(err error) Kind {
	if e := From(err); e != nil {
		return e.Kind
	}
	return Internal
}

// Message is the text that the caller is shown.
func (e *Error) Message() string {
	row := e.Kind.row()
	if e.Kind == Internal || e.Detail == "" {
		return row.text
	}
	return e.Detail
}

// HTTPStatus is the status of the answer.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Kind.row().http
}
