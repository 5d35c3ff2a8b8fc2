package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/modelgateway/modelgateway/bench/internal/anthropic"
	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

// answer is the response of a server of three chunks without pauses.
func answer(t *testing.T, path, body string) (contentType string, doc []byte) {
	t.Helper()
	s := newServer()
	send := func(path, body string) *fasthttp.RequestCtx {
		var c fasthttp.RequestCtx
		c.Request.Header.SetMethod(fasthttp.MethodPost)
		c.Request.SetRequestURI(path)
		c.Request.SetBodyString(body)
		s.handle(&c)
		if c.Response.StatusCode() != fasthttp.StatusOK {
			t.Fatalf("%s: %d %s", path, c.Response.StatusCode(), c.Response.Body())
		}
		return &c
	}
	send("/_mock/config?latency=0ms&interval=0ms&chunks=3&body=300&dim=4&piece=100", "")
	c := send(path, body)
	return string(c.Response.Header.ContentType()), c.Response.Body()
}

func TestDocuments(t *testing.T) {
	for path, size := range map[string]int{"/v1/chat/completions": 300, "/v1/messages": 300, "/v1/audio/transcriptions": 300, "/v1/embeddings": 0} {
		kind, doc := answer(t, path, `{"model":"m"}`)
		if kind != "application/json" || !json.Valid(doc) || size > 0 && len(doc) != size {
			t.Errorf("%s: %s of %d bytes: %s", path, kind, len(doc), doc)
		}
	}
}

func TestStreams(t *testing.T) {
	const ask = `{"stream":true,"stream_options":{"include_usage":true}}`
	kind, doc := answer(t, "/v1/chat/completions", ask)
	var sc openai.Scanner
	if sc.Feed(doc); kind != "text/event-stream" || sc.Content != 3 || !sc.Done || !bytes.Contains(doc, []byte(`"total_tokens"`)) {
		t.Errorf("%s: %s", kind, doc)
	}
	kind, doc = answer(t, "/v1/messages", ask)
	if kind != "text/event-stream" || bytes.Count(doc, []byte("event: content_block_delta\n")) != 3 ||
		bytes.Count(doc, []byte("event: message_start\n")) != 1 || !bytes.HasSuffix(doc, anthropic.StreamEnd()) {
		t.Errorf("%s: %s", kind, doc)
	}
	if kind, doc = answer(t, "/v1/audio/speech", `{}`); kind != "audio/mpeg" || len(doc) != 300 {
		t.Errorf("%s of %d bytes", kind, len(doc))
	}
}
