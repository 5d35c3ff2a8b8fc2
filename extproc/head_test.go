package extproc

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/reply"
)

func headMessage(tb testing.TB, attempt float64, details string, list ...string) []byte {
	tb.Helper()
	b, err := proto.Marshal(&extprocv3.ProcessingRequest{
		Request:    &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap(list)}},
		Attributes: attributes(tb, map[string]any{contract.AttrAttempt: attempt, contract.AttrCodeDetails: details}),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestSaysWhoseAnswerItIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		details        string
		local, reached bool
	}{
		{"via_upstream", false, true},
		{"upstream_per_try_timeout", true, true},
		{"response_timeout", true, true},
		{brokeOff, true, true},
		{refused, true, false},
		{connected, true, false},
		{"upstream_reset_before_response_started{local_connection_failure}", true, false},
		{"upstream_reset_before_response_started{overflow}", true, false},
		{"no_healthy_upstream", true, false},
		{"cluster_not_found", true, false},
		{"route_not_found", true, false},
		{"", true, false},
	} {
		m, err := frame.Parse(headMessage(t, 3, test.details, ":status", "503"))
		if err != nil {
			t.Fatal(err)
		}
		h := readHead(&m)
		if h.Local != test.local || h.Reached != test.reached || h.Tries != 3 || h.Status != 503 {
			t.Errorf("%q: %+v, reached %v", test.details, h, h.Reached)
		}
	}
}

// Only listed headers of a provider pass, and what is kept outlives the message.
func FuzzHead(f *testing.F) {
	f.Add(headMessage(f, 1, "via_upstream", ":status", "200", "content-type", "Application/JSON; charset=utf-8", "x-request-id", "r"))
	f.Add(headMessage(f, -1, "x", ":status", "-5", "set-cookie", "a", "retry-after", "1", "X-Odd", "\xff"))
	f.Add(headMessage(f, 1e300, "via_upstream", ":status", "429", "x-ratelimit-limit-requests", "1", "anthropic-ratelimit-x", "2", "", ""))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		m, err := frame.Parse(b)
		if err != nil {
			return
		}
		want := readHead(&m)
		names := make(map[string]bool)
		m.Headers(func(name, _ []byte) bool {
			names[string(name)] = true
			return true
		})
		h := readHead(&m)
		for i := range b {
			b[i] = '#'
		}
		if diff := cmp.Diff(want, h, cmp.AllowUnexported(reply.Head{})); diff != "" {
			t.Errorf("the head has changed with its message (-want +got):\n%s", diff)
		}
		if h.Tries < 0 {
			t.Errorf("%d attempts", h.Tries)
		}
		for name := range names {
			switch name {
			case "content-type", "content-encoding", "content-length", "date", "server":
				continue
			}
			if !strings.HasPrefix(name, ":") && !slices.Contains(h.Remove, name) {
				t.Errorf("the provider's header %q reaches the caller", name)
			}
		}
		for _, p := range h.Passed {
			if !strings.HasPrefix(p.Name, "llm_provider-") {
				t.Errorf("the header %q is passed on by its own name", p.Name)
			}
		}
	})
}
