package extproc

import (
	"strconv"
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// inPieces begins a request whose body comes in pieces. Its headers are not answered yet.
func inPieces(t *testing.T, k *kit, headers ...string) *envoy {
	t.Helper()
	e := k.openAs(t, k.uuid(), contract.RolePieces)
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
		RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(plainHeaders(e.uuid, append(headers, "authorization", "Bearer "+appKey)...))},
	}})
	return e
}

// sends adds a piece to a request's body.
func (e *envoy) sends(piece string, last bool) {
	e.tb.Helper()
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{
		RequestBody: &extprocv3.HttpBody{Body: []byte(piece), EndOfStream: last},
	}})
}

// goesOut reads the answers to a complete body.
func (e *envoy) goesOut() outgoing {
	e.tb.Helper()
	r := e.next()
	if im := r.GetImmediateResponse(); im != nil {
		return outgoing{refused: immediate(im)}
	}
	common := r.GetRequestHeaders().GetResponse()
	if common == nil || common.GetBodyMutation() != nil || !common.GetClearRouteCache() {
		e.tb.Fatalf("the headers were answered with %v", r)
	}
	out := outgoing{headers: headers{}, plan: planOf(r)}
	out.headers.mutate(common.GetHeaderMutation())
	var body strings.Builder
	for end := false; !end; {
		piece := e.next().GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse()
		if len(piece.GetBody()) == 0 || len(piece.GetBody()) > pieceSize {
			e.tb.Fatalf("a piece has %d bytes", len(piece.GetBody()))
		}
		body.Write(piece.GetBody())
		end = piece.GetEndOfStream()
	}
	out.body = body.String()
	return out
}

// A body in pieces goes out like the same body received whole, with its length.
func TestABodyInPieces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a word ", 50_000)
	for _, test := range []struct {
		name, body string
		declared   bool
	}{
		{"declared", `{"model":"fast","messages":[{"role":"user","content":"` + text + `"}],"stream":true}`, true},
		{"undeclared", `{"messages":[{"role":"user","content":"` + text + `"}],"model":"fast"}`, false},
		{"one piece", hello, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, one())
			want := k.open(t).ask(test.body, "content-length", itoa(len(test.body)))
			var headers []string
			if test.declared {
				headers = []string{"content-length", itoa(len(test.body))}
			}
			e := inPieces(t, k, headers...)
			rest := test.body
			for len(rest) > 10_000 {
				e.sends(rest[:10_000], false)
				rest = rest[10_000:]
			}
			e.sends(rest, test.declared)
			if !test.declared {
				e.sends("", true)
			}
			got := e.goesOut()
			if got.refused != nil || got.body != want.body {
				t.Fatalf("%d bytes leave, want %d; rejected: %v", len(got.body), len(want.body), got.refused)
			}
			if n, _ := strconv.Atoi(got.headers["content-length"]); n != len(want.body) {
				t.Errorf("content-length %d, want %d", n, len(want.body))
			}
			e.sends("again", true) // Envoy may repeat the last piece
			e.answer(jsonAnswer(goodReply))
		})
	}
}

// A body of undeclared length counts as it comes.
func TestCountsUndeclaredBodies(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), room)
	e := inPieces(t, k)
	e.sends(strings.Repeat("x", 600), false)
	k.holds(600)
	e.silent()
	other := inPieces(t, k)
	other.sends(strings.Repeat("x", 500), false)
	rejectedWith(t, other, other.goesOut().refused, 429, "request_bytes_exceeded")
	other.sends("x", true) // was on its way
	other.leave()
	e.sends(strings.Repeat("x", 401), false)
	rejectedWith(t, e, e.goesOut().refused, 413, "request_too_large")
	e.leave()
	if n := k.bytes.Held(); n != 0 {
		t.Errorf("%d bytes are in flight when nothing is", n)
	}
}

// If a caller disconnects before its body is complete, or ends it with trailers, every
// reservation is released.
func TestAnIncompleteBody(t *testing.T) {
	t.Parallel()
	limits := budget(money.USD)
	limits.RPM, limits.MaxParallel = new(uint32(1)), new(uint32(1))
	k := newKit(t, one(), room, bounded(limits), limiter, newBank(t, 0).use)
	for i := range 4 {
		e := inPieces(t, k, "content-length", "900")
		e.sends("{", false)
		k.holds(900)
		e.silent()
		if i%2 == 0 {
			e.leave()
		} else {
			e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestTrailers{RequestTrailers: &extprocv3.HttpTrailers{}}})
			rejectedWith(t, e, e.goesOut().refused, 400, "invalid_request")
			e.leave()
		}
		if n := k.bytes.Held(); n != 0 {
			t.Errorf("%d bytes are in flight when nothing is", n)
		}
	}
}

// Large bodies take turns. Others do not wait for them.
func TestLargeBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), func(k *kit, d *pipeline.Deps) { d.Bytes = inflight.New(512 << 20); k.bytes = d.Bytes })
	for range cap(k.server.uploads.turns) {
		k.server.uploads.turns <- struct{}{}
	}
	large := `{"model":"fast","messages":[{"role":"user","content":"` + strings.Repeat("a word ", largeBody/7) + `"}]}`
	e, leaves := inPieces(t, k), inPieces(t, k)
	e.sends(large, true)
	leaves.sends(large, true)
	e.silent()
	taken(t, k.open(t), hello)
	other := inPieces(t, k)
	other.sends(hello, true)
	if got := other.goesOut(); got.refused != nil {
		t.Errorf("a small body is rejected: %v", got.refused)
	}
	leaves.leave()
	<-k.server.uploads.turns
	if got := e.goesOut(); got.refused != nil || len(got.body) < len(large)-100 {
		t.Errorf("%d bytes leave; rejected: %v", len(got.body), got.refused)
	}
}

// A request that was rejected on its headers stays rejected, even if its whole body was in
// transit.
func TestARejectedBodyInPieces(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), room, bounded(budget(0)), limiter, newBank(t, 0).use)
	e := inPieces(t, k)
	e.sends(hello[:10], false)
	e.sends(hello[10:], true)
	rejectedWith(t, e, e.goesOut().refused, 429, "budget_exceeded")
	e.silent()
	e.leave()
	if got := k.events(e.uuid); len(got) != 0 {
		t.Errorf("a rejected request is on record with %v", got)
	}
	if n := k.bytes.Held(); n != 0 {
		t.Errorf("%d bytes are in flight when nothing is", n)
	}
}
