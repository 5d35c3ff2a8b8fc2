package eventstream

import (
	"bytes"
	"encoding/base64"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// failed ends the type of events that are failures.
const failed = "Exception"

// IsFailure reports whether an event of a type is a failure.
func IsFailure(kind []byte) bool { return bytes.HasSuffix(kind, []byte(failed)) }

// event makes an event of a frame.
func (s *Splitter) event(e *splice.Event, h *headers) error {
	*e = splice.Event{Data: h.payload, Type: h.event, HasData: true, DataAt: -1}
	switch {
	case string(h.message) == "exception":
		e.Type = s.failure(h.exception)
	case string(h.message) == "error":
		e.Type = s.failure(h.code)
		s.inner = append(s.inner[:0], `{"message":`...)
		s.inner = append(splice.Quote(s.inner, string(h.text)), '}')
		e.Data = s.inner
	case IsFailure(e.Type):
	case s.Chunks && string(h.event) == "chunk":
		if e.Data = s.unwrapped(h.payload); e.Data == nil {
			return damaged("a chunk has no bytes")
		}
		e.Type = typeOf(e.Data)
	case s.Chunks:
		e.Data, e.HasData = nil, false
	}
	if e.HasData && (s.Chunks || s.Sent) {
		s.serverSent(e)
	}
	return nil
}

// failure returns the type of a failure of a name.
func (s *Splitter) failure(name []byte) []byte {
	if len(name) == 0 {
		name = []byte("unknown")
	}
	if s.kind = append(s.kind[:0], name...); !IsFailure(s.kind) {
		s.kind = append(s.kind, failed...)
	}
	return s.kind
}

// unwrapped returns the bytes in a chunk; nil if it has none. Most are {"bytes":"…","p":"…"}, where p is padding.
func (s *Splitter) unwrapped(payload []byte) []byte {
	text, ok := bytes.CutPrefix(payload, []byte(`{"bytes":"`))
	at := bytes.IndexByte(text, '"')
	if !ok || at < 0 || bytes.IndexByte(text[:at], '\\') >= 0 {
		var in struct {
			Bytes []byte `json:"bytes"`
		}
		if json.Unmarshal(payload, &in, jsontext.AllowInvalidUTF8(true)) != nil {
			return nil
		}
		return in.Bytes
	}
	if n := base64.StdEncoding.DecodedLen(at); cap(s.inner) < n || s.inner == nil {
		s.inner = make([]byte, max(n, 512))
	}
	n, err := base64.StdEncoding.Decode(s.inner[:cap(s.inner)], text[:at])
	if err != nil {
		return nil
	}
	return s.inner[:n]
}

// typeOf returns the member type of an event's data, which most begin with; nil if there is none.
func typeOf(data []byte) []byte {
	const begin = `{"type":"`
	if rest, ok := bytes.CutPrefix(data, []byte(begin)); ok {
		if at := bytes.IndexByte(rest, '"'); at >= 0 && isWord(rest[:at]) {
			return rest[:at]
		}
	}
	var in struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &in, jsontext.AllowInvalidUTF8(true)) != nil || !isWord([]byte(in.Type)) {
		return nil
	}
	return []byte(in.Type)
}

// isWord reports whether a type can be that of a server-sent event.
func isWord(b []byte) bool {
	for _, c := range b {
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0
}

// isName reports whether the type of a frame can be that of a server-sent event.
func isName(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return len(b) > 0
}

// serverSent writes Raw.
func (s *Splitter) serverSent(e *splice.Event) {
	s.raw = s.raw[:0]
	if isName(e.Type) {
		s.raw = append(append(append(s.raw, "event: "...), e.Type...), '\n')
	}
	at := len(s.raw) + len("data: ")
	s.raw = splice.AppendData(s.raw, e.Data)
	if len(e.Data) > 0 && !bytes.ContainsAny(e.Data, "\r\n") {
		e.DataAt = at
	}
	e.Raw = s.raw
}
