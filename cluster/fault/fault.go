package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a rejection or a failure that can be reported to a caller.
type Error struct {
	Op         string         // the operation, for the log: "decode", "identify"
	Kind       Kind           // category; determines every status
	Code       string         // symbolic code for the caller; empty means the Kind's own
	Param      string         // the invalid request field; empty if none
	Detail     string         // text for the caller: what happened and what to do
	Status     int            // HTTP status of a provider's response that is passed on; 0 means that of the Kind
	Type       string         // OpenAI error type; empty means the Kind's own
	RetryAfter time.Duration  // when a retry makes sense; 0 if unknown
	NoRetry    bool           // asks SDKs not to retry
	Details    map[string]any // further facts for the caller, under error.details
	Err        error          // the cause, for the log only
}

// Error returns all parts, for logs.
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

// New returns an error with a text for the caller.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Quote quotes a name of the input, cut to a readable length.
func Quote(name string) string {
	const most = 64
	if len(name) > most {
		return fmt.Sprintf("%.*q…", most, name)
	}
	return fmt.Sprintf("%q", name)
}

// Short is Quote for a value that is cut to fewer characters and shown without control
// characters and quotation marks.
func Short(value string) string {
	const most = 32
	value = strings.ToValidUTF8(value, "?")
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "…"
	}
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' {
			return -1
		}
		return r
	}, value) + `"`
}

// Field returns a Malformed error that names the invalid request field.
func Field(param, code, format string, args ...any) *Error {
	return &Error{Kind: Malformed, Code: code, Param: param, Detail: fmt.Sprintf(format, args...)}
}

// From returns err as an *Error. An error without a kind becomes Internal; a context's error
// becomes Canceled or Timeout.
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

// Message returns the text for the caller.
func (e *Error) Message() string {
	row := e.Kind.row()
	if e.Kind == Internal || e.Detail == "" {
		return row.text
	}
	return e.Detail
}

// HTTPStatus returns the status of the response.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return e.Kind.row().http
}
