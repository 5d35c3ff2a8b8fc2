package frame

import (
	"bytes"
	"fmt"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/message"
)

func headerMap(pairs ...string) *corev3.HeaderMap {
	m := &corev3.HeaderMap{}
	for i := 0; i < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &corev3.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return m
}

func mustStruct(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseReadsWhatEnvoySends(t *testing.T) {
	attributes := map[string]*structpb.Struct{"envoy.filters.http.ext_proc": mustStruct(t, map[string]any{
		"request.id": "abc", "upstream.request_attempt_count": 3,
	})}
	for name, c := range map[string]struct {
		in   *extprocv3.ProcessingRequest
		kind Kind
		end  bool
		body string
	}{
		"request headers": {&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap("a", "1", "b", ""), EndOfStream: true}}, Attributes: attributes}, RequestHeaders, true, ""},
		"request body":    {&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{RequestBody: &extprocv3.HttpBody{Body: []byte("xyz"), EndOfStream: true}}, Attributes: attributes, MetadataContext: &corev3.Metadata{}}, RequestBody, true, "xyz"},
		"answer headers":  {&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap("a", "1", "b", "")}}, Attributes: attributes}, ResponseHeaders, false, ""},
		"answer body":     {&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{ResponseBody: &extprocv3.HttpBody{Body: []byte("part")}}, Attributes: attributes, ObservabilityMode: true}, ResponseBody, false, "part"},
		"trailers":        {&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseTrailers{ResponseTrailers: &extprocv3.HttpTrailers{}}, Attributes: attributes}, ResponseTrailers, true, ""},
	} {
		b, err := proto.Marshal(c.in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(b)
		if err != nil || m.Kind != c.kind || m.End != c.end || string(m.Body) != c.body {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
		var id string
		var attempt float64
		m.Attributes(func(name []byte, v Attribute) bool {
			switch string(name) {
			case "request.id":
				id = string(v.Text)
			case "upstream.request_attempt_count":
				attempt = v.Number
			}
			return true
		})
		if id != "abc" || attempt != 3 {
			t.Errorf("%s: attributes %q, %v", name, id, attempt)
		}
		var headers []string
		m.Headers(func(n, v []byte) bool {
			headers = append(headers, string(n)+"="+string(v))
			return true
		})
		if want := "[a=1 b=]"; (c.kind == RequestHeaders || c.kind == ResponseHeaders) && fmt.Sprint(headers) != want {
			t.Errorf("%s: headers %v", name, headers)
		}
	}
}

func TestAnswersDecodeAsTheGeneratedTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Mutation
		for range rapid.IntRange(0, 4).Draw(t, "set") {
			m.Set = append(m.Set, message.Header{Name: rapid.StringMatching(`[a-z-]{1,40}`).Draw(t, "name"), Value: rapid.StringN(0, 200, -1).Draw(t, "value")})
		}
		m.Remove = rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 0, 3).Draw(t, "remove")
		m.Replace = rapid.Bool().Draw(t, "replace")
		if m.Replace {
			m.Body = rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		}
		m.Continue = rapid.Bool().Draw(t, "continue")
		m.ClearRoute = rapid.Bool().Draw(t, "clear")
		kind := rapid.SampledFrom([]Kind{RequestHeaders, RequestBody, ResponseHeaders, ResponseBody}).Draw(t, "kind")
		var groups []Group
		for range rapid.IntRange(0, 30).Draw(t, "groups") {
			groups = append(groups, Group{rapid.StringMatching(`[a-z0-9_~.]{1,150}`).Draw(t, "cluster")})
		}

		var dst []byte
		if len(groups) > 0 {
			dst = AppendPlan(nil, "gateway.plan", "priority_groups", groups)
		}
		head, tail := AppendAnswer(dst, kind, &m)
		var got extprocv3.ProcessingResponse
		if err := proto.Unmarshal(append(head, tail...), &got); err != nil {
			t.Fatal(err)
		}
		if want := expected(kind, &m, groups); !proto.Equal(&got, want) {
			t.Fatalf("got  %v\nwant %v", &got, want)
		}
	})
}

