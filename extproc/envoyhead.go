package extproc

import (
	"math"
	"strings"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/reply"
)

// viaUpstream is Envoy's response.code_details for a response that came from upstream.
const viaUpstream = "via_upstream"

// readHead reads the response headers message. The strings it keeps do not
// alias the message.
func readHead(m *frame.Message) reply.Head {
	h := reply.NewHead()
	h.Empty, h.Local = m.End, true
	var details string
	m.Attributes(func(name []byte, v frame.Attribute) bool {
		switch string(name) {
		case contract.AttrAttempt:
			h.Tries = int(min(max(v.Number, 0), math.MaxInt16))
		case contract.AttrCodeDetails:
			if h.Local = string(v.Text) != viaUpstream; h.Local {
				details = string(v.Text)
			}
		}
		return true
	})
	m.Headers(func(name, value []byte) bool {
		h.Header(name, value)
		return true
	})
	if h.Local {
		h.Cause, h.Detail = causeOfText(details), details
		h.Reached, h.Expired = reached(details), strings.Contains(details, "timeout")
	}
	return h
}

// reached reports whether the provider has seen the request, given Envoy's reason for a local
// response. It has not only if there was no connection, or no host to connect to.
func reached(details string) bool {
	for _, before := range []string{"connection_failure", "connection_timeout", "overflow", "no_healthy_upstream", "cluster_not_found", "no_cluster"} {
		if strings.Contains(details, before) {
			return false
		}
	}
	return strings.Contains(details, "timeout") || strings.Contains(details, "reset")
}

// causeOfText reads the cause from Envoy's text for an attempt without a response: its
// response code details, or its transport failure reason. In some of them Envoy writes
// underscores instead of spaces.
func causeOfText(text string) string {
	text = strings.ReplaceAll(text, "_", " ")
	for _, row := range [...]struct{ has, cause string }{
		{"TLS", cause.TLS},
		{"Connection refused", cause.ConnectRefused},
		{"connection timeout", cause.TimeoutConnect},
		{"connection failure", cause.ConnectFailed},
		{"connect error", cause.ConnectFailed},
		{"no healthy upstream", cause.ConnectFailed},
		{"timeout", cause.TimeoutFirstByte}, // Envoy sends a local response only if none had begun
		{"overflow", cause.NotSent},
		{"reset", cause.Reset},
		{"termination", cause.Reset},
	} {
		if strings.Contains(text, row.has) {
			return row.cause
		}
	}
	return cause.Unknown
}
