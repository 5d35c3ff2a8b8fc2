package extproc

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// The bounds of plausible usage, as in package estimate.
const (
	largestAnswer = 131_072
	unseenInput   = 16_384
	unseenOutput  = 64
	maxQueries    = 256
)

// reply is a whole answer of two letters with members for the usage.
func chatReply(members string) string {
	return `{"id":"c","object":"chat.completion","model":"fast","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],` + members + `}`
}

// A report of more than is possible is charged as what is possible, and says so; of
// several reports the largest possible one counts.
func TestUsageIsPossible(t *testing.T) {
	t.Parallel()
	const (
		huge  = `"usage":{"prompt_tokens":2000000000,"completion_tokens":2000000000}`
		right = `"usage":{"prompt_tokens":9,"completion_tokens":3}`
		none  = `"usage":{"prompt_tokens":0,"completion_tokens":0}`
	)
	seen := with(`"max_tokens":50`)
	for _, test := range []struct {
		name, body, members string
		want                usage.Tokens
		capped              bool
	}{
		{"true", hello, right, usage.Tokens{Input: 9, Output: 3}, false},
		{"beyond all bounds", hello, huge, usage.Tokens{Input: int64(len(hello)) + unseenInput, Output: largestAnswer + unseenOutput}, true},
		{"beyond max_tokens", seen, huge, usage.Tokens{Input: int64(len(seen)) + unseenInput, Output: 50 + unseenOutput}, true},
		{"searches", hello, `"usage":{"prompt_tokens":9,"completion_tokens":3,"num_search_queries":30}`, usage.Tokens{Input: 9, Output: 3, SearchQueries: 30}, false},
		{"more searches than are possible", hello, `"usage":{"prompt_tokens":9,"completion_tokens":3,"num_search_queries":4000000}`, usage.Tokens{Input: 9, Output: 3, SearchQueries: maxQueries}, true},
		{"twice, zeros last", hello, right + "," + none, usage.Tokens{Input: 9, Output: 3}, false},
		{"twice, zeros first", hello, none + "," + right, usage.Tokens{Input: 9, Output: 3}, false},
		{"twice, one impossible", hello, huge + "," + right, usage.Tokens{Input: 9, Output: 3}, false},
		{"more than a report may say", hello, `"usage":{"prompt_tokens":4000000000,"completion_tokens":4000000000}`, usage.Tokens{Input: 8, Output: 1}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, one())
			e := k.open(t)
			taken(t, e, test.body)
			e.answer(jsonAnswer(chatReply(test.members)))
			if ev := k.event(e.uuid); ev.Tokens != test.want || ev.UsageCapped != test.capped {
				t.Errorf("%+v, capped %v; want %+v, %v", ev.Tokens, ev.UsageCapped, test.want, test.capped)
			}
		})
	}
}

// A picture has more tokens than its address has bytes.
func TestUsageOfFetchedContentIsPossible(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, `{"model":"fast","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/b.png"}}]}]}`)
	e.answer(jsonAnswer(chatReply(`"usage":{"prompt_tokens":48000,"completion_tokens":3}`)))
	if ev := k.event(e.uuid); ev.Tokens.Input != 48000 || ev.UsageCapped {
		t.Errorf("%+v, capped %v", ev.Tokens, ev.UsageCapped)
	}
}

// A second usage of zeros, or an impossible one before, does not change what a stream costs.
func TestUsageOfStreamsIsTheLargestPossible(t *testing.T) {
	t.Parallel()
	const (
		text  = `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\n"
		right = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}` + "\n\n"
		none  = `data: {"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}` + "\n\n"
		huge  = `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2000000000}}` + "\n\n"
		done  = "data: [DONE]\n\n"
	)
	for _, events := range []string{right + none, none + right, huge + right, right} {
		k := newKit(t, one())
		e := k.open(t)
		taken(t, e, with(`"stream":true`))
		c := streamAnswer()
		c.pieces = []string{text + events + done}
		e.answer(c)
		if ev := k.event(e.uuid); ev.Tokens != (usage.Tokens{Input: 9, Output: 3}) || ev.UsageCapped {
			t.Errorf("%s: %+v, capped %v", events, ev.Tokens, ev.UsageCapped)
		}
	}
}

// An answer that was too large to be taken is charged for no more than can have been generated.
func TestAnswersThatAreTooLargeArePlausible(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, with(`"max_tokens":100`))
	text := chatReply(`"x":"` + strings.Repeat("all work and no play ", 100_000) + `"`)
	c := jsonAnswer()
	for part := range slices.Chunk([]byte(text), 100_000) {
		c.pieces = append(c.pieces, string(part))
	}
	e.answer(c)
	if ev := k.event(e.uuid); ev.Tokens.Output > 100+unseenOutput || ev.Tokens.Output == 0 || ev.Source != usage.Estimated {
		t.Errorf("%+v by %s", ev.Tokens, ev.Source)
	}
}
