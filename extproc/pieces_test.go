package extproc

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Where each event of a stream brings one token, as many tokens are charged as events came:
// the tokenizer, which is not the model's, sees more in these.
func TestCountsTheTokensThatWereSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	var words, marks, batches []string
	for _, s := range []string{"tok0 ", "tok1 ", "tok2 ", "tok3 "} {
		words = append(words, text(s))
	}
	for _, s := range []string{"Zwölf", " Boxkämpfer", ".", "\\n\\n", " -x", " {}"} {
		marks = append(marks, text(s))
	}
	for _, s := range []string{"tok0 tok1 ", "tok2 ", "tok3 "} {
		batches = append(batches, text(s))
	}
	role := event(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`)
	twice := event(`"choices":[{"index":0,"delta":{"content":"tok0 "}},{"index":1,"delta":{"content":"tok1"}}]`)
	for _, test := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"a word each", words, 4},
		{"and a role before them", append([]string{role}, words...), 4},
		{"words and marks", marks, 6},
		{"several words in one", batches, counter.Count("gpt-4o", "tok0 tok1 tok2 tok3 ")},
		{"a word and a mark in one", []string{text("Hi"), text(" there.")}, counter.Count("gpt-4o", "Hi there.")},
		{"a long word", []string{text("Donaudampfschifffahrt")}, counter.Count("gpt-4o", "Donaudampfschifffahrt")},
		{"a letter each", []string{text("w"), text("o"), text("r"), text("d")}, counter.Count("gpt-4o", "word")},
		{"two choices in one", []string{twice}, counter.Count("gpt-4o", "tok0 tok1")},
	} {
		for _, how := range []string{"the provider breaks off", "the caller leaves"} {
			e := k.open(t)
			taken(t, e, streaming())
			e.head(streamAnswer())
			e.begun(streamAnswer())
			for _, piece := range test.events {
				e.piece(piece)
				e.out(piece)
			}
			flags := left()
			if how == "the provider breaks off" {
				flags = cut()
			}
			k.attempt(e.uuid, 1, 0, flags)
			e.leave()
			if ev := k.event(e.uuid); ev.Tokens.Output != test.want || ev.Source != usage.Estimated || ev.Outcome == journal.Success {
				t.Errorf("%s, %s: %+v by %s; want %d tokens of output", test.name, how, ev.Tokens, ev.Source, test.want)
			}
		}
	}
	k.settled()
}

// A translated stream is counted in the same way, however its bytes arrive.
func TestCountsTheTokensOfATranslatedStream(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	var stream strings.Builder
	stream.WriteString(anthropicStream()[:strings.Index(anthropicStream(), "event: content_block_delta")])
	for _, s := range []string{"tok0 ", "tok1 ", "tok2 ", "tok3 "} {
		stream.WriteString("event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}` + "\n\n")
	}
	var bytewise []string
	for c := range slices.Chunk([]byte(stream.String()), 7) {
		bytewise = append(bytewise, string(c))
	}
	for _, pieces := range [][]string{{stream.String()}, bytewise} {
		e := k.open(t)
		relayed(t, e, strings.Replace(streaming(), "fast", "smart", 1), append(pieces, "")...)
		if ev := k.event(e.uuid); ev.Tokens.Output != 4 || ev.ErrorCode != "upstream_cut" {
			t.Errorf("in %d pieces: %+v, %s; want 4 tokens of output", len(pieces), ev.Tokens, ev.ErrorCode)
		}
	}
}
