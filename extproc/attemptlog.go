package extproc

import (
	"errors"
	"io"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// attemptLog takes Envoy's log of attempts that failed. It is the only place
// where the reason of an attempt that another one followed can be learned: the
// filters see the last one alone.
type attemptLog struct {
	accesslogv3.UnimplementedAccessLogServiceServer
	live *registry
}

// StreamAccessLogs takes entries until Envoy ends the stream, or dies.
func (l attemptLog) StreamAccessLogs(stream accesslogv3.AccessLogService_StreamAccessLogsServer) error {
	defer l.live.each((*Exchange).unlogged)
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
	x := l.live.find(id.RequestFromUUID(e.GetRequest().GetRequestId()))
	if x == nil {
		return // it ended without needing to know
	}
	x.logged(attemptTrouble(int(e.GetResponse().GetResponseCode().GetValue()), e.GetCommonProperties().GetResponseFlags()))
}

// attemptTrouble reads what Envoy says of an attempt. A refused or broken
// connection before the request was through has not reached the provider.
func attemptTrouble(code int, flags *datav3.ResponseFlags) trouble {
	switch {
	case flags.GetDownstreamConnectionTermination():
		return trouble{code: "canceled", kind: fault.Canceled, reached: true}
	case flags.GetUpstreamConnectionFailure(), flags.GetNoHealthyUpstream(), flags.GetUpstreamOverflow():
		return trouble{code: "upstream_unreachable", kind: fault.Upstream}
	case flags.GetUpstreamRequestTimeout():
		return trouble{code: "upstream_timeout", kind: fault.Timeout, reached: true}
	case flags.GetUpstreamConnectionTermination(), flags.GetUpstreamRemoteReset():
		return trouble{code: "upstream_unreachable", kind: fault.Upstream, reached: true}
	case code == 429:
		return trouble{status: code, code: "rate_limit_exceeded", kind: fault.RateLimited, reached: true}
	case code >= 300:
		return trouble{status: code, code: "upstream_error", kind: fault.Upstream, reached: true}
	}
	return trouble{code: "upstream_unreachable", kind: fault.Upstream, reached: true}
}
