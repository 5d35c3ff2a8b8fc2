package extproc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
)

// stream is one ext_proc stream, as the server sees it. Its buffers are
// overwritten when the server gives them back, and what the server has sent
// must never change afterwards.
type stream struct {
	grpc.ServerStream                 // nil: nothing else of it is used
	ctx               context.Context //nolint:containedctx // grpc.ServerStream gives it out
	in                chan []byte
	out               chan *extprocv3.ProcessingResponse
	sent              []sent
	refuse            atomic.Bool // sending fails, as on a stream that was reset
}

type sent struct{ was, is []byte }

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) RecvMsg(m any) error {
	if s.ctx.Err() != nil {
		return status.FromContextError(s.ctx.Err()).Err()
	}
	select {
	case <-s.ctx.Done():
		return status.FromContextError(s.ctx.Err()).Err()
	case b, ok := <-s.in:
		if !ok {
			return io.EOF
		}
		// Above gRPC's threshold, or the buffer would not be given back.
		data := append(make([]byte, 0, max(len(b), 64<<10)), b...)
		buffer := mem.NewBuffer(&data, scribbler{})
		err := frame.Codec{}.Unmarshal(mem.BufferSlice{buffer}, m)
		buffer.Free() // gRPC's own reference
		return err
	}
}

func (s *stream) SendMsg(m any) error {
	if s.refuse.Load() {
		return status.FromContextError(context.Canceled).Err()
	}
	if s.ctx.Err() != nil {
		return status.FromContextError(s.ctx.Err()).Err()
	}
	f, ok := m.(*frame.Frame)
	if !ok {
		return errors.New("not a frame")
	}
	for _, part := range f.Out {
		s.sent = append(s.sent, sent{bytes.Clone(part), part})
	}
	data, err := frame.Codec{}.Marshal(f)
	if err != nil {
		return err
	}
	defer data.Free()
	var r extprocv3.ProcessingResponse
	if err := proto.Unmarshal(data.Materialize(), &r); err != nil {
		return err
	}
	s.out <- &r
	return nil
}

// scribbler is a pool that spoils what it gets back.
type scribbler struct{}

func (scribbler) Get(n int) *[]byte { b := make([]byte, n); return &b }

func (scribbler) Put(b *[]byte) {
	for i := range *b {
		(*b)[i] = '#'
	}
}

// envoy plays Envoy's part on one stream.
type envoy struct {
	tb     testing.TB
	kit    *kit
	uuid   string
	stream *stream
	cancel context.CancelFunc
	done   chan error
	ended  bool
	tap    tap
}

// open begins a stream of the downstream filter.
func (k *kit) open(tb testing.TB) *envoy {
	tb.Helper()
	return k.openAs(tb, k.uuid(), "")
}

// openAs begins a stream of the filter with that role.
func (k *kit) openAs(tb testing.TB, uuid, role string) *envoy {
	tb.Helper()
	ctx := context.Background()
	if role != "" {
		ctx = metadata.NewIncomingContext(ctx, metadata.Pairs(contract.RoleKey, role))
	}
	ctx, cancel := context.WithCancel(ctx)
	e := &envoy{
		tb: tb, kit: k, uuid: uuid, cancel: cancel, done: make(chan error, 1),
		stream: &stream{ctx: ctx, in: make(chan []byte, 4096), out: make(chan *extprocv3.ProcessingResponse, 4096)},
	}
	go func() { e.done <- k.server.process(e.stream) }()
	tb.Cleanup(e.leave)
	return e
}

// leave resets the stream, as Envoy does when the caller has left.
func (e *envoy) leave() {
	e.tb.Helper()
	e.cancel()
	e.wait()
}

// quit is leave while the first attempt is under way: Envoy logs that.
func (e *envoy) quit() {
	e.tb.Helper()
	e.kit.attempt(e.uuid, 1, 0, left())
	e.leave()
}

// close ends the stream, as Envoy does after the last byte of the answer.
func (e *envoy) close() {
	e.tb.Helper()
	if !e.ended {
		close(e.stream.in)
	}
	e.wait()
	e.cancel()
}

// wait waits for the server to have done with the stream.
func (e *envoy) wait() {
	e.tb.Helper()
	if e.ended {
		return
	}
	e.ended = true
	select {
	case err := <-e.done:
		if err != nil {
			e.tb.Errorf("the stream ended with %v", err)
		}
	case <-time.After(patience):
		e.tb.Fatal("the server does not end the stream")
	}
	e.tap.judge(e.tb)
	for _, s := range e.stream.sent {
		if !bytes.Equal(s.was, s.is) {
			e.tb.Error("a message was changed after it was sent")
		}
	}
}