func expected(kind Kind, m *Mutation, groups []Group) *extprocv3.ProcessingResponse {
	common := &extprocv3.CommonResponse{ClearRouteCache: m.ClearRoute}
	if m.Continue {
		common.Status = extprocv3.CommonResponse_CONTINUE_AND_REPLACE
	}
	if len(m.Set)+len(m.Remove) > 0 {
		common.HeaderMutation = &extprocv3.HeaderMutation{RemoveHeaders: m.Remove}
		for _, h := range m.Set {
			common.HeaderMutation.SetHeaders = append(common.HeaderMutation.SetHeaders, &corev3.HeaderValueOption{
				Header:       &corev3.HeaderValue{Key: h.Name, RawValue: []byte(h.Value)},
				AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
			})
		}
	}
	switch {
	case m.Replace && len(m.Body) == 0:
		common.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_ClearBody{ClearBody: true}}
	case m.Replace:
		common.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: m.Body}}
	}
	out := &extprocv3.ProcessingResponse{}
	switch kind { //nolint:exhaustive // the test draws only four of them
	case RequestHeaders:
		out.Response = &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{Response: common}}
	case RequestBody:
		out.Response = &extprocv3.ProcessingResponse_RequestBody{RequestBody: &extprocv3.BodyResponse{Response: common}}
	case ResponseHeaders:
		out.Response = &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{Response: common}}
	default:
		out.Response = &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: &extprocv3.BodyResponse{Response: common}}
	}
	if len(groups) == 0 {
		return out
	}
	var list []any
	for i, g := range groups {
		list = append(list, map[string]any{"name": groupName(i), "clusters": []any{map[string]any{"cluster_name": g.Cluster, "weight": 1}}})
	}
	out.DynamicMetadata, _ = structpb.NewStruct(map[string]any{"gateway.plan": map[string]any{"priority_groups": list}})
	return out
}

func TestMetadata(t *testing.T) {
	var got extprocv3.ProcessingResponse
	if err := proto.Unmarshal(AppendPass(AppendMetadata(nil, "gateway.request", "content-length", "12345"), RequestHeaders), &got); err != nil {
		t.Fatal(err)
	}
	if want := mustStruct(t, map[string]any{"gateway.request": map[string]any{"content-length": "12345"}}); !proto.Equal(got.GetDynamicMetadata(), want) {
		t.Errorf("got %v", got.GetDynamicMetadata())
	}
}

func TestImmediateAndPass(t *testing.T) {
	var got extprocv3.ProcessingResponse
	b := AppendImmediate(nil, &message.Response{Status: 503, Set: []message.Header{{Name: "retry-after", Value: "1"}}, Body: []byte(`{"error":{}}`), Reason: "guardrail_blocked"})
	if err := proto.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
		Details: "guardrail_blocked",
		Status:  &typev3.HttpStatus{Code: typev3.StatusCode_ServiceUnavailable}, Body: []byte(`{"error":{}}`),
		Headers: &extprocv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{{
			Header: &corev3.HeaderValue{Key: "retry-after", RawValue: []byte("1")}, AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
		}}},
	}}}
	if !proto.Equal(&got, want) {
		t.Errorf("got %v", &got)
	}
	if err := proto.Unmarshal(AppendPass(nil, ResponseBody), &got); err != nil || got.GetResponseBody() == nil {
		t.Errorf("pass: %v, %v", &got, err)
	}
}

func FuzzParse(f *testing.F) {
	b, _ := proto.Marshal(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: headerMap("a", "b")}}})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		m.Headers(func(n, v []byte) bool { return len(n) < 1<<20 && len(v) < 1<<20 })
		m.Attributes(func(n []byte, _ Attribute) bool { return !bytes.Equal(n, []byte("stop")) })
	})
}

func TestAPiece(t *testing.T) {
	for _, length := range []int{0, 1, 127, 128, 64 << 10} {
		for i, appends := range []func([]byte, int) []byte{AppendPiece, AppendLastPiece} {
			piece := bytes.Repeat([]byte("p"), length)
			var r extprocv3.ProcessingResponse
			if err := proto.Unmarshal(append(appends(nil, length), piece...), &r); err != nil {
				t.Fatal(err)
			}
			want := &extprocv3.StreamedBodyResponse{Body: piece, EndOfStream: i == 1}
			if got := r.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse(); !proto.Equal(got, want) {
				t.Errorf("%d bytes, last %t: %v", length, i == 1, got)
			}
		}
	}
}

// A message with a piece of a body comes in several buffers. The copy of one message is valid
// until Free, and another one may use its buffer then.
func TestPieces(t *testing.T) {
	t.Parallel()
	codec := Codec{Pieces: NewPieces()}
	for _, length := range []int{1 << 10, 32 << 10, 64<<10 + 50, 200 << 10} {
		for round := range byte(3) {
			want := bytes.Repeat([]byte{'a' + round}, length)
			half := length / 2
			var first, second Frame
			for _, f := range []*Frame{&first, &second} {
				if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(want[:half]), mem.SliceBuffer(want[half:])}, f); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(first.Bytes(), want) || !bytes.Equal(second.Bytes(), want) {
				t.Errorf("%d bytes do not arrive as they were sent", length)
			}
			first.Free()
			if !bytes.Equal(second.Bytes(), want) {
				t.Errorf("of %d bytes some changed when another message was freed", length)
			}
			second.Free()
		}
	}
}
