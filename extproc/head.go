package extproc

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// head is the start of an answer: what the pipeline acts on, and what of it must
// not reach the caller.
type head struct {
	status    int
	media     string // content type, lower case, without parameters
	encoding  string
	length    int64  // of the body; -1 if not said
	local     bool   // Envoy's own answer: no provider's is behind it
	details   string // Envoy's reason for a local answer
	tries     int    // attempts made
	requestID string // the provider's id of the request
	remove    []string
	passed    []frame.Header // a provider's own headers that are passed on by another name
	values    map[string]string
}

// viaUpstream is Envoy's response.code_details for an answer that came from upstream.
const viaUpstream = "via_upstream"

// providerPrefix names a provider's headers that callers may want to see.
const providerPrefix = "llm_provider-"

// readHead reads the response headers message. The strings it keeps do not
// alias the message.
func readHead(m *frame.Message) head {
	h := head{local: true, length: -1}
	m.Attributes(func(name []byte, v frame.Attribute) bool {
		switch string(name) {
		case contract.AttrAttempt:
			h.tries = int(min(max(v.Number, 0), math.MaxInt16))
		case contract.AttrCodeDetails:
			if h.local = string(v.Text) != viaUpstream; h.local {
				h.details = string(v.Text)
			}
		}
		return true
	})
	m.Headers(func(name, value []byte) bool {
		h.header(name, value)
		return true
	})
	return h
}

func (h *head) header(name, value []byte) {
	switch string(name) {
	case ":status":
		h.status, _ = strconv.Atoi(string(value))
	case "content-type":
		media, _, _ := strings.Cut(string(value), ";")
		h.media = strings.ToLower(strings.TrimSpace(media))
	case "content-encoding":
		h.encoding = strings.ToLower(string(value))
	case "content-length":
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 {
			h.length = n
		}
	case "date", "server": // Envoy writes its own server
	case "x-request-id", "request-id":
		h.passed = append(h.passed, frame.Header{Name: providerPrefix + "x-request-id", Value: string(value)})
		h.requestID = safeID(string(value))
		h.remove = append(h.remove, string(name))
	default:
		h.other(string(name), string(value))
	}
}

// other keeps what an error's classification may ask for, and lets through only
// what says how close the caller is to a provider's limits.
func (h *head) other(name, value string) {
	if strings.HasPrefix(name, ":") {
		return
	}
	h.remove = append(h.remove, name)
	if h.requestID == "" && slices.Contains(contract.ProviderIDHeaders(), name) {
		h.requestID = safeID(value)
	}
	switch {
	case name == "retry-after", name == "retry-after-ms",
		strings.HasPrefix(name, "x-ratelimit-"), strings.HasPrefix(name, "anthropic-ratelimit-"):
		h.passed = append(h.passed, frame.Header{Name: providerPrefix + name, Value: value})
	}
	if h.status >= 300 || strings.HasPrefix(name, "retry-after") {
		if h.values == nil {
			h.values = make(map[string]string, 8)
		}
		if _, ok := h.values[name]; !ok {
			h.values[name] = value
		}
	}
}

// reached reports whether the provider has seen the request. Envoy says of an
// answer of its own how it came to it; only a connection that there never was,
// or that nobody could be asked for, leaves the provider out of it.
func (h *head) reached() bool {
	if !h.local {
		return true
	}
	for _, before := range []string{"connection_failure", "connection_timeout", "overflow", "no_healthy_upstream", "cluster_not_found", "no_cluster"} {
		if strings.Contains(h.details, before) {
			return false
		}
	}
	return strings.Contains(h.details, "timeout") || strings.Contains(h.details, "reset")
}

// value returns a header of an error's answer.
func (h *head) value(name string) string { return h.values[name] }