func (e *envoy) send(m *extprocv3.ProcessingRequest) {
	e.tb.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		e.tb.Fatal(err)
	}
	e.tap.in(m)
	e.stream.in <- b
}

// next is the server's next message.
func (e *envoy) next() *extprocv3.ProcessingResponse {
	e.tb.Helper()
	r := e.received()
	e.tap.out(r)
	return r
}

// received waits for the server's next message.
func (e *envoy) received() *extprocv3.ProcessingResponse {
	e.tb.Helper()
	select {
	case r := <-e.stream.out:
		return r
	case err := <-e.done:
		e.done <- err
		select {
		case r := <-e.stream.out:
			return r
		default:
		}
		e.tb.Fatalf("the server ended the stream instead of answering: %v", err)
	case <-time.After(patience):
		e.tb.Fatal("the server does not answer")
	}
	return nil
}

// silent checks that the server has not answered, although it has had the time.
func (e *envoy) silent() {
	e.tb.Helper()
	select {
	case r := <-e.stream.out:
		e.tb.Fatalf("the server answered %v", r)
	case <-time.After(30 * time.Millisecond):
	}
}

// headers are a message's, by their names. The last of a name counts.
type headers map[string]string

func headerMap(pairs []string) *corev3.HeaderMap {
	m := &corev3.HeaderMap{}
	for i := 0; i < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &corev3.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return m
}

func (h headers) add(pairs []string) headers {
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = pairs[i+1]
	}
	return h
}

func (h headers) mutate(m *extprocv3.HeaderMutation) {
	for _, name := range m.GetRemoveHeaders() {
		delete(h, name)
	}
	set := map[string]bool{}
	for _, o := range m.GetSetHeaders() {
		name := o.GetHeader().GetKey()
		if h[name] = string(o.GetHeader().GetRawValue()); set[name] {
			h[setTwice] += name + " "
		}
		set[name] = true
	}
}

// setTwice is in the place of a name, with the names that one message sets more than once.
const setTwice = "set twice"

// answer is what the caller gets: an answer of the gateway's own, or the provider's
// as the gateway has changed it.
type answer struct {
	immediate bool
	status    int
	headers   headers
	body      string
}

func immediate(im *extprocv3.ImmediateResponse) *answer {
	a := &answer{immediate: true, status: int(im.GetStatus().GetCode()), headers: headers{}, body: string(im.GetBody())}
	a.headers.mutate(im.GetHeaders())
	return a
}

// outgoing is a request as it leaves for a provider, or the refusal in its place.
type outgoing struct {
	refused  *answer
	plan     []string
	headers  headers
	body     string
	replaced bool // the body is another than the caller's
}

// caller's headers of a plain request.
func plainHeaders(uuid string, more ...string) []string {
	return append([]string{
		":path", "/v1/chat/completions", ":method", "POST", "x-request-id", uuid,
		"content-type", "application/json",
	}, more...)
}

// ask sends a request with a key.
func (e *envoy) ask(body string, more ...string) outgoing {
	e.tb.Helper()
	return e.request(plainHeaders(e.uuid, append([]string{"authorization", "Bearer " + appKey}, more...)...), body)
}

// requestHeaders sends a request's headers and returns the refusal, if it is one.
func (e *envoy) requestHeaders(list []string) *answer {
	e.tb.Helper()
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
		RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(list)},
	}})
	r := e.next()
	if im := r.GetImmediateResponse(); im != nil {
		return immediate(im)
	}
	if r.GetRequestHeaders() == nil {
		e.tb.Fatalf("the request's headers were answered with %v", r)
	}
	return nil
}

// requestBody sends a request's body.
func (e *envoy) requestBody(body string) {
	e.tb.Helper()
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
		RequestBody: &extprocv3.HttpBody{Body: []byte(body), EndOfStream: true},
	}})
}

// request sends a request's headers and its body.
func (e *envoy) request(list []string, body string) outgoing {
	e.tb.Helper()
	if refused := e.requestHeaders(list); refused != nil {
		return outgoing{refused: refused}
	}
	e.requestBody(body)
	r := e.next()
	if im := r.GetImmediateResponse(); im != nil {
		return outgoing{refused: immediate(im)}
	}
	common := r.GetRequestBody().GetResponse()
	if common == nil {
		e.tb.Fatalf("the request's body was answered with %v", r)
	}
	if !common.GetClearRouteCache() {
		e.tb.Error("the route is not chosen again, so the plan has no effect")
	}
	out := outgoing{headers: headers{}.add(list), body: body, plan: planOf(r)}
	out.headers.mutate(common.GetHeaderMutation())
	if common.GetBodyMutation() != nil {
		out.replaced, out.body = true, string(common.GetBodyMutation().GetBody())
	}
	return out
}

