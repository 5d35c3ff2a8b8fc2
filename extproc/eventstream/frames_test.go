package eventstream_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// AWS's own decoder reads each event of a stream out of its frame, wherever the events are cut.
func TestFramesAreRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f eventstream.Frames
		var stream []byte
		var want []string
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			data := `{"type":"content_block_delta","text":` + string(splice.Quote(nil, rapid.String().Draw(t, "text"))) + `}`
			want = append(want, data)
			events := rapid.SampledFrom([]string{"", ": a comment\n\n", "event: x\n"}).Draw(t, "before") + "data: " + data + "\n\n"
			if rapid.Bool().Draw(t, "last") {
				stream = append(stream, f.End([]byte(events))...)
			} else {
				stream = append(stream, f.Add([]byte(events))...)
			}
		}
		d, in := aws.NewDecoder(), bytes.NewReader(stream)
		for i, text := range want {
			m, err := d.Decode(in, nil)
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			var chunk struct {
				Bytes []byte `json:"bytes"`
			}
			if err := json.Unmarshal(m.Payload, &chunk); err != nil || string(chunk.Bytes) != text {
				t.Fatalf("frame %d: %s, %v", i, m.Payload, err)
			}
			if kind, name := m.Headers.Get(":message-type"), m.Headers.Get(":event-type"); kind.String() != "event" || name.String() != "chunk" {
				t.Fatalf("frame %d is %s of %s", i, kind, name)
			}
		}
		if _, err := d.Decode(in, nil); !errors.Is(err, io.EOF) {
			t.Fatalf("after all frames: %v", err)
		}
		// And the gateway's own splitter gives the events back.
		s := eventstream.Splitter{Chunks: true}
		s.Push(stream)
		var e splice.Event
		for _, text := range want {
			if !s.Next(&e) || string(e.Data) != text {
				t.Fatalf("%q came back as %q, %v", text, e.Data, s.Err())
			}
		}
	})
}

// An error is an exception of Bedrock.
func TestErrorsAreExceptions(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"rate_limit_error": "throttlingException", "invalid_request_error": "validationException", "overloaded_error": "serviceUnavailableException",
		"timeout_error": "modelTimeoutException", "api_error": "internalServerException",
	} {
		var f eventstream.Frames
		m, err := aws.NewDecoder().Decode(bytes.NewReader(f.Add([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\""+kind+"\",\"message\":\"No.\"}}\n\n"))), nil)
		if err != nil || m.Headers.Get(":message-type").String() != "exception" || m.Headers.Get(":exception-type").String() != want || !strings.Contains(string(m.Payload), `{"message":"No."}`) {
			t.Errorf("%s: %v, %v, %s", kind, err, m.Headers, m.Payload)
		}
	}
}
