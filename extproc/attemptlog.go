package extproc

import (
	"errors"
	"io"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/cause"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// attemptLog receives Envoy's log of failed attempts. Only the log says why an attempt
// failed that another one followed: the filters see the last attempt alone.
type attemptLog struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	live *registry
}

// StreamAccessLogs takes entries until Envoy ends the stream, or dies.
func (l attemptLog) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	defer l.live.each((*pipeline.Exchange).Unlogged)
	for {
		m, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return stream.SendAndClose(&accesslogv3.StreamAccessLogsResponse{})
		case status.Code(err) == codes.Canceled:
			return nil
		case err != nil:
			return err
		}
		for _, e := range m.GetHttpLogs().GetLogEntry() {
			l.take(e)
		}
	}
}

func (l attemptLog) take(e *datav3.HTTPAccessLogEntry) {
	x := l.live.find(requestNamed(e.GetRequest().GetRequestId()))
	if x == nil {
		return // the request ended without waiting for the entry
	}
	headers := e.GetResponse().GetResponseHeaders()
	x.Logged(readFailure(e), func(name string) string { return headers[name] })
}

// readFailure reads Envoy's log entry of an attempt. The attempt has not reached the
// provider if the connection failed before the whole request was sent.
func readFailure(e *datav3.HTTPAccessLogEntry) attempt.Failure {
	common := e.GetCommonProperties()
	flags, code := common.GetResponseFlags(), int(e.GetResponse().GetResponseCode().GetValue())
	details, transport := e.GetResponse().GetResponseCodeDetails(), common.GetUpstreamTransportFailureReason()
	t := attempt.Failure{Reached: true, Detail: transport}
	switch {
	case flags.GetDownstreamConnectionTermination():
		t.Code, t.Kind = "canceled", fault.Canceled
	case flags.GetUpstreamConnectionFailure(), flags.GetNoHealthyUpstream(), flags.GetUpstreamOverflow():
		t.Code, t.Kind, t.Reached = "upstream_unreachable", fault.Upstream, false
		t.Cause = causeOfConnection(common, details)
	case flags.GetUpstreamRequestTimeout():
		t.Code, t.Kind, t.Cause = "upstream_timeout", fault.Timeout, cause.TimeoutFirstByte
		if common.GetTimeToFirstUpstreamRxByte() != nil {
			t.Cause = cause.TimeoutTotal
		}
	case flags.GetUpstreamConnectionTermination(), flags.GetUpstreamRemoteReset():
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, cause.Reset
	case flags.GetUpstreamProtocolError() && code/100 == 2: // HTTP/1.1: the connection ended before the body
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, cause.StreamCut
	case code == 429:
		t.Status, t.Code, t.Kind, t.Cause = code, "rate_limit_exceeded", fault.RateLimited, cause.OfStatus(code)
	case code >= 300:
		t.Status, t.Code, t.Kind, t.Cause = code, "upstream_error", fault.Upstream, cause.OfStatus(code)
	default:
		t.Code, t.Kind, t.Cause = "upstream_unreachable", fault.Upstream, causeOfText(details)
	}
	return t
}

// causeOfConnection returns why there was no connection. A cluster whose name has no
// address keeps only the address of its second priority; see xds/DESIGN.md.
func causeOfConnection(common *datav3.AccessLogCommon, details string) string {
	transport := common.GetUpstreamTransportFailureReason()
	switch {
	case common.GetUpstreamRemoteAddress().GetSocketAddress().GetAddress() == contract.AddressUnresolved:
		return cause.DNS
	case transport == "" && details == "":
		return cause.ConnectFailed
	}
	if c := causeOfText(transport + " " + details); c != cause.Unknown {
		return c
	}
	return cause.ConnectFailed
}
