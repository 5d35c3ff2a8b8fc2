package frame

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/modelgateway/modelgateway/extproc/message"
)

// Group is one step of the plan: the cluster of one attempt.
type Group struct{ Cluster string }

// Mutation is the change that a response makes to a part of the message.
type Mutation struct {
	message.Edit
	Continue   bool // CONTINUE_AND_REPLACE: a response to headers with a new body
	ClearRoute bool // selects the route again, with the plan
}

// Field numbers of ProcessingResponse, CommonResponse, HeaderMutation, BodyMutation and ImmediateResponse.
const (
	respRequestHeaders, respResponseHeaders = 1, 2
	respRequestBody, respResponseBody       = 3, 4
	respRequestTrailers, respTrailers       = 5, 6
	respImmediate, respMetadata             = 7, 8

	commonStatus, commonHeaders, commonBody, commonClear = 1, 2, 3, 5
	mutationSet, mutationRemove                          = 1, 2
	bodyNew, bodyClear, bodyStreamed                     = 1, 2, 3
	streamedBytes, streamedEnd                           = 1, 2
	immediateStatus, immediateHeaders, immediateBody     = 1, 2, 3
	immediateDetails                                     = 5
)

// overwrite is HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD.
const overwrite = 2

// answers returns the field of ProcessingResponse for a kind of message.
func answers(k Kind) protowire.Number {
	switch k {
	case RequestHeaders:
		return respRequestHeaders
	case ResponseHeaders:
		return respResponseHeaders
	case RequestBody:
		return respRequestBody
	case ResponseBody:
		return respResponseBody
	case RequestTrailers:
		return respRequestTrailers
	case ResponseTrailers, Other:
	}
	return respTrailers
}

// AppendPass appends a response without changes.
func AppendPass(dst []byte, k Kind) []byte {
	dst = protowire.AppendTag(dst, answers(k), protowire.BytesType)
	return protowire.AppendVarint(dst, 0)
}

// AppendAnswer appends the response to a message of kind k. It does not append the new body but
// returns it as the tail, which must follow dst on the wire. That avoids another copy of a
// large body.
func AppendAnswer(dst []byte, k Kind, m *Mutation) (head, tail []byte) {
	common := commonSize(m)
	size := sizeBytes(sizeBytes(common))
	if m.Replace {
		size -= len(m.Body)
	}
	dst = slices.Grow(dst, size)
	dst = protowire.AppendTag(dst, answers(k), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeBytes(common))) // HeadersResponse or BodyResponse
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)       // its only field, response
	dst = protowire.AppendVarint(dst, uint64(common))
	if m.Continue {
		dst = protowire.AppendTag(dst, commonStatus, protowire.VarintType)
		dst = protowire.AppendVarint(dst, 1)
	}
	if n := headersSize(m); n > 0 {
		dst = protowire.AppendTag(dst, commonHeaders, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(n))
		dst = appendHeaders(dst, m.Set, m.Remove)
	}
	if m.ClearRoute {
		dst = protowire.AppendTag(dst, commonClear, protowire.VarintType)
		dst = protowire.AppendVarint(dst, 1)
	}
	if !m.Replace {
		return dst, nil
	}
	dst = protowire.AppendTag(dst, commonBody, protowire.BytesType)
	if len(m.Body) == 0 {
		dst = protowire.AppendVarint(dst, 2)
		dst = protowire.AppendTag(dst, bodyClear, protowire.VarintType)
		return protowire.AppendVarint(dst, 1), nil
	}
	dst = protowire.AppendVarint(dst, uint64(sizeBytes(len(m.Body))))
	dst = protowire.AppendTag(dst, bodyNew, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(len(m.Body))), m.Body
}

// AppendPiece appends the start of a message that passes on a piece of a request body; the
// piece itself must follow on the wire. Envoy accepts it only if it streams the body.
func AppendPiece(dst []byte, length int) []byte { return appendPiece(dst, length, nil) }

// AppendLastPiece is AppendPiece for the last piece of a body.
func AppendLastPiece(dst []byte, length int) []byte {
	return appendPiece(dst, length, []byte{streamedEnd<<3 | byte(protowire.VarintType), 1})
}

