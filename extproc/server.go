package extproc

import (
	"context"
	"errors"
	"io"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// Server speaks ext_proc with Envoy's filters, and receives Envoy's attempt log.
// The grpc.Server it is registered with must use frame.Codec.
type Server struct {
	pipeline *pipeline.Pipeline
	live     *registry
	uploads  *uploads
}

// NewServer returns a server over the pipeline.
func NewServer(p *pipeline.Pipeline) *Server {
	return &Server{pipeline: p, live: newRegistry(), uploads: newUploads()}
}

// InFlight returns the number of requests in flight.
func (s *Server) InFlight() int { return s.live.count() }

// Register adds the services to a gRPC server. The processor's service description is written
// by hand, since its messages are not decoded; see package frame.
func (s *Server) Register(g *grpc.Server) {
	g.RegisterService(&grpc.ServiceDesc{
		ServiceName: "envoy.service.ext_proc.v3.ExternalProcessor",
		Streams: []grpc.StreamDesc{{
			StreamName: "Process", ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error { return s.process(stream) },
		}},
	}, nil)
	accesslogv3.RegisterAccessLogServiceServer(g, attemptLog{live: s.live})
}

func (s *Server) process(stream grpc.ServerStream) error {
	c := conn{stream: stream, now: s.pipeline.Now}
	var err error
	switch role(stream.Context()) {
	case contract.RoleRewrite:
		err = s.rewrite(&c)
	case contract.RoleCheck:
		err = s.check(&c)
	case contract.RolePieces:
		err = s.downstream(&c, &upload{room: s.uploads})
	default:
		err = s.downstream(&c, nil)
	}
	return s.ended(err)
}

// Attached serves a request that Envoy's dynamic module brings, in the place of the downstream filter.
func (s *Server) Attached(stream Messages) error {
	c := conn{stream: stream, now: s.pipeline.Now}
	return s.ended(s.downstream(&c, nil))
}

// ended returns the error of a stream, if it is one.
func (s *Server) ended(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), status.Code(err) == codes.Canceled, errors.Is(err, context.Canceled):
		return nil // Envoy ends a stream by resetting it
	}
	s.pipeline.Logger().Error("external processor stream failed", "error", err.Error())
	return err
}

// Messages is a stream from Envoy. It carries frame.Frame.
type Messages interface {
	Context() context.Context
	RecvMsg(m any) error
	SendMsg(m any) error
}

func role(ctx context.Context) string {
	if v := metadata.ValueFromIncomingContext(ctx, contract.RoleKey); len(v) > 0 {
		return v[0]
	}
	return ""
}

// conn is one stream from Envoy.
type conn struct {
	stream Messages
	in     frame.Frame
	out    frame.Frame // of the latest send; gRPC keeps its bytes, and not the Frame
	now    func() time.Time

	// The total time from each message's arrival to the call for the next one: the gateway's
	// work and its own waits, without waiting for Envoy.
	busy  time.Duration
	since time.Time // when the current message arrived; zero while there is none
}

// addBusy adds the time since the current message arrived to busy.
func (c *conn) addBusy() {
	if !c.since.IsZero() {
		c.busy += c.now().Sub(c.since)
		c.since = time.Time{}
	}
}

// recv reads the next message; it is valid until the next recv, unless held.
func (c *conn) recv() (frame.Message, error) {
	c.addBusy()
	if err := c.stream.RecvMsg(&c.in); err != nil {
		return frame.Message{}, err
	}
	c.since = c.now()
	return frame.Parse(c.in.Bytes())
}

func (c *conn) send(head, tail []byte) error {
	c.out.Out = [2][]byte{head, tail}
	return c.stream.SendMsg(&c.out)
}

// sendPiece sends head and a piece of a body, whose buffers it frees.
func (c *conn) sendPiece(head []byte, piece mem.BufferSlice) error {
	c.out.Out, c.out.More = [2][]byte{head}, piece
	return c.stream.SendMsg(&c.out)
}

// pass answers a message with no change.
func (c *conn) pass(k frame.Kind) error { return c.send(frame.AppendPass(nil, k), nil) }

// answer answers a message with a change.
func (c *conn) answer(k frame.Kind, m *frame.Mutation) error {
	head, tail := frame.AppendAnswer(nil, k, m)
	return c.send(head, tail)
}

// immediate responds to the caller at once.
func (c *conn) immediate(im *message.Response) error {
	return c.send(frame.AppendImmediate(nil, im), nil)
}
