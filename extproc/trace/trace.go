// Package trace passes on a caller's trace context, as in W3C Trace Context.
package trace

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/message"
)

// The headers of W3C Trace Context.
const (
	HeaderParent = "traceparent"
	HeaderState  = "tracestate"
)

// maxTraceState bounds the tracestate that is passed on, in bytes. W3C Trace Context
// requires at least 512.
const maxTraceState = 512

// Context is the caller's trace context. The zero value is none.
type Context struct {
	parents int    // how many traceparent headers there were
	ID      string // of the trace: 32 hex digits; empty for none
	parent  string // the caller's span: 16 hex digits
	Span    string // the gateway's span, which providers get as their parent
	flags   byte
	state   string // tracestate, in the caller's order
}

// IsZero reports whether the caller sent no valid trace.
func (t *Context) IsZero() bool { return t.ID == "" }

// SetParent reads a traceparent. If it is invalid, or there are two, the trace is not passed
// on.
func (t *Context) SetParent(value string) {
	if t.parents++; t.parents > 1 {
		t.ID = ""
		return
	}
	version, rest, _ := strings.Cut(value, "-")
	if !isHex(version, 2) || version == "ff" || len(rest) < 52 {
		return
	}
	// A later version may have more behind the flags, after a dash.
	if more := rest[52:]; more != "" && (version == "00" || more[0] != '-') {
		return
	}
	id, parent, flags := rest[:32], rest[33:49], rest[50:52]
	if rest[32] != '-' || rest[49] != '-' || !isHex(id, 32) || !isHex(parent, 16) || !isHex(flags, 2) ||
		strings.Trim(id, "0") == "" || strings.Trim(parent, "0") == "" {
		return
	}
	var span [8]byte
	_, _ = rand.Read(span[:]) // never fails
	span[7] |= 1              // a span of zeros only is invalid
	raw, _ := hex.DecodeString(flags)
	t.ID, t.parent, t.flags, t.Span = id, parent, raw[0], hex.EncodeToString(span[:])
}

// AddState adds a tracestate. Several headers are one list.
func (t *Context) AddState(value string) {
	if t.state != "" && value != "" {
		t.state += ","
	}
	t.state += value
}

// Headers appends the provider's headers: the same trace, with the gateway's span as the
// parent. Only flags that version 00 defines are passed on. Without a valid trace the
// tracestate is not passed on either.
func (t *Context) Headers(dst []message.Header) []message.Header {
	if t.IsZero() {
		return dst
	}
	const known = 0x03 // sampled, and random trace id
	flags := hex.EncodeToString([]byte{t.flags & known})
	dst = append(dst, message.Header{Name: HeaderParent, Value: "00-" + t.ID + "-" + t.Span + "-" + flags})
	if state := t.boundedState(); state != "" {
		dst = append(dst, message.Header{Name: HeaderState, Value: state})
	}
	return dst
}

// boundedState returns the tracestate without the members at its end that do not fit.
func (t *Context) boundedState() string {
	state := strings.Trim(t.state, " \t,")
	for len(state) > maxTraceState {
		at := strings.LastIndexByte(state, ',')
		if at < 0 {
			return ""
		}
		state = strings.TrimRight(state[:at], " \t,")
	}
	return state
}

// isHex reports whether s is n hex digits in lower case.
func isHex(s string, n int) bool {
	return len(s) == n && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}