// appendPiece puts the encoded end before the bytes, which must come last.
func appendPiece(dst []byte, length int, end []byte) []byte {
	streamed := len(end) + sizeBytes(length)
	body := sizeBytes(streamed)
	common := sizeBytes(body)
	dst = protowire.AppendTag(dst, respRequestBody, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeBytes(common)))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType) // BodyResponse.response
	dst = protowire.AppendVarint(dst, uint64(common))
	dst = protowire.AppendTag(dst, commonBody, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(body))
	dst = protowire.AppendTag(dst, bodyStreamed, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(streamed))
	dst = append(dst, end...)
	dst = protowire.AppendTag(dst, streamedBytes, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(length))
}

// sizeBytes returns the size of a length-delimited field with a one-byte tag.
func sizeBytes(n int) int { return 1 + protowire.SizeBytes(n) }

func commonSize(m *Mutation) int {
	n := 0
	if m.Continue {
		n += 2
	}
	if h := headersSize(m); h > 0 {
		n += sizeBytes(h)
	}
	if m.ClearRoute {
		n += 2
	}
	switch {
	case m.Replace && len(m.Body) == 0:
		n += sizeBytes(2)
	case m.Replace:
		n += sizeBytes(sizeBytes(len(m.Body)))
	}
	return n
}

func headersSize(m *Mutation) int {
	n := 0
	for i := range m.Set {
		n += sizeBytes(optionSize(&m.Set[i]))
	}
	for _, name := range m.Remove {
		n += sizeBytes(len(name))
	}
	return n
}

func optionSize(h *message.Header) int { return sizeBytes(valueSize(h)) + 2 }

func valueSize(h *message.Header) int { return sizeBytes(len(h.Name)) + sizeBytes(len(h.Value)) }

func appendHeaders(dst []byte, set []message.Header, remove []string) []byte {
	for i := range set {
		h := &set[i]
		dst = protowire.AppendTag(dst, mutationSet, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(optionSize(h)))
		dst = protowire.AppendTag(dst, 1, protowire.BytesType) // HeaderValueOption.header
		dst = protowire.AppendVarint(dst, uint64(valueSize(h)))
		dst = appendString(dst, 1, h.Name)
		dst = appendString(dst, 3, h.Value)                     // raw_value: value must be UTF-8, headers need not
		dst = protowire.AppendTag(dst, 3, protowire.VarintType) // HeaderValueOption.append_action
		dst = protowire.AppendVarint(dst, overwrite)
	}
	for _, name := range remove {
		dst = appendString(dst, mutationRemove, name)
	}
	return dst
}

func appendString(dst []byte, num protowire.Number, s string) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	return protowire.AppendString(dst, s)
}

// AppendImmediate appends a response that the caller gets without a request to a provider,
// or in the place of the provider's response.
func AppendImmediate(dst []byte, im *message.Response) []byte {
	m := Mutation{Edit: message.Edit{Set: im.Set}}
	headers := headersSize(&m)
	status := 1 + protowire.SizeVarint(uint64(im.Status))
	n := sizeBytes(status) + sizeBytes(len(im.Body))
	if im.Reason != "" {
		n += sizeBytes(len(im.Reason))
	}
	if headers > 0 {
		n += sizeBytes(headers)
	}
	dst = slices.Grow(dst, sizeBytes(n))
	dst = protowire.AppendTag(dst, respImmediate, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(n))
	dst = protowire.AppendTag(dst, immediateStatus, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(status))
	dst = protowire.AppendTag(dst, 1, protowire.VarintType) // HttpStatus.code
	dst = protowire.AppendVarint(dst, uint64(im.Status))
	if headers > 0 {
		dst = protowire.AppendTag(dst, immediateHeaders, protowire.BytesType)
		dst = protowire.AppendVarint(dst, uint64(headers))
		dst = appendHeaders(dst, im.Set, nil)
	}
	dst = protowire.AppendTag(dst, immediateBody, protowire.BytesType)
	dst = protowire.AppendBytes(dst, im.Body)
	if im.Reason != "" {
		dst = protowire.AppendTag(dst, immediateDetails, protowire.BytesType)
		dst = protowire.AppendString(dst, im.Reason)
	}
	return dst
}
