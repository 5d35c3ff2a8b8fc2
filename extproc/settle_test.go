package extproc

import (
	"strings"
	"testing"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// life is one request, drawn at random: how many attempts fail before the last,
// each how, and how the last ends.
type life struct {
	body    string
	fails   []failing
	ending  string
	pieces  int // of a stream that came before the end
	reached int // attempts that reached their provider
	outcome usage.Outcome
}

// failing is a way for an attempt to fail.
type failing struct {
	name    string
	status  int
	flags   *datav3.ResponseFlags
	reached bool
}

func failings() []failing {
	return []failing{
		{"refused", 503, nil, true},
		{"limited", 429, nil, true},
		{"timed out", 0, &datav3.ResponseFlags{UpstreamRequestTimeout: true}, true},
		{"broke", 0, cut(), true},
		{"unreachable", 0, &datav3.ResponseFlags{UpstreamConnectionFailure: true}, false},
		{"overflow", 0, &datav3.ResponseFlags{UpstreamOverflow: true}, false},
	}
}

func drawLife(rt *rapid.T) life {
	l := life{body: rapid.SampledFrom([]string{hello, streaming(), asking()}).Draw(rt, "body")}
	l.fails = rapid.SliceOfN(rapid.SampledFrom(failings()), 0, 3).Draw(rt, "fails")
	for _, f := range l.fails {
		if f.reached {
			l.reached++
		}
	}
	type ending struct {
		name    string
		reached int
		outcome usage.Outcome
	}
	end := rapid.SampledFrom([]ending{
		{"good", 1, journal.Success},
		{"bad", 1, journal.Failed},
		{"caller's fault", 1, journal.Failed},
		{"garbage", 1, journal.Failed},
		{"timeout", 1, journal.Failed},
		{"unreachable", 0, journal.Failed},
		{"cut", 1, journal.Failed},
		{"left before", 1, journal.Canceled},
		{"left within", 1, journal.Canceled},
	}).Draw(rt, "end")
	l.ending, l.outcome = end.name, end.outcome
	l.reached += end.reached
	l.pieces = rapid.IntRange(0, 5).Draw(rt, "pieces")
	return l
}

// Every request ends in one settle: an event for each attempt that reached its provider, one
// final event, and no count, reservation or registration that remains.
func TestEveryRequestIsSettledOnce(t *testing.T) {
	t.Parallel()
	spec := trio()
	spec.Router.DisableCooldowns = new(true)
	k := newKit(t, spec)
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLife(rt)
		e := k.open(t)
		if plan := taken(t, e, l.body).plan; len(plan) != 4 {
			rt.Fatalf("plan %v", plan)
		}
		for i, f := range l.fails {
			k.attempt(e.uuid, i+1, f.status, f.flags)
			k.again(t, e.uuid, i+2)
		}
		l.end(k, e)
		e.leave()
		events := k.events(e.uuid)
		if len(events) != l.reached {
			rt.Fatalf("%d events, but %d attempts reached their provider: %+v", len(events), l.reached, events)
		}
		final := 0
		for _, ev := range k.recorded(e.uuid) {
			if ev.Final {
				final++
			}
			if ev.Notice != nil && (l.ending != "unreachable" || ev.Notice.Type != "request.failed" || ev.Cost != 0) {
				rt.Fatalf("noted %+v", ev)
			}
		}
		if final != 1 {
			rt.Fatalf("the request has %d last words", final)
		}
		seen := make(map[int]bool)
		for i, ev := range events {
			if seen[ev.Number] {
				rt.Fatalf("attempt %d has two events", ev.Number)
			}
			seen[ev.Number] = true
			if i < len(events)-1 && ev.Outcome != journal.Failed {
				rt.Fatalf("attempt %d is recorded as %v", ev.Number, ev.Outcome)
			}
		}
		if l.ending != "unreachable" && events[len(events)-1].Outcome != l.outcome {
			rt.Fatalf("the end is recorded as %v, want %v", events[len(events)-1].Outcome, l.outcome)
		}
		k.settled()
	})
}

// end plays the last attempt.
func (l *life) end(k *kit, e *envoy) {
	c := came{attempt: len(l.fails) + 1, status: 200, headers: []string{"content-type", "application/json"}, pieces: []string{goodReply}}
	if l.body != hello {
		c = streamAnswer()
		c.attempt = len(l.fails) + 1
		c.pieces = append(words()[:l.pieces], stop(), reported()+done)
	}
	switch l.ending {
	case "good":
	case "bad":
		c = failedWith(500, "x", "x")
	case "caller's fault":
		c = failedWith(400, "x", "x")
	case "garbage":
		c.headers, c.pieces = []string{"content-type", "text/html"}, []string{"<html>"}
	case "timeout":
		c = local(timedOut)
	case "unreachable":
		c = local(refused)
	case "cut":
		c.pieces = append(words()[:l.pieces], "")
		if l.body == hello {
			c.pieces = []string{goodReply[:len(goodReply)-l.pieces-1]}
		}
	case "left before":
		k.attempt(e.uuid, c.attempt, 0, left())
		return
	case "left within":
		e.head(c)
		if l.body != hello {
			e.begun(c)
		}
		for _, p := range c.pieces[:min(l.pieces, len(c.pieces)-1)] {
			e.piece(p)
			e.out(p)
		}
		k.attempt(e.uuid, c.attempt, 0, left())
		return
	}
	c.attempt = len(l.fails) + 1
	e.answer(c)
}

func TestServesManyAtOnce(t *testing.T) {
	k := newKit(t, pair())
	uuids := make([]string, 64)
	t.Run("together", func(t *testing.T) {
		for i := range uuids {
			e := k.open(t)
			uuids[i] = e.uuid
			t.Run(itoa(i), func(t *testing.T) {
				t.Parallel()
				e.tb = t
				model := [2]string{"fast", "smart"}[i%2]
				word := "word-" + itoa(i)
				body := strings.Replace(strings.Replace(hello, "fast", model, 1), "Hello", word, 1)
				stream := strings.TrimSuffix(body, "}") + `,"stream":true}`
				switch i % 4 {
				case 0:
					if out := taken(t, e, body); !strings.Contains(out.body, word) {
						t.Errorf("the provider gets %s", out.body)
					}
					if a := e.answer(jsonAnswer(strings.Replace(goodReply, "there", word, 1))); !strings.Contains(a.body, word) {
						t.Errorf("the caller gets %s", a.body)
					}
				case 1:
					taken(t, e, stream)
					c := streamAnswer()
					c.pieces = bytesOf(strings.Replace(anthropicStream(), "there", word, 1))
					if a := e.answer(c); !strings.Contains(a.body, word) || !strings.HasSuffix(a.body, done) {
						t.Errorf("the caller gets %s", a.body)
					}
				case 2:
					taken(t, e, stream)
					e.head(streamAnswer())
					e.begun(streamAnswer())
					e.piece(text(word))
					if got := e.out(""); !strings.Contains(got, word) {
						t.Errorf("the caller gets %s", got)
					}
					k.attempt(e.uuid, 1, 0, left())
					e.leave()
				case 3:
					taken(t, e, body)
					e.answer(failedWith(400, "x", "x"))
				}
			})
		}
	})
	for _, uuid := range uuids {
		k.event(uuid)
	}
	k.settled()
}
