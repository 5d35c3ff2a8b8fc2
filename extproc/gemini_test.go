package extproc

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// geminiEvent is an event of Google's, with a part and the usage so far.
func geminiEvent(part, finish, counts string) string {
	if finish != "" {
		finish = `,"finishReason":"` + finish + `"`
	}
	return `data: {"candidates":[{"content":{"parts":[` + part + `],"role":"model"}` + finish + `}],"usageMetadata":{` + counts + `},"modelVersion":"gemini-up"}` + "\r\n\r\n"
}

// Google's streams have no last event: the caller's end comes with the end of the response, in whatever
// pieces that arrives.
func TestGeminiStreams(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase = "gemini/gemini-3-flash", "https://google.example"
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
	first := geminiEvent(`{"text":"Hi"}`, "", `"promptTokenCount":10,"candidatesTokenCount":40,"thoughtsTokenCount":5`)
	last := geminiEvent(`{"text":" there."}`, "STOP", `"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":5`)
	for _, test := range []struct {
		name    string
		pieces  []string
		whole   bool
		outcome usage.Outcome
		tokens  usage.Tokens
	}{
		{"the end alone", []string{first, last, ""}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"the end with the last event", []string{first + last}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"no blank line at the end", []string{first, strings.TrimRight(last, "\r\n")}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"cut", []string{first, ""}, false, journal.Failed, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
	} {
		e := k.open(t)
		got := relayed(t, e, asking(), test.pieces...)
		if strings.HasSuffix(got, "data: [DONE]\n\n") != test.whole || strings.Contains(got, `"error"`) == test.whole || !strings.Contains(got, `"content":"Hi"`) {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		if test.whole != strings.Contains(got, `"completion_tokens":45,`) {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		if ev := k.event(e.uuid); ev.Tokens != test.tokens || ev.Source != usage.Provider || ev.Outcome != test.outcome {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
}
