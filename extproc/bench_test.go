package extproc

import (
	"context"
	"io"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// script is a stream on which Envoy says the same each time. What the server sends is dropped.
type script struct {
	grpc.ServerStream
	ctx      context.Context //nolint:containedctx // grpc.ServerStream gives it out
	messages [][]byte
	next     int
}

func (s *script) Context() context.Context { return s.ctx }

func (s *script) RecvMsg(m any) error {
	if s.next == len(s.messages) {
		return io.EOF
	}
	s.next++
	return frame.Codec{}.Unmarshal(mem.BufferSlice{mem.SliceBuffer(s.messages[s.next-1])}, m)
}

func (s *script) SendMsg(any) error { return nil }

// benchmark measures a request whose response comes in the given pieces.
func benchmark(b *testing.B, body string, c came) {
	b.Helper()
	k := newKit(b, one())
	message := func(m *extprocv3.ProcessingRequest) []byte {
		raw, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		return raw
	}
	messages := [][]byte{
		message(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(plainHeaders(k.uuid(), "authorization", "Bearer "+appKey))},
		}}),
		message(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
			RequestBody: &extprocv3.HttpBody{Body: []byte(body), EndOfStream: true},
		}}),
		message(&extprocv3.ProcessingRequest{
			Request:    &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap(append([]string{":status", itoa(c.status)}, c.headers...))}},
			Attributes: attributes(b, map[string]any{contract.AttrAttempt: 1, contract.AttrCodeDetails: "via_upstream"}),
		}),
	}
	for i, piece := range c.pieces {
		messages = append(messages, message(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{
			ResponseBody: &extprocv3.HttpBody{Body: []byte(piece), EndOfStream: i == len(c.pieces)-1},
		}}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := k.server.process(&script{ctx: context.Background(), messages: messages}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWhole(b *testing.B) { benchmark(b, hello, jsonAnswer(goodReply)) }

func BenchmarkStream(b *testing.B) {
	c := streamAnswer()
	for range 50 {
		c.pieces = append(c.pieces, text("Hi"))
	}
	c.pieces = append(c.pieces, stop()+done)
	benchmark(b, streaming(), c)
}

func BenchmarkFailure(b *testing.B) { benchmark(b, hello, failedWith(400, "x", "x")) }
