package extproc

import (
	"errors"
	"io"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
	defer l.live.each((*Exchange).Unlogged)
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
		return // it ended without needing to know
	}
	headers := e.GetResponse().GetResponseHeaders()
	x.Logged(readFailure(e), func(name string) string { return headers[name] })
}
