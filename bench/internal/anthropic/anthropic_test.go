package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, n := range []int{1024, 256 << 10} {
		if b := Request("m", n); len(b) != n || !json.Valid(b) {
			t.Errorf("request of %d bytes for %d", len(b), n)
		}
		if b := Response("m", n); len(b) != n || !json.Valid(b) {
			t.Errorf("response of %d bytes for %d", len(b), n)
		}
	}
}

func TestStreamHasEveryEventInOrder(t *testing.T) {
	all := slices.Concat(StreamStart("m"), StreamText("one "), StreamText(`"two"`), StreamEnd())
	var kinds []string
	text := ""
	for event := range bytes.SplitSeq(bytes.TrimSpace(all), []byte("\n\n")) {
		name, data, ok := strings.Cut(string(event), "\ndata: ")
		var v struct {
			Type  string
			Delta struct{ Text string }
		}
		if err := json.Unmarshal([]byte(data), &v); err != nil || !ok || name != "event: "+v.Type {
			t.Fatalf("event %s: %v", event, err)
		}
		kinds = append(kinds, v.Type)
		text += v.Delta.Text
	}
	want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop", "message_delta", "message_stop"}
	if !slices.Equal(kinds, want) || text != `one "two"` {
		t.Errorf("%v with %q", kinds, text)
	}
}
