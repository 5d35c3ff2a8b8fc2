package eventstream_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// frame returns a frame as AWS's own encoder writes it.
func frame(tb testing.TB, payload string, headers ...string) []byte {
	tb.Helper()
	m := aws.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], aws.StringValue(headers[i+1]))
	}
	var b bytes.Buffer
	if err := aws.NewEncoder().Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// event returns the frame of an event.
func event(tb testing.TB, kind, payload string) []byte {
	tb.Helper()
	return frame(tb, payload, ":message-type", "event", ":event-type", kind, ":content-type", "application/json")
}

// chunk returns the frame of a chunk.
func chunk(tb testing.TB, data string) []byte {
	tb.Helper()
	return event(tb, "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`","p":"abcd"}`)
}

// read splits a stream that comes in pieces of a size. An event is its type and its data, or its raw form.
func read(s *eventstream.Splitter, stream []byte, size int, raw bool) (out []string, err error) {
	var e splice.Event
	for len(stream) > 0 {
		n := min(size, len(stream))
		s.Push(bytes.Clone(stream[:n]))
		stream = stream[n:]
		for s.Next(&e) {
			switch {
			case raw:
				out = append(out, string(e.Raw))
			case e.HasData:
				out = append(out, string(e.Type)+" "+string(e.Data))
			}
		}
	}
	if s.Last(&e) {
		out = append(out, "an event after the end")
	}
	return out, s.Err()
}

func TestEvents(t *testing.T) {
	t.Parallel()
	stream := bytes.Join([][]byte{
		event(t, "messageStart", `{"role":"assistant"}`),
		event(t, "contentBlockDelta", `{"delta":{"text":"`+strings.Repeat("é", 40000)+`"}}`),
		event(t, "empty", ""),
		frame(t, `{"message":"slow"}`, ":message-type", "exception", ":exception-type", "throttlingException"),
		frame(t, "", ":message-type", "error", ":error-code", "InternalError", ":error-message", `say "no"`),
		frame(t, "{}", ":message-type", "exception"),
	}, nil)
	want := []string{
		`messageStart {"role":"assistant"}`,
		`contentBlockDelta {"delta":{"text":"` + strings.Repeat("é", 40000) + `"}}`,
		`empty `,
		`throttlingException {"message":"slow"}`,
		`InternalErrorException {"message":"say \"no\""}`,
		`unknownException {}`,
	}
	for _, size := range []int{1, 2, 3, 11, 12, 13, 100, 4096, len(stream)} {
		got, err := read(&eventstream.Splitter{}, stream, size, false)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("in pieces of %d: %v (-want +got) %s", size, err, diff)
		}
	}
}

func TestChunksAreServerSentEvents(t *testing.T) {
	t.Parallel()
	stream := bytes.Join([][]byte{
		chunk(t, `{"type":"message_start","message":{}}`),
		event(t, "chunk", `{"p":"ab","bytes":"eyJhIjoxLCJ0eXBlIjoicGluZyJ9"}`),
		event(t, "chunk", `{"bytes":"eyJhIjox\u004cCJ0eXBlIjoicGluZyJ9"}`),
		event(t, "other", `{"a":1}`),
		chunk(t, "{\n \"type\": \"message_stop\"\n}"),
		chunk(t, `{"type":"a b"}`),
		frame(t, `{"message":"late"}`, ":message-type", "exception", ":exception-type", "modelTimeoutException"),
	}, nil)
	want := []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
		"event: ping\ndata: {\"a\":1,\"type\":\"ping\"}\n\n",
		"event: ping\ndata: {\"a\":1,\"type\":\"ping\"}\n\n",
		"",
		"event: message_stop\ndata: {\ndata:  \"type\": \"message_stop\"\ndata: }\n\n",
		"data: {\"type\":\"a b\"}\n\n",
		"event: modelTimeoutException\ndata: {\"message\":\"late\"}\n\n",
	}
	for _, size := range []int{1, 7, 64, len(stream)} {
		got, err := read(&eventstream.Splitter{Chunks: true}, stream, size, true)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("in pieces of %d: %v (-want +got) %s", size, err, diff)
		}
	}
}

// An event can be rewritten where its data stands, as server-sent ones are.
func TestChunksCanBeRewritten(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`{"type":"ping"}`, "{\"type\":\n\"ping\"}"} {
		s := eventstream.Splitter{Chunks: true}
		s.Push(chunk(t, data))
		var e splice.Event
		if !s.Next(&e) {
			t.Fatal(s.Err())
		}
		if got := string(e.Rewrite(nil, []byte(`{}`))); got != "event: ping\ndata: {}\n\n" {
			t.Errorf("%q becomes %q", data, got)
		}
	}
}

// prelude returns the beginning of a frame that claims a length.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// sealed returns a frame with any bytes for headers.
func sealed(headers string) []byte {
	b := append(prelude(uint32(16+len(headers)), uint32(len(headers))), headers...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestDamage(t *testing.T) {
	t.Parallel()
	good := event(t, "messageStart", `{"role":"assistant"}`)
	flipped := func(at int) []byte {
		b := bytes.Clone(good)
		b[(at+len(b))%len(b)] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		stream []byte
		code   string
	}{
		"a wrong checksum of the prelude":   {flipped(9), "upstream_invalid_response"},
		"a wrong length":                    {flipped(2), "upstream_invalid_response"},
		"a wrong checksum of the frame":     {flipped(-1), "upstream_invalid_response"},
		"a damaged payload":                 {flipped(-6), "upstream_invalid_response"},
		"a damaged header":                  {flipped(14), "upstream_invalid_response"},
		"a length of 0":                     {prelude(0, 0), "upstream_invalid_response"},
		"a length without room for headers": {prelude(20, 5), "upstream_invalid_response"},
		"a length of 4 GiB":                 {prelude(1<<32-1, 0), "event_too_large"},
		"a length above the limit":          {prelude(eventstream.MaxFrame+1, 0), "event_too_large"},
		"a header without a name":           {sealed("\x00\x07\x00\x01a"), "upstream_invalid_response"},
		"a header without a value":          {sealed("\x01a\x07\x00\x09a"), "upstream_invalid_response"},
		"a header of an unknown type":       {sealed("\x01a\x0a"), "upstream_invalid_response"},
		"a header that ends in its name":    {sealed("\x09a"), "upstream_invalid_response"},
		"a header that ends in its length":  {sealed("\x01a\x07\x00"), "upstream_invalid_response"},
		"a chunk without bytes":             {event(t, "chunk", `{}`), "upstream_invalid_response"},
		"a chunk that is not base64":        {event(t, "chunk", `{"bytes":"***"}`), "upstream_invalid_response"},
		"a page":                            {[]byte("<html><body>Bad Gateway</body></html>"), "upstream_invalid_response"},
	} {
		for _, size := range []int{1, 5, 1000} {
			s := eventstream.Splitter{Chunks: true}
			got, err := read(&s, append(bytes.Clone(c.stream), good...), size, false)
			e := fault.From(err)
			if err == nil || e.Kind != fault.Upstream || e.Code != c.code || len(got) > 0 || s.Held() != 0 {
				t.Errorf("%s, in pieces of %d: %v, %v", name, size, got, err)
			}
		}
	}
}

// Headers of every type are skipped, and what was there before them counts.
func TestHeadersOfEveryType(t *testing.T) {
	t.Parallel()
	value := func(n int) string { return strings.Repeat("x", n) }
	headers := "\x01a\x00" + "\x01b\x01" + "\x01c\x02" + value(1) + "\x01d\x03" + value(2) + "\x01e\x04" + value(4) + "\x01f\x05" + value(8) +
		"\x01g\x06\x00\x03abc" + "\x01h\x08" + value(8) + "\x01i\x09" + value(16) + "\x0b:event-type\x07\x00\x04real" + "\x0b:event-type\x07\x00\x05other"
	got, err := read(&eventstream.Splitter{}, sealed(headers), 1, false)
	if diff := cmp.Diff([]string{"real "}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got) %s", err, diff)
	}
}

// A stream that ends within a frame has no event for it, wherever it ends.
func TestCut(t *testing.T) {
	t.Parallel()
	one := event(t, "a", "{}")
	for n := range len(one) {
		s := eventstream.Splitter{}
		got, err := read(&s, append(bytes.Clone(one), one[:n]...), 3, false)
		if diff := cmp.Diff([]string{"a {}"}, got); diff != "" || err != nil || s.Held() != n {
			t.Errorf("cut after %d bytes: %d are held, %v %s", n, s.Held(), err, diff)
		}
	}
}

// No more is kept than has arrived, and a long frame's memory is given back.
func TestMemoryIsBounded(t *testing.T) { //nolint:paralleltest // counts allocations
	s := eventstream.Splitter{}
	var e splice.Event
	s.Push(prelude(eventstream.MaxFrame, 0))
	if s.Next(&e) || s.Err() != nil || s.Held() != 12 {
		t.Errorf("%d bytes are held of 12 that have come: %v", s.Held(), s.Err())
	}
	allocated := testing.AllocsPerRun(100, func() {
		s := eventstream.Splitter{}
		s.Push(prelude(eventstream.MaxFrame, 0))
		s.Next(&e)
	})
	if allocated > 3 {
		t.Errorf("a long frame that has not come takes %v allocations", allocated)
	}
	stream := event(t, "contentBlockDelta", `{"delta":{"text":"hello"}}`)
	whole := eventstream.Splitter{}
	if n := testing.AllocsPerRun(100, func() {
		whole.Push(stream)
		for whole.Next(&e) {
		}
	}); n > 0 {
		t.Errorf("an event in one piece takes %v allocations", n)
	}
}

// TestAsTheSDKReads compares with AWS's decoder.
func TestAsTheSDKReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream []byte
		for range rapid.IntRange(0, 6).Draw(rt, "frames") {
			stream = append(stream, event(t, rapid.StringMatching(`[a-zA-Z]{1,20}`).Draw(rt, "type"), rapid.StringN(0, 50, -1).Draw(rt, "payload"))...)
		}
		if len(stream) > 0 && rapid.Bool().Draw(rt, "damaged") {
			stream[rapid.IntRange(0, len(stream)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		}
		compare(rt, stream, rapid.IntRange(1, 64).Draw(rt, "size"))
	})
}

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Fatalf(format string, args ...any)
}

// compare reads a stream with AWS's decoder and with ours: both find the same events, and stop at the same
// place.
func compare(t fataler, stream []byte, size int) {
	var want []string
	in, ok := bytes.NewReader(stream), true
	for in.Len() > 0 {
		m, err := aws.NewDecoder().Decode(in, nil)
		if err != nil {
			ok = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			break
		}
		text := func(name string) string {
			v, _ := m.Headers.Get(name).(aws.StringValue)
			return string(v)
		}
		if kind := text(":message-type"); kind == "exception" || kind == "error" {
			return // these have other words here
		}
		want = append(want, text(":event-type")+" "+string(m.Payload))
	}
	got, err := read(&eventstream.Splitter{}, stream, size, false)
	if ok && err == nil {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-SDK +ours) %s", diff)
		}
		return
	}
	// One of the two may find damage earlier: the SDK reads a frame's head only when all of it is there.
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("event %d is %q, and %q for the SDK", i, got[i], want[i])
		}
	}
	if err == nil && !ok {
		t.Fatalf("the SDK finds damage that is not found: %q", stream)
	}
}

// FuzzSplitter checks that no stream makes a Splitter fail, that pieces do not matter, and that the
// AWS SDK reads the same.
func FuzzSplitter(f *testing.F) {
	f.Add(event(f, "messageStart", `{"role":"assistant"}`), 3)
	f.Add(append(chunk(f, `{"type":"ping"}`), event(f, "a", "")...), 100)
	f.Add(frame(f, "", ":message-type", "error", ":error-code", "x"), 1)
	f.Add(prelude(1<<32-1, 0), 5)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 || len(stream) > 1<<16 {
			return
		}
		compare(t, stream, size)
		for _, chunks := range []bool{false, true} {
			whole, err := read(&eventstream.Splitter{Chunks: chunks}, stream, len(stream)+1, true)
			cut, again := read(&eventstream.Splitter{Chunks: chunks}, stream, size, true)
			if diff := cmp.Diff(whole, cut); diff != "" || (err == nil) != (again == nil) {
				t.Fatalf("in pieces of %d: %v, %v %s", size, err, again, diff)
			}
		}
	})
}
