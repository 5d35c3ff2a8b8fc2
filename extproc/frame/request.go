package frame

import (
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind is the part of a request or a response in a message.
type Kind uint8

// The kinds of messages. Any other message of Envoy is Other.
const (
	Other Kind = iota
	RequestHeaders
	ResponseHeaders
	RequestBody
	ResponseBody
	RequestTrailers
	ResponseTrailers
)

// Message is one ProcessingRequest.
type Message struct {
	Kind       Kind
	End        bool   // the last message of this direction
	Body       []byte // of a body message
	headers    []byte // an encoded HeaderMap
	attributes []byte // an encoded Struct; the filter sends one
}

// ErrMessage is the error for bytes that are not a ProcessingRequest.
var ErrMessage = errors.New("frame: not a ProcessingRequest")

// Field numbers of ProcessingRequest, HttpHeaders, HttpBody and the map entry of attributes.
const (
	reqHeaders, reqResponseHeaders, reqBody  = 2, 3, 4
	reqResponseBody, reqTrailers, reqRTrails = 5, 6, 7
	reqAttributes                            = 9
	headersMap, headersEnd                   = 1, 3
	bodyBytes, bodyEnd                       = 1, 2
	mapKey, mapValue                         = 1, 2
)

// Parse parses a ProcessingRequest. The Message aliases b.
func Parse(b []byte) (Message, error) {
	var m Message
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return Message{}, ErrMessage
		}
		b = b[n:]
		var ok bool
		switch f.num {
		case reqHeaders:
			m.Kind = RequestHeaders
			ok = m.parseHeaders(f.v)
		case reqResponseHeaders:
			m.Kind = ResponseHeaders
			ok = m.parseHeaders(f.v)
		case reqBody:
			m.Kind = RequestBody
			ok = m.parseBody(f.v)
		case reqResponseBody:
			m.Kind = ResponseBody
			ok = m.parseBody(f.v)
		case reqTrailers:
			m.Kind, m.End, ok = RequestTrailers, true, true
		case reqRTrails:
			m.Kind, m.End, ok = ResponseTrailers, true, true
		case reqAttributes:
			ok = m.parseAttributes(f.v)
		default:
			ok = true
		}
		if !ok {
			return Message{}, ErrMessage
		}
	}
	return m, nil
}

// item is one field: its number and its value, which is v if it is length-delimited, and x for
// a varint or a fixed-size number.
type item struct {
	num int
	v   []byte
	x   uint64
}

// field consumes one field and returns its length in b, negative if it is malformed.
func field(b []byte) (f item, n int) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, n
	}
	f.num = int(num)
	var l int
	switch typ {
	case protowire.BytesType:
		f.v, l = protowire.ConsumeBytes(b[n:])
	case protowire.VarintType:
		f.x, l = protowire.ConsumeVarint(b[n:])
	case protowire.Fixed64Type:
		f.x, l = protowire.ConsumeFixed64(b[n:])
	case protowire.Fixed32Type, protowire.StartGroupType, protowire.EndGroupType:
		l = protowire.ConsumeFieldValue(num, typ, b[n:])
	}
	if l < 0 {
		return f, l
	}
	return f, n + l
}

func (m *Message) parseHeaders(b []byte) bool {
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		switch f.num {
		case headersMap:
			m.headers = f.v
		case headersEnd:
			m.End = f.x != 0
		}
	}
	return true
}

func (m *Message) parseBody(b []byte) bool {
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		switch f.num {
		case bodyBytes:
			m.Body = f.v
		case bodyEnd:
			m.End = f.x != 0
		}
	}
	return true
}

func (m *Message) parseAttributes(b []byte) bool {
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		if f.num == mapValue {
			m.attributes = f.v
		}
	}
	return true
}

// Headers calls yield for each header, in order, until yield returns false.
func (m *Message) Headers(yield func(name, value []byte) bool) {
	for b := m.headers; len(b) > 0; {
		f, n := field(b)
		if n < 0 {
			return
		}
		b = b[n:]
		if f.num != 1 { // HeaderMap.headers
			continue
		}
		name, value := header(f.v)
		if !yield(name, value) {
			return
		}
	}
}

// header reads a HeaderValue. Envoy fills raw_value (3); value (2) is the older form.
func header(b []byte) (name, value []byte) {
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return name, value
		}
		b = b[n:]
		switch f.num {
		case 1:
			name = f.v
		case 2, 3:
			if len(f.v) > 0 {
				value = f.v
			}
		}
	}
	return name, value
}

// Attribute is the value of an attribute: text or a number.
type Attribute struct {
	Text   []byte
	Number float64
}

// Attributes calls yield for each attribute of the message until yield returns false.
func (m *Message) Attributes(yield func(name []byte, value Attribute) bool) {
	for b := m.attributes; len(b) > 0; {
		f, n := field(b)
		if n < 0 {
			return
		}
		b = b[n:]
		if f.num != 1 { // Struct.fields
			continue
		}
		var name []byte
		var value Attribute
		for entry := f.v; len(entry) > 0; {
			f, n := field(entry)
			if n < 0 {
				return
			}
			entry = entry[n:]
			switch f.num {
			case mapKey:
				name = f.v
			case mapValue:
				value = attribute(f.v)
			}
		}
		if !yield(name, value) {
			return
		}
	}
}

// attribute reads a google.protobuf.Value: number_value is 2, string_value 3.
func attribute(b []byte) Attribute {
	var a Attribute
	for len(b) > 0 {
		f, n := field(b)
		if n < 0 {
			return a
		}
		b = b[n:]
		switch f.num {
		case 2:
			a.Number = math.Float64frombits(f.x)
		case 3:
			a.Text = f.v
		}
	}
	return a
}
