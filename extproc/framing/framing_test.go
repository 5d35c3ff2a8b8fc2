package framing_test

import (
	"bytes"
	"errors"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/framing"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// frame returns the frame of an event or, with the kind exception, of a failure.
func frame(t *testing.T, kind, name, payload string) []byte {
	t.Helper()
	m := aws.Message{Payload: []byte(payload)}
	m.Headers.Set(":message-type", aws.StringValue(kind))
	m.Headers.Set(":"+kind+"-type", aws.StringValue(name))
	var b bytes.Buffer
	if err := aws.NewEncoder().Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A stream's start decides with its first content, or with what is wrong before it.
func TestOpening(t *testing.T) {
	t.Parallel()
	start := frame(t, "event", "messageStart", `{"role":"assistant"}`)
	delta := frame(t, "event", "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`)
	late := frame(t, "exception", "throttlingException", `{"message":"Too many tokens"}`)
	for _, c := range []struct {
		name    string
		f       driver.Framing
		codec   driver.Codec
		stream  []byte
		decided bool
		status  int // of the failure; 0 for none
	}{
		{"nothing yet", driver.AWSEvents, bedrock.Codec{}, start, false, 0},
		{"content", driver.AWSEvents, bedrock.Codec{}, append(bytes.Clone(start), delta...), true, 0},
		{"an exception at once", driver.AWSEvents, bedrock.Codec{}, late, true, 429},
		{"an exception before content", driver.AWSEvents, bedrock.Codec{}, append(bytes.Clone(start), late...), true, 429},
		{"an exception after content", driver.AWSEvents, bedrock.Codec{}, append(append(bytes.Clone(start), delta...), late...), true, 0},
		{"an end without content", driver.AWSEvents, bedrock.Codec{}, frame(t, "event", "messageStop", `{"stopReason":"end_turn"}`), true, 0},
		{"damage", driver.AWSEvents, bedrock.Codec{}, []byte("<html>Bad Gateway"), true, 0},
		{"server-sent events", driver.ServerSent, anthropic.Driver{}, []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n"), true, 0},
		{"a server-sent error", driver.ServerSent, anthropic.Driver{}, []byte("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"), true, 529},
		{"half an event", driver.ServerSent, anthropic.Driver{}, []byte("data: {\"type\":"), false, 0},
		{"no codec", driver.ServerSent, nil, []byte("data: x\n\n"), true, 0},
	} {
		for _, size := range []int{1, 1000} {
			o, decided := framing.Open(c.f, c.codec), false
			for at := 0; at < len(c.stream) && !decided; at += size {
				decided = o.Piece(c.stream[at:min(at+size, len(c.stream))])
			}
			status := 0
			if f, ok := errors.AsType[*wire.Failure](o.Err()); ok {
				status = f.Status
			}
			if decided != c.decided || status != c.status {
				t.Errorf("%s, in pieces of %d: decided is %v, the failure has %d", c.name, size, decided, status)
			}
		}
	}
}

// A stream of another framing than the driver's has no content type, so that it is rejected.
func TestMedia(t *testing.T) {
	t.Parallel()
	const binary, text = "application/vnd.amazon.eventstream", "text/event-stream"
	for _, c := range []struct {
		f         driver.Framing
		media, is string
	}{
		{driver.ServerSent, text, text},
		{driver.ServerSent, binary, binary},
		{driver.AWSEvents, binary, text},
		{driver.AWSChunks, binary, text},
		{driver.AWSEvents, text, ""},
		{driver.AWSEvents, "application/json", "application/json"},
	} {
		if got := framing.Media(c.f, c.media); got != c.is {
			t.Errorf("%s is %q", c.media, got)
		}
	}
	if framing.Of(anthropic.Driver{}, wire.Anthropic) != driver.ServerSent || framing.Of(bedrock.Driver{}, wire.Converse) != driver.AWSEvents {
		t.Error("the framings of drivers are others")
	}
}

func TestFailuresOfFrames(t *testing.T) {
	t.Parallel()
	e := splice.Event{Type: []byte("modelTimeoutException"), Data: []byte(`{"message":"slow"}`), HasData: true}
	if f := framing.Failure(driver.AWSChunks, bedrock.Driver{}, &e); f == nil || f.Status != 504 || !f.Retryable {
		t.Errorf("an exception is %+v", f)
	}
	if framing.Failure(driver.ServerSent, anthropic.Driver{}, &e) != nil {
		t.Error("a server-sent event is an exception by its name")
	}
	e.Type = []byte("message_start")
	if framing.Failure(driver.AWSChunks, bedrock.Driver{}, &e) != nil {
		t.Error("an event is an exception")
	}
}
