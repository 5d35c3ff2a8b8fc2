package extproc

import (
	"strings"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// Causes of failed attempts, as logs and records name them.
const (
	causeConnectRefused   = "connect_refused"    // nobody listens at the address
	causeConnectFailed    = "connect_failed"     // any other reason why there is no connection
	causeDNS              = "dns"                // the name has no address
	causeTLS              = "tls"                // the handshake failed, or the certificate is not trusted
	causeReset            = "reset"              // the provider closed the connection before it answered
	causeTimeoutConnect   = "timeout_connect"    // no connection in time
	causeTimeoutFirstByte = "timeout_first_byte" // no byte of the response in time
	causeTimeoutTotal     = "timeout_total"      // the response began and did not end in time
	causeInvalidAnswer    = "invalid_answer"     // a good status, and a body that is no response
	causeStreamCut        = "stream_cut"         // the stream ended in the middle of the response
	causeStreamError      = "stream_error"       // the provider reported an error inside a good status
	causeContentFilter    = "content_filter"     // the provider's content filter blocked the request or the response
	causeNotSent          = "not_sent"           // the gateway could not make or send the request
	causeUnknown          = "unknown"            // Envoy did not report why
)

// causeOfStatus is the cause of an attempt that the provider answered.
func causeOfStatus(status int) string {
	switch {
	case status == 429:
		return "http_429"
	case status >= 500:
		return "http_5xx"
	case status >= 400:
		return "http_4xx"
	case status >= 300:
		return "http_3xx"
	}
	return causeUnknown
}

// causeOfText reads the cause from Envoy's words for an attempt without a response:
// its response code details, or the reason of its transport. Envoy writes some of
// them with underscores in the place of blanks.
func causeOfText(text string) string {
	text = strings.ReplaceAll(text, "_", " ")
	for _, row := range [...]struct{ has, cause string }{
		{"TLS", causeTLS},
		{"Connection refused", causeConnectRefused},
		{"connection timeout", causeTimeoutConnect},
		{"connection failure", causeConnectFailed},
		{"connect error", causeConnectFailed},
		{"no healthy upstream", causeConnectFailed},
		{"timeout", causeTimeoutFirstByte}, // Envoy answers by itself only where no response had begun
		{"overflow", causeNotSent},
		{"reset", causeReset},
		{"termination", causeReset},
	} {
		if strings.Contains(text, row.has) {
			return row.cause
		}
	}
	return causeUnknown
}

// attemptTrouble reads what Envoy logs of an attempt. A connection that failed before
// the request was through has not reached the provider.
func attemptTrouble(e *datav3.HTTPAccessLogEntry) trouble {
	common := e.GetCommonProperties()
	flags, code := common.GetResponseFlags(), int(e.GetResponse().GetResponseCode().GetValue())
	details, transport := e.GetResponse().GetResponseCodeDetails(), common.GetUpstreamTransportFailureReason()
	t := trouble{reached: true, detail: transport}
	switch {
	case flags.GetDownstreamConnectionTermination():
		t.code, t.kind = "canceled", fault.Canceled
	case flags.GetUpstreamConnectionFailure(), flags.GetNoHealthyUpstream(), flags.GetUpstreamOverflow():
		t.code, t.kind, t.reached = "upstream_unreachable", fault.Upstream, false
		t.cause = causeOfConnection(common, details)
	case flags.GetUpstreamRequestTimeout():
		t.code, t.kind, t.cause = "upstream_timeout", fault.Timeout, causeTimeoutFirstByte
		if common.GetTimeToFirstUpstreamRxByte() != nil {
			t.cause = causeTimeoutTotal
		}
	case flags.GetUpstreamConnectionTermination(), flags.GetUpstreamRemoteReset():
		t.code, t.kind, t.cause = "upstream_unreachable", fault.Upstream, causeReset
	case flags.GetUpstreamProtocolError() && code/100 == 2: // HTTP/1.1: the connection ended before the body
		t.code, t.kind, t.cause = "upstream_unreachable", fault.Upstream, causeStreamCut
	case code == 429:
		t.status, t.code, t.kind, t.cause = code, "rate_limit_exceeded", fault.RateLimited, causeOfStatus(code)
	case code >= 300:
		t.status, t.code, t.kind, t.cause = code, "upstream_error", fault.Upstream, causeOfStatus(code)
	default:
		t.code, t.kind, t.cause = "upstream_unreachable", fault.Upstream, causeOfText(details)
	}
	return t
}

// causeOfConnection says why there was no connection. A cluster whose name has no
// address is left with the one of its second priority; see xds/DESIGN.md.
func causeOfConnection(common *datav3.AccessLogCommon, details string) string {
	transport := common.GetUpstreamTransportFailureReason()
	switch {
	case common.GetUpstreamRemoteAddress().GetSocketAddress().GetAddress() == contract.AddressUnresolved:
		return causeDNS
	case transport == "" && details == "":
		return causeConnectFailed
	}
	if c := causeOfText(transport + " " + details); c != causeUnknown {
		return c
	}
	return causeConnectFailed
}
