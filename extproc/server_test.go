package extproc

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec that frame.Codec hands everything but frames to

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// dial serves the kit over gRPC and returns a connection to it.
func (k *kit) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.ForceServerCodecV2(frame.Codec{Proto: encoding.GetCodecV2("proto")}))
	k.server.Register(g)
	served := make(chan error, 1)
	go func() { served <- g.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		g.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// exchange sends a message and returns the answer to it.
func exchange(t *testing.T, s extprocv3.ExternalProcessor_ProcessClient, m *extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	t.Helper()
	if err := s.Send(m); err != nil {
		t.Fatal(err)
	}
	r, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What the other tests say over a stream of their own must hold over gRPC too,
// where buffers are given back and used again.
func TestServesOverGRPC(t *testing.T) {
	t.Parallel()
	spec := trio()
	spec.Router.DisableCooldowns = new(true)
	k := newKit(t, spec)
	conn := k.dial(t)
	log, err := accesslogv3.NewAccessLogServiceClient(conn).StreamAccessLogs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		uuid := k.uuid()
		s, err := extprocv3.NewExternalProcessorClient(conn).Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exchange(t, s, &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(plainHeaders(uuid, "x-api-key", appKey))},
		}})
		word := strings.Repeat("word-"+itoa(n)+" ", 5000)
		body := strings.Replace(hello, "Hello", word, 1)
		r := exchange(t, s, &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
			RequestBody: &extprocv3.HttpBody{Body: []byte(body), EndOfStream: true},
		}})
		sent := string(r.GetRequestBody().GetResponse().GetBodyMutation().GetBody())
		if len(planOf(r)) == 0 || !strings.Contains(sent, word) {
			t.Fatalf("request %d goes out with %.200s", n, sent)
		}
		// The first attempt fails, as the log says, and the second answers.
		if err := log.Send(&accesslogv3.StreamAccessLogsMessage{LogEntries: &accesslogv3.StreamAccessLogsMessage_HttpLogs{
			HttpLogs: &accesslogv3.StreamAccessLogsMessage_HTTPAccessLogEntries{LogEntry: []*datav3.HTTPAccessLogEntry{{
				Request: &datav3.HTTPRequestProperties{RequestId: uuid}, CommonProperties: &datav3.AccessLogCommon{ResponseFlags: &datav3.ResponseFlags{UpstreamConnectionFailure: true}},
			}}},
		}}); err != nil {
			t.Fatal(err)
		}
		k.knows(uuid, 1)
		if err := s.Send(&extprocv3.ProcessingRequest{
			Request:    &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap([]string{":status", "200", "content-type", "application/json"})}},
			Attributes: attributes(t, map[string]any{"upstream.request_attempt_count": 2, "response.code_details": "via_upstream"}),
		}); err != nil {
			t.Fatal(err)
		}
		reply := strings.Replace(goodReply, "there", word, 1)
		r = exchange(t, s, &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{
			ResponseBody: &extprocv3.HttpBody{Body: []byte(reply), EndOfStream: true},
		}})
		if r.GetResponseHeaders() == nil {
			t.Fatalf("the headers are answered with %v", r)
		}
		if r, err = s.Recv(); err != nil || string(r.GetResponseBody().GetResponse().GetBodyMutation().GetBody()) != strings.Replace(reply, `"up"`, `"fast"`, 1) {
			t.Fatalf("the caller gets %v, %v", r, err)
		}
		if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Fatalf("the stream ends with %v", err)
		}
		if ev := k.event(uuid); ev.Number != 2 || ev.Outcome != journal.Success {
			t.Errorf("event %+v", ev)
		}
	}
	if _, err := log.CloseAndRecv(); err != nil {
		t.Errorf("the log's stream ends with %v", err)
	}
	k.settled()
}

// knows waits until the first attempts of a request are accounted for.
func (k *kit) knows(uuid string, attempts int) {
	k.server.live.find(id.RequestFromUUID(uuid)).AwaitFailures(context.Background(), attempts)
}

func TestEndsInvalidStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for name, b := range map[string][]byte{"garbage": []byte("\xff\xff\xff"), "a body first": func() []byte {
		return []byte{4<<3 | 2, 2, 2 << 3, 1} // request_body: end_of_stream
	}()} {
		e := k.open(t)
		e.stream.in <- b
		if err := <-e.done; err == nil {
			t.Errorf("%s: the stream goes on", name)
		}
		e.ended = true
		e.cancel()
	}
	e := k.open(t)
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{
		ResponseHeaders: &extprocv3.HttpHeaders{Headers: &corev3.HeaderMap{}},
	}})
	if r := e.next(); r.GetResponseHeaders() == nil {
		t.Errorf("an answer of Envoy's own is answered with %v", r)
	}
	e.close()
	k.settled()
}

// When usage cannot be recorded the caller does not get the end of the answer.
func TestWithholdsWhatItCannotRecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	whole := k.open(t)
	taken(t, whole, hello)
	stream := k.open(t)
	taken(t, stream, streaming())
	late := k.open(t)
	taken(t, late, streaming())
	stream.head(streamAnswer())
	stream.begun(streamAnswer())
	stream.piece(text("Hi"))
	stream.out("")
	k.stop()

	rejectedWith(t, whole, whole.answer(jsonAnswer(goodReply)), 503, "storage_unavailable")
	stream.piece(stop() + done)
	if err := <-stream.done; err == nil || len(stream.stream.out) != 0 {
		t.Errorf("the end of the stream is answered with %d messages and %v", len(stream.stream.out), err)
	}
	stream.ended = true
	stream.cancel()
	late.head(failedWith(500, "x", "x"))
	late.piece("{}", last)
	rejectedWith(t, late, late.begun(came{}), 503, "storage_unavailable")
	late.close()
	next := k.open(t)
	rejectedWith(t, next, next.ask(hello).refused, 503, "storage_unavailable")
	next.close()
	k.settled()
}
