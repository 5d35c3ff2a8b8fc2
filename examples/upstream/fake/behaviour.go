package fake

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// plan is what a request will meet. Its zero value, with cutAfter and errorAt
// at never, is an honest answer at once.
type plan struct {
	status     int // of a failure; 0: none
	code       string
	message    string
	header     map[string]string // of a failure
	delay      time.Duration     // before the first byte
	pace       time.Duration     // between chunks
	hang       bool              // never answers
	stallAfter int               // chunks after which a stream stands still
	reset      bool              // the connection breaks before an answer
	cutAfter   int               // chunks after which the connection breaks
	errorAt    int               // the chunk, from 1, in whose place an error event comes
	usage      string            // how usage is spoilt: "", none, negative, string, fraction, huge, null
	cached     int               // prompt tokens said to come from a cache
	body       string            // a whole other body: html, empty, garbage
	words      int               // length of the answer; 0: that of the usual text
	tools      int               // calls made when tools are given
	obeys      bool              // calls what the user's message says
	thinks     bool              // reasons before it answers
	finish     string            // another finish reason
	framing    string            // of a stream: "", crlf, comments, dribble
	noDone     bool              // a stream ends without its last event
	failFirst  int               // only so many requests of this model fail
}

// never is the number of a chunk that does not come.
const never = math.MaxInt

// behaviour is a row of the table.
type behaviour struct {
	name    string // before the argument; the whole part where there is none
	arg     string // what the argument is; "" where there is none
	example string
	does    string // as the README says it
	set     func(p *plan, arg string) bool
}

// behaviours is the table. The first row that fits a part of the model id, and
// accepts its argument, takes effect.
func behaviours() []behaviour {
	return append(append(failures(), breakages()...), contents()...)
}

// failures are answers with another status than 200.
func failures() []behaviour {
	fail := func(status int, code, message string) func(*plan, string) bool {
		return func(p *plan, _ string) bool {
			p.status, p.code, p.message = status, code, message
			return true
		}
	}
	return []behaviour{
		{"fail-", "status", "fail-500", "fails with this status, 400 to 599, in the dialect's error form", setStatus},
		{"", "status", "401", "the same as `fail-401`, for any status", setStatus},
		{"limit-", "seconds", "limit-2", "fails with 429 and `retry-after`", func(p *plan, arg string) bool {
			n, ok := number(arg)
			p.status, p.header = http.StatusTooManyRequests, map[string]string{"Retry-After": strconv.Itoa(n)}
			return ok
		}},
		{"flaky-", "count", "flaky-1", "fails with 500 (or the status of a `fail-` part) for its first requests, then answers", func(p *plan, arg string) bool {
			n, ok := number(arg)
			p.failFirst = n
			return ok
		}},
		{"filter", "", "filter", "fails with 400 and the code `content_filter`", fail(http.StatusBadRequest, "content_filter", "The prompt was blocked by the content filter.")},
		{"context", "", "context", "fails with 400 and the code `context_length_exceeded`", fail(http.StatusBadRequest, "context_length_exceeded", "prompt is too long: This model's maximum context length is 8192 tokens.")},
		{"redirect", "", "redirect", "answers 302 to a path that would answer", func(p *plan, _ string) bool {
			p.status, p.header = http.StatusFound, map[string]string{"Location": "/elsewhere/v1/chat/completions"}
			return true
		}},
		{"html", "", "html", "fails with 502 and a page of HTML", func(p *plan, _ string) bool { p.status, p.body = http.StatusBadGateway, "html"; return true }},
		{"html-200", "", "html-200", "answers 200 with a page of HTML", func(p *plan, _ string) bool { p.body = "html"; return true }},
	}
}

