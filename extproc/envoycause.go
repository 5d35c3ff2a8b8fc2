package extproc

import (
	"strings"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// causeOfText reads the cause from Envoy's words for an attempt without a response:
// its response code details, or the reason of its transport. Envoy writes some of
// them with underscores in the place of blanks.
func causeOfText(text string) string {
	text = strings.ReplaceAll(text, "_", " ")
	for _, row := range [...]struct{ has, cause string }{
		{"TLS", CauseTLS},
		{"Connection refused", CauseConnectRefused},
		{"connection timeout", CauseTimeoutConnect},
		{"connection failure", CauseConnectFailed},
		{"connect error", CauseConnectFailed},
		{"no healthy upstream", CauseConnectFailed},
		{"timeout", CauseTimeoutFirstByte}, // Envoy answers by itself only where no response had begun
		{"overflow", CauseNotSent},
		{"reset", CauseReset},
		{"termination", CauseReset},
	} {
		if strings.Contains(text, row.has) {
			return row.cause
		}
	}
	return CauseUnknown
}

// readFailure reads what Envoy logs of an attempt. A connection that failed before
// the request was through has not reached the provider.
func readFailure(e *datav3.HTTPAccessLogEntry) AttemptFailure {
	common := e.GetCommonProperties()
	flags, code := common.GetResponseFlags(), int(e.GetResponse().GetResponseCode().GetValue())
	details, transport := e.GetResponse().GetResponseCodeDetails(), common.GetUpstreamTransportFailureReason()
	t := AttemptFailure{Reached: true, Detail: transport}
	switch {
	case flags.GetDownstreamConnectionTermination():
		t.Code, t.Kind = "canceled", fault.Canceled
	case flags.GetUpstreamConnectionFailure(), flags.GetNoHealthyUpstream(), flags.GetUpstreamOverflow():
		t.Code, t.Kind, t.Reached = "upstream_unreachable", fault.Upstream, false
		t.Cause = causeOfConnection(common, details)
	case flags.GetUpstreamRequestTimeout():
		t.Code, t.Kind, t.Cause = "upstream_timeout", fault.Timeout, CauseTimeoutFirstByte
		if common.GetTimeToFirstUpstreamRxByte() != nil {
			t.Cause = CauseTimeoutTotal
		}
	case flags.GetUpstreamConnectionTermination(), flags.GetUpstreamRemoteReset():
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, CauseReset
	case flags.GetUpstreamProtocolError() && code/100 == 2: // HTTP/1.1: the connection ended before the body
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, CauseStreamCut
	case code == 429:
		t.Status, t.Code, t.Kind, t.Cause = code, "rate_limit_exceeded", fault.RateLimited, CauseOfStatus(code)
	case code >= 300:
		t.Status, t.Code, t.Kind, t.Cause = code, "upstream_error", fault.Upstream, CauseOfStatus(code)
	default:
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, causeOfText(details)
	}
	return t
}

// causeOfConnection says why there was no connection. A cluster whose name has no
// address is left with the one of its second priority; see xds/DESIGN.md.
func causeOfConnection(common *datav3.AccessLogCommon, details string) string {
	transport := common.GetUpstreamTransportFailureReason()
	switch {
	case common.GetUpstreamRemoteAddress().GetSocketAddress().GetAddress() == contract.AddressUnresolved:
		return CauseDNS
	case transport == "" && details == "":
		return CauseConnectFailed
	}
	if c := causeOfText(transport + " " + details); c != CauseUnknown {
		return c
	}
	return CauseConnectFailed
}
