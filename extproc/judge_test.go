package extproc

import (
	"strconv"
	"sync"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
)

// judge says whether requests and responses in OpenAI's languages are valid.
var judge = sync.OnceValue(openaitest.New)

// said is a request or a response, as far as it was sent.
type said struct {
	headers headers
	body    []byte
	whole   bool // nothing of it is missing
}

func (s *said) path() string  { return s.headers[":path"] }
func (s *said) media() string { return s.headers["content-type"] }

// status is that of a response; 0 if there is none.
func (s *said) status() int {
	n, _ := strconv.Atoi(s.headers[":status"])
	return n
}

func (s *said) reply() openaitest.Reply {
	return openaitest.Reply{Status: s.status(), Media: s.media(), Body: s.body}
}

// tap listens to a stream of ext_proc, so that each test has OpenAI's document as a judge: of what
// callers of OpenAI's get, and of what providers of OpenAI's languages are sent.
type tap struct {
	asked, sent said     // by the caller, and to its provider
	came, got   said     // from the provider, and by the caller
	pieces      [][]byte // of came, those without an answer
}

// in takes a message of Envoy.
func (t *tap) in(m *extprocv3.ProcessingRequest) {
	switch r := m.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		t.asked.headers, t.sent.headers = headers{}, headers{}
		for _, h := range r.RequestHeaders.GetHeaders().GetHeaders() {
			t.asked.headers[h.GetKey()] = string(h.GetRawValue())
			t.sent.headers[h.GetKey()] = string(h.GetRawValue())
		}
	case *extprocv3.ProcessingRequest_RequestBody:
		t.asked.body = append(t.asked.body, r.RequestBody.GetBody()...)
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		t.came.headers, t.got.headers = headers{}, headers{}
		for _, h := range r.ResponseHeaders.GetHeaders().GetHeaders() {
			t.came.headers[h.GetKey()] = string(h.GetRawValue())
			t.got.headers[h.GetKey()] = string(h.GetRawValue())
		}
	case *extprocv3.ProcessingRequest_ResponseBody:
		piece := r.ResponseBody.GetBody()
		t.came.body, t.pieces = append(t.came.body, piece...), append(t.pieces, piece)
		t.came.whole = r.ResponseBody.GetEndOfStream()
	}
}

// out takes a message of the server.
func (t *tap) out(m *extprocv3.ProcessingResponse) {
	switch r := m.GetResponse().(type) {
	case *extprocv3.ProcessingResponse_ImmediateResponse:
		t.got = said{headers: headers{":status": strconv.Itoa(int(r.ImmediateResponse.GetStatus().GetCode()))}, body: r.ImmediateResponse.GetBody(), whole: true}
		t.got.headers.mutate(r.ImmediateResponse.GetHeaders())
		t.sent = said{}
	case *extprocv3.ProcessingResponse_RequestHeaders:
		t.request(r.RequestHeaders.GetResponse())
	case *extprocv3.ProcessingResponse_RequestBody:
		t.request(r.RequestBody.GetResponse())
	case *extprocv3.ProcessingResponse_ResponseHeaders:
		t.got.headers.mutate(r.ResponseHeaders.GetResponse().GetHeaderMutation())
	case *extprocv3.ProcessingResponse_ResponseBody:
		if len(t.pieces) == 0 {
			return
		}
		piece := t.pieces[0]
		t.pieces = t.pieces[1:]
		if m := r.ResponseBody.GetResponse().GetBodyMutation(); m != nil {
			piece = m.GetBody() // nothing, if the body is cleared
		}
		t.got.body = append(t.got.body, piece...)
		t.got.whole = t.came.whole && len(t.pieces) == 0
	}
}

// request takes what changes a request.
func (t *tap) request(c *extprocv3.CommonResponse) {
	if c == nil || t.sent.headers == nil {
		return
	}
	t.sent.headers.mutate(c.GetHeaderMutation())
	t.sent.body = t.asked.body
	if c.GetBodyMutation() != nil {
		t.sent.body = c.GetBodyMutation().GetBody()
	}
}

// judge fails the test if the gateway has said what OpenAI's document does not allow, to the caller or to
// a provider. What the caller or the provider has done wrong in its own language is passed on.
func (t *tap) judge(tb testing.TB) {
	tb.Helper()
	if _, ok := tb.(*testing.T); !ok {
		return // a benchmark
	}
	same := openaitest.SameOperation(t.asked.path(), t.sent.path())
	if judge().Knows(t.sent.path()) && len(t.sent.body) > 0 {
		var made func() []string
		if same {
			made = func() []string { return judge().Request(t.asked.path(), t.asked.media(), t.asked.body) }
		}
		judge().CheckRequest(tb, t.sent.path(), t.sent.media(), t.sent.body, made)
	}
	streams := t.got.status() < 400 && t.got.media() != "application/json"
	if judge().Knows(t.asked.path()) && len(t.got.body) > 0 && (t.got.whole || streams) {
		var made func() []string
		if same {
			made = func() []string { return judge().Response(t.asked.path(), t.came.reply()) }
		}
		judge().CheckResponse(tb, t.asked.path(), t.got.reply(), made)
	}
}
