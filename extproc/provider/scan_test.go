package provider_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// scanners are how the responses of a provider are read for callers of its own language.
type scanners struct {
	provider string
	reply    func(body []byte, f *splice.ReplyFacts) error
	event    func(data []byte, f *splice.ChunkFacts) error
	last     string // what the last event of a stream has; empty if no event is marked as the last one
}

// TestScannersAgreeWithCodecs reads the responses of a provider's golden files twice: decoded, as
// for callers of other languages, and scanned, as for its own callers. Both find the same model,
// usage and reason for the end.
func TestScannersAgreeWithCodecs(t *testing.T) {
	for _, by := range []scanners{
		{"anthropic", splice.Message, splice.MessageEvent, "message_stop"},
		{"gemini", googlecaller.Reply, googlecaller.Event, ""},
		{"cohere", coherecaller.Reply, coherecaller.Event, "message-end"},
		{"bedrock", converse.Reply, converse.Event, `"usage"`},
	} {
		t.Run(by.provider, func(t *testing.T) { agree(t, by) })
	}
}

func agree(t *testing.T, by scanners) {
	t.Helper()
	files, err := filepath.Glob("testdata/" + by.provider + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	whole, streamed := 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reply, ask := []byte(nil), ""
		for _, f := range archive.Files {
			switch f.Name {
			case replyHTTP:
				reply = f.Data
			case upstreamHTTP:
				ask = string(f.Data)
			}
		}
		if reply == nil || strings.Contains(ask, "gateway_structured_answer") { // the codec takes that tool out
			continue
		}
		status, header, body := parse(t, reply)
		switch {
		case status != http.StatusOK:
		case header("content-type") == eventstream.Media && !strings.Contains(ask, "/converse"):
		case strings.HasPrefix(header("content-type"), "text/event-stream") && by.provider == "bedrock": // OpenAI's
		case strings.HasPrefix(header("content-type"), "text/event-stream"), header("content-type") == eventstream.Media:
			streamed++
			scanStream(t, file, by, events(body))
		default:
			scanWhole(t, file, by, body)
			whole++
		}
	}
	if whole < 5 || streamed < 5 {
		t.Errorf("only %d whole responses and %d streams were compared", whole, streamed)
	}
}

func scanWhole(t *testing.T, file string, by scanners, body []byte) {
	t.Helper()
	p, _ := byName(by.provider)
	facts := splice.ReplyFacts{Collect: true}
	scanned := by.reply(body, &facts)
	reply, err := codec(p).Decode(body)
	if err != nil {
		return // what the codec rejects, the scanner may pass on
	}
	if scanned != nil {
		t.Errorf("%s: %v", file, scanned)
		return
	}
	if want := reply.Usage; facts.HasUsage != want.Known() || facts.Tokens != want.Tokens {
		t.Errorf("%s: scanned %+v, decoded %+v", file, facts.Tokens, want)
	}
	if got, want := facts.FinishReason, reply.Choices[len(reply.Choices)-1].Finish; got != string(want) {
		t.Errorf("%s: scanned the end %q, decoded %q", file, got, want)
	}
	if got := strings.Trim(string(facts.Model.Of(body)), `"`); got != reply.Model {
		t.Errorf("%s: scanned the model %s, decoded %s", file, got, reply.Model)
	}
	if want := reply.Choices[0].Text; !strings.Contains(string(facts.Text), want) {
		t.Errorf("%s: scanned the text %q, decoded %q", file, facts.Text, want)
	}
}

func scanStream(t *testing.T, file string, by scanners, all []event) {
	t.Helper()
	p, _ := byName(by.provider)
	stream := codec(p).Stream()
	facts := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
	var got wire.Usage
	var finish, wantFinish, text string
	done := false
	all = slices.DeleteFunc(all, func(e event) bool { return splice.IsDone([]byte(e.data)) }) // of proxies
	for _, e := range all {
		if done {
			break // nothing after it is read
		}
		chunks, err := stream.Event(nil, e.name, []byte(e.data))
		if err != nil {
			return
		}
		for i := range chunks {
			text += chunks[i].Text
			if chunks[i].Finish != "" {
				wantFinish = string(chunks[i].Finish)
			}
		}
		if err := by.event([]byte(e.data), &facts); err != nil {
			t.Errorf("%s: %v", file, err)
			return
		}
		switch {
		case facts.HasUsage:
			got = wire.Usage{Tokens: facts.Tokens, Source: usage.Provider}
		case facts.Partial:
			got = wire.Usage{Tokens: facts.Tokens, Partial: true}
		case facts.BadUsage:
			got.Bad = true
		}
		if facts.FinishReason != "" {
			finish = facts.FinishReason
		}
		done = done || facts.Done
	}
	if want := stream.Usage(); got.Tokens != want.Tokens || got.Known() != want.Known() || got.Partial != want.Partial {
		t.Errorf("%s: scanned %+v, decoded %+v", file, got, want)
	}
	if finish != wantFinish {
		t.Errorf("%s: scanned the end %q, decoded %q", file, finish, wantFinish)
	}
	if len(facts.Text) < len(text) { // it has thinking and arguments of tools as well
		t.Errorf("%s: scanned the text %q, decoded %q", file, facts.Text, text)
	}
	if marked := by.last != "" && slices.ContainsFunc(all, func(e event) bool { return strings.Contains(e.data, by.last) }); marked != done {
		t.Errorf("%s: the end is %v", file, done)
	}
}
