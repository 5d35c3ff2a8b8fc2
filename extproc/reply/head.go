package reply

import (
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/redact"
)

// Head is the start of a response: what the stages read of it, and which of its headers the
// caller does not get. NewHead makes it, Header fills it.
type Head struct {
	Status int
	Length int64 // of the body; -1 if not said
	Empty  bool  // there is no body
	Tries  int   // attempts made

	Local   bool   // the proxy's own response, not a provider's
	Reached bool   // the provider has seen the request
	Expired bool   // a local one: a timeout expired
	Cause   string // of a local one; see package cause
	Detail  string // of a local one: the proxy's reason, for the log

	Remove    []string         // headers that the caller does not get
	Passed    []message.Header // a provider's own headers that the caller gets under another name
	Media     string           // content type, lower case, without parameters
	Encoding  string
	RequestID string // the provider's id of the request
	Billed    string // how many characters the provider bills; empty if it does not say
	Read      string // how many tokens it has read; empty if no header says it
	values    map[string]string
}

// NewHead returns the head of a provider's response without headers.
func NewHead() Head { return Head{Length: -1, Reached: true} }

// providerPrefix names a provider's headers that callers may want to see.
const providerPrefix = "llm_provider-"

// Header takes one header of the response. What it keeps does not alias its arguments.
func (h *Head) Header(name, value []byte) {
	switch string(name) {
	case ":status":
		h.Status, _ = strconv.Atoi(string(value))
	case "content-type":
		h.Media = MediaOf(string(value))
	case "content-encoding":
		h.Encoding = strings.ToLower(string(value))
	case "content-length":
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 {
			h.Length = n
		}
	case "date", "server": // the proxy sets its own server
	case "x-request-id", "request-id":
		h.Passed = append(h.Passed, message.Header{Name: providerPrefix + "x-request-id", Value: string(value)})
		h.RequestID = redact.ID(string(value))
		h.Remove = append(h.Remove, string(name))
	default:
		h.other(string(name), string(value))
	}
}

// MediaOf returns the media type of a content type, in lower case and without parameters.
func MediaOf(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(media))
}

// other keeps the headers that classify errors, and passes on only those that report
// how close the caller is to a provider's limits.
func (h *Head) other(name, value string) {
	if strings.HasPrefix(name, ":") {
		return
	}
	h.Remove = append(h.Remove, name)
	if h.RequestID == "" && slices.Contains(contract.ProviderIDHeaders(), name) {
		h.RequestID = redact.ID(value)
	}
	billed := metering.BilledHeaders()
	switch {
	case slices.Contains(billed[:], name):
		h.Billed = value
	case name == metering.ReadHeader:
		h.Read = value
	case name == "retry-after", name == "retry-after-ms",
		strings.HasPrefix(name, "x-ratelimit-"), strings.HasPrefix(name, "anthropic-ratelimit-"):
		h.Passed = append(h.Passed, message.Header{Name: providerPrefix + name, Value: value})
	}
	if h.Status >= 300 || strings.HasPrefix(name, "retry-after") {
		if h.values == nil {
			h.values = make(map[string]string, 8)
		}
		if _, ok := h.values[name]; !ok {
			h.values[name] = value
		}
	}
}

// RemovePassed returns the headers that the caller of a request that was passed on unread does not get: all but those
// that say what the response is.
func (h *Head) RemovePassed() []string {
	return slices.DeleteFunc(slices.Clone(h.Remove), describes)
}

// describes reports whether a header says what the response of a provider's API is.
func describes(name string) bool {
	switch name {
	case "accept-ranges", "allow", "cache-control", "content-disposition", "content-language", "content-range", "etag", "expires", "last-modified",
		"retry-after", "retry-after-ms", "x-should-retry", "x-amzn-errortype", "vary":
		return true
	}
	return strings.HasPrefix(name, "x-amzn-bedrock-")
}

// Value returns a header of an error response.
func (h *Head) Value(name string) string { return h.values[name] }

// Failed reports whether the response is that of a failure.
func (h *Head) Failed() bool { return h.Local || h.Status >= 300 }