func planOf(r *extprocv3.ProcessingResponse) []string {
	var out []string
	plan := r.GetDynamicMetadata().GetFields()[contract.MetadataPlan].GetStructValue().GetFields()
	for _, g := range plan[contract.MetadataPlanGroups].GetListValue().GetValues() {
		for _, c := range g.GetStructValue().GetFields()["clusters"].GetListValue().GetValues() {
			out = append(out, c.GetStructValue().GetFields()["cluster_name"].GetStringValue())
		}
	}
	return out
}

// came is a provider's answer, or one of Envoy's own.
type came struct {
	status   int
	attempt  int    // which attempt it is of; 0 means the first
	details  string // Envoy's reason; empty means that it is the provider's
	headers  []string
	pieces   []string
	headOnly bool // the headers are all
}

// jsonAnswer is a provider's good answer.
func jsonAnswer(pieces ...string) came {
	return came{status: 200, headers: []string{"content-type", "application/json"}, pieces: pieces}
}

// streamAnswer is the beginning of a provider's event stream.
func streamAnswer() came {
	return came{status: 200, headers: []string{"content-type", "text/event-stream"}}
}

// head sends an answer's headers.
func (e *envoy) head(c came) {
	e.tb.Helper()
	if c.details == "" {
		c.details = "via_upstream"
	}
	list := append([]string{":status", strconv.Itoa(c.status)}, c.headers...)
	e.send(&extprocv3.ProcessingRequest{
		Request: &extprocv3.ProcessingRequest_ResponseHeaders{
			ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap(list), EndOfStream: c.headOnly},
		},
		Attributes: attributes(e.tb, map[string]any{
			contract.AttrAttempt: max(c.attempt, 1), contract.AttrCodeDetails: c.details,
		}),
	})
}

func attributes(tb testing.TB, list map[string]any) map[string]*structpb.Struct {
	tb.Helper()
	s, err := structpb.NewStruct(list)
	if err != nil {
		tb.Fatal(err)
	}
	return map[string]*structpb.Struct{contract.FilterProcessor: s}
}

// piece sends a part of an answer's body.
func (e *envoy) piece(b string, end ...string) {
	e.tb.Helper()
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{
		ResponseBody: &extprocv3.HttpBody{Body: []byte(b), EndOfStream: len(end) > 0},
	}})
}

// last marks a piece as the end of the body.
const last = "end"

// begun takes the answer to the headers of an answer.
func (e *envoy) begun(c came) *answer {
	e.tb.Helper()
	r := e.next()
	if im := r.GetImmediateResponse(); im != nil {
		return immediate(im)
	}
	if r.GetResponseHeaders() == nil {
		e.tb.Fatalf("the answer's headers were answered with %v", r)
	}
	a := &answer{status: c.status, headers: headers{}.add(c.headers)}
	a.headers.mutate(r.GetResponseHeaders().GetResponse().GetHeaderMutation())
	if s, ok := a.headers[":status"]; ok {
		a.status, _ = strconv.Atoi(s)
	}
	return a
}

// out is what goes to the caller in the place of a piece.
func (e *envoy) out(was string) string {
	e.tb.Helper()
	r := e.next()
	if r.GetResponseBody() == nil {
		e.tb.Fatalf("a piece of the answer was answered with %v", r)
	}
	m := r.GetResponseBody().GetResponse().GetBodyMutation()
	switch {
	case m == nil:
		return was
	case m.GetClearBody():
		return ""
	}
	return string(m.GetBody())
}

// answer sends a whole answer and returns what the caller gets. Envoy does not
// wait for an answer to the headers before it sends the body.
func (e *envoy) answer(c came) *answer {
	e.tb.Helper()
	c.headOnly = c.headOnly || len(c.pieces) == 0
	e.head(c)
	for i, p := range c.pieces {
		if i == len(c.pieces)-1 {
			e.piece(p, last)
		} else {
			e.piece(p)
		}
	}
	a := e.begun(c)
	if !a.immediate {
		var body strings.Builder
		for _, p := range c.pieces {
			body.WriteString(e.out(p))
		}
		a.body = body.String()
	}
	e.close()
	return a
}

func itoa(n int) string { return strconv.Itoa(n) }
