package extproc

import (
	"context"
	"io"
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
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

// benchmark measures a chat whose response comes in the given pieces.
func benchmark(b *testing.B, body string, c came) {
	b.Helper()
	benchmarkAt(b, newKit(b, alone(place("solo", "fast", "fast", 0))), "/v1/chat/completions", body, c)
}

// alone is a single deployment.
func alone(at catalog.DeploymentSpec) catalog.Spec {
	return catalog.Spec{Deployments: []catalog.DeploymentSpec{at}, Router: quick(0)}
}

// benchmarkAt is benchmark for a kit and a path.
func benchmarkAt(b *testing.B, k *kit, path, body string, c came) {
	b.Helper()
	message := func(m *extprocv3.ProcessingRequest) []byte {
		raw, err := proto.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		return raw
	}
	messages := [][]byte{
		message(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(append([]string{":path", path}, plainHeaders(k.uuid(), "authorization", "Bearer "+appKey)[2:]...))},
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

// spoken is a stream of 50 pieces of text in Anthropic's language.
func spoken() came {
	c := streamAnswer()
	all := strings.SplitAfter(anthropicStream(), "\n\n")
	c.pieces = all[:3:3] // with memory of its own
	for range 50 {
		c.pieces = append(c.pieces, all[3])
	}
	c.pieces = append(c.pieces, strings.Join(all[5:], ""))
	return c
}

// chunks is a stream of 50 pieces of text in OpenAI's language.
func chunks() came {
	c := streamAnswer()
	for range 50 {
		c.pieces = append(c.pieces, text("Hi"))
	}
	c.pieces = append(c.pieces, stop()+reported()+done)
	return c
}

// generated is a stream of 50 pieces of text in Google's language.
func generated() came {
	c := streamAnswer()
	for range 50 {
		c.pieces = append(c.pieces, geminiEvent(`{"text":"Hi"}`, "", `"promptTokenCount":10,"candidatesTokenCount":4,"totalTokenCount":14`))
	}
	c.pieces = append(c.pieces, geminiEvent(`{"text":"."}`, "STOP", `"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15`), "")
	return c
}

// commanded is a stream of 50 pieces of text in Cohere's language.
func commanded() came {
	c := streamAnswer()
	event := func(kind, rest string) string {
		return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"," + rest + "}\n\n"
	}
	c.pieces = append(c.pieces, event("message-start", `"id":"c","delta":{"message":{"role":"assistant"}}`)+
		event("content-start", `"index":0,"delta":{"message":{"content":{"type":"text","text":""}}}`))
	for range 50 {
		c.pieces = append(c.pieces, event("content-delta", `"index":0,"delta":{"message":{"content":{"text":"Hi"}}}`))
	}
	c.pieces = append(c.pieces, event("content-end", `"index":0`)+
		event("message-end", `"delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":9,"output_tokens":50}}}`))
	return c
}

// BenchmarkLanguages measures the languages of callers in front of providers of the same and of
// another language: streams of 50 pieces, and whole responses.
func BenchmarkLanguages(b *testing.B) {
	compatible := place("compatible", "fast", "fast", 0)
	compatible.Model = "openai_compatible/fast"
	google := place("google", "fast", "fast", 0)
	google.Model, google.APIBase = "gemini/gemini-3-flash", "https://google.example"
	le, command := place("le", "fast", "fast", 0), place("command", "fast", "fast", 0)
	le.Model, command.Model = "mistral/fast", "cohere/fast"
	streamed := func(body string) string { return strings.Replace(body, "{", `{"stream":true,`, 1) }
	for _, c := range []struct {
		name string
		at   catalog.DeploymentSpec
		path string
		body string
		came came
	}{
		{"messages/passed", claude("c", "fast", 0), "/v1/messages", helloMessages, jsonAnswer(strings.Replace(goodMessage, "X", "Hi there.", 1))},
		{"messages/translated", compatible, "/v1/messages", helloMessages, jsonAnswer(goodReply)},
		{"streams/chat/passed", compatible, "/v1/chat/completions", streaming(), chunks()},
		{"streams/messages/passed", claude("c", "fast", 0), "/v1/messages", streamed(helloMessages), spoken()},
		{"streams/messages/translated", compatible, "/v1/messages", streamed(helloMessages), chunks()},
		{"streams/responses/translated", compatible, "/v1/responses", streamed(helloResponses), chunks()},
		{"streams/chat/translated", claude("c", "fast", 0), "/v1/chat/completions", streaming(), spoken()},
		{"streams/chat/mistral", le, "/v1/chat/completions", streaming(), chunks()},
		{"streams/chat/cohere", command, "/v1/chat/completions", streaming(), commanded()},
		{"streams/chat/gemini", google, "/v1/chat/completions", streaming(), generated()},
		{"streams/chat/converse", atBedrock("amazon.nova-pro-v1:0"), "/v1/chat/completions", streaming(), conversed(b, 50)},
		{"streams/chat/bedrock", atBedrock("openai.gpt-oss-120b-1:0"), "/v1/chat/completions", streaming(), chunks()},
		{"streams/messages/bedrock", atBedrock("anthropic.claude-sonnet-4-5-20250929-v1:0"), "/v1/messages", streamed(helloMessages), invoked(b, strings.SplitAfter(strings.Join(spoken().pieces, ""), "\n\n"))},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkAt(b, newKit(b, alone(c.at)), c.path, c.body, c.came) })
	}
}

// BenchmarkGuardrails compares streams of 50 pieces with and without a guardrail for responses, and whole chats with and
// without one for requests.
func BenchmarkGuardrails(b *testing.B) {
	applied := func(k *kit, d *pipeline.Deps) {
		withGuardrails(b, map[string]guardrails.Guardrail{"in": greeting("flag", guardrails.PreCall), "out": greeting("flag", guardrails.PostCall)})(k, d)
		d.Guardrails = guard.NewLibrary(guard.Makers(guard.Outside{}))
	}
	stream := streamAnswer()
	for range 50 {
		stream.pieces = append(stream.pieces, text("Hi all "))
	}
	stream.pieces = append(stream.pieces, stop()+reported()+done)
	for _, c := range []struct {
		name, member string
		came         came
	}{
		{"stream/without", "", stream},
		{"stream/post_call", `"guardrail_id":"out",`, stream},
		{"whole/without", "", jsonAnswer(goodReply)},
		{"whole/pre_call", `"guardrail_id":"in",`, jsonAnswer(goodReply)},
	} {
		body := hello
		if strings.HasPrefix(c.name, "stream") {
			body = streaming()
		}
		b.Run(c.name, func(b *testing.B) {
			benchmarkAt(b, newKit(b, one(), applied), "/v1/chat/completions", strings.Replace(body, "{", "{"+c.member, 1), c.came)
		})
	}
}

// BenchmarkEmbeddings measures a response with one embedding of 1,536 numbers, as numbers and turned to base64.
func BenchmarkEmbeddings(b *testing.B) {
	vector := strings.TrimSuffix(strings.Repeat("-0.0123456,", 1536), ",")
	c := jsonAnswer(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[` + vector + `]}],"model":"up","usage":{"prompt_tokens":3,"total_tokens":3}}`)
	for name, form := range map[string]string{"passed": "float", "converted": "base64"} {
		b.Run(name, func(b *testing.B) {
			benchmarkAt(b, newKit(b, alone(place("solo", "fast", "fast", 0))), "/v1/embeddings", `{"model":"fast","input":"a","encoding_format":"`+form+`"}`, c)
		})
	}
}

func BenchmarkFailure(b *testing.B) { benchmark(b, hello, failedWith(400, "x", "x")) }