// breakages are answers that come late, in pieces or not at all.
func breakages() []behaviour {
	span := func(set func(*plan, time.Duration)) func(*plan, string) bool {
		return func(p *plan, arg string) bool {
			d, err := time.ParseDuration(arg)
			set(p, d)
			return err == nil && d >= 0
		}
	}
	count := func(set func(*plan, int)) func(*plan, string) bool {
		return func(p *plan, arg string) bool {
			n, ok := number(arg)
			set(p, n)
			return ok
		}
	}
	return []behaviour{
		{"slow-", "duration", "slow-2s", "waits before the first byte", span(func(p *plan, d time.Duration) { p.delay = d })},
		{"pace-", "duration", "pace-20ms", "waits before each further chunk of a stream", span(func(p *plan, d time.Duration) { p.pace = d })},
		{"hang", "", "hang", "never answers", func(p *plan, _ string) bool { p.hang = true; return true }},
		{"stall-", "chunks", "stall-3", "stands still after this many chunks of a stream", count(func(p *plan, n int) { p.stallAfter = n })},
		{"reset", "", "reset", "breaks the connection before an answer", func(p *plan, _ string) bool { p.reset = true; return true }},
		{"cut-", "chunks", "cut-3", "breaks the connection after this many chunks of a stream, or amid a whole answer", count(func(p *plan, n int) { p.cutAfter = n })},
		{"error-first", "", "error-first", "sends an error event as the first of a 200 stream", func(p *plan, _ string) bool { p.errorAt = 1; return true }},
		{"error-", "n-th", "error-10th", "sends an error event in the place of the n-th chunk, and ends", func(p *plan, arg string) bool {
			n, ok := number(strings.TrimRight(arg, "stndrh"))
			p.errorAt = n
			return ok && n > 0
		}},
		{"nodone", "", "nodone", "ends a stream without `[DONE]` or `message_stop`", func(p *plan, _ string) bool { p.noDone = true; return true }},
		{"empty", "", "empty", "sends an empty body: with 200, or with the status of a `fail-` part", func(p *plan, _ string) bool { p.body = "empty"; return true }},
		{"garbage", "", "garbage", "sends JSON that breaks off, in a stream as its second event", func(p *plan, _ string) bool { p.body = "garbage"; return true }},
		{"crlf", "", "crlf", "ends a stream's lines with CR LF", func(p *plan, _ string) bool { p.framing = "crlf"; return true }},
		{"comments", "", "comments", "puts comment lines between a stream's events", func(p *plan, _ string) bool { p.framing = "comments"; return true }},
		{"dribble", "", "dribble", "sends a stream seven bytes at a time, so that nothing arrives in one piece", func(p *plan, _ string) bool { p.framing = "dribble"; return true }},
	}
}

// contents are honest answers with something remarkable in them.
func contents() []behaviour {
	spoil := func(p *plan, how string) bool {
		p.usage = how
		return how == "negative" || how == "string" || how == "fraction" || how == "huge" || how == "null"
	}
	return []behaviour{
		{"nousage", "", "nousage", "leaves the usage out", func(p *plan, _ string) bool { p.usage = "none"; return true }},
		{"badusage", "", "badusage", "reports negative usage, as `badusage-negative`", func(p *plan, _ string) bool { return spoil(p, "negative") }},
		{"badusage-", "kind", "badusage-string", "reports usage that is `negative`, a `string`, a `fraction`, `huge` or `null`", spoil},
		{"cached-", "tokens", "cached-10", "says that up to this many prompt tokens came from its cache", func(p *plan, arg string) bool {
			n, ok := number(arg)
			p.cached = n
			return ok
		}},
		{"words-", "count", "words-50", "answers with this many words, in a stream one a chunk", func(p *plan, arg string) bool {
			n, ok := number(arg)
			p.words = n
			return ok && n > 0 && n <= 1_000_000
		}},
		{"tools-", "count", "tools-2", "makes this many calls when tools are given", func(p *plan, arg string) bool {
			n, ok := number(arg)
			p.tools = n
			return ok && n <= 100
		}},
		{"obey", "", "obey", "makes the call that the user's last message spells after `call: `, as in `call: shell {\"command\": \"ls\"}`, and no other", func(p *plan, _ string) bool { p.obeys = true; return true }},
		{"think", "", "think", "reasons before it answers: `reasoning_content`, a thinking block, or a reasoning item", func(p *plan, _ string) bool { p.thinks = true; return true }},
		{"filter-200", "", "filter-200", "ends with the finish reason `content_filter` (Anthropic: `refusal`; responses: `incomplete`)", func(p *plan, _ string) bool { p.finish = "content_filter"; return true }},
		{"length", "", "length", "ends with the finish reason `length` (Anthropic: `max_tokens`; responses: `incomplete`)", func(p *plan, _ string) bool { p.finish = "length"; return true }},
	}
}

// setStatus makes the request fail with the status that arg spells.
func setStatus(p *plan, arg string) bool {
	n, ok := number(arg)
	if !ok || n < 400 || n > 599 || len(arg) != 3 {
		return false
	}
	p.status = n
	return true
}

// number reads a count that is not negative.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}

// planOf reads the plan out of a model id.
func planOf(model string) plan {
	p := plan{cutAfter: never, errorAt: never, stallAfter: never, tools: 1}
	rows := behaviours()
	for _, part := range strings.FieldsFunc(model, func(r rune) bool { return strings.ContainsRune("/+:@", r) }) {
		for _, row := range rows {
			if next := p; row.fits(&next, part) {
				p = next
				break
			}
		}
	}
	return p
}

// fits applies the row if it is the one that part names.
func (b behaviour) fits(p *plan, part string) bool {
	if b.arg == "" {
		return part == b.name && b.set(p, "")
	}
	arg, ok := strings.CutPrefix(part, b.name)
	return ok && b.set(p, arg)
}
