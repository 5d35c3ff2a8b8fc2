package extproc

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// atBedrock is a deployment at Bedrock, with an API key.
func atBedrock(model string) catalog.DeploymentSpec {
	d := place("bedrock", "fast", "", 0)
	d.Model, d.APIBase = "bedrock/"+model, "https://bedrock.example"
	d.Cloud = map[string]vault.Secret{cloud.AWSRegion: vault.NewSecret("us-east-1")}
	return d
}

// awsFrame is an event as AWS's own encoder writes it.
func awsFrame(tb testing.TB, name, data string) string {
	tb.Helper()
	kind := "event"
	if strings.HasSuffix(name, "Exception") {
		kind = "exception"
	}
	m := aws.Message{Payload: []byte(data)}
	m.Headers.Set(":message-type", aws.StringValue(kind))
	m.Headers.Set(":"+kind+"-type", aws.StringValue(name))
	m.Headers.Set(":content-type", aws.StringValue("application/json"))
	var b bytes.Buffer
	if err := aws.NewEncoder().Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// framedAnswer is a stream of AWS's frames.
func framedAnswer(pieces ...string) came {
	return came{status: 200, headers: []string{"content-type", "application/vnd.amazon.eventstream"}, pieces: pieces}
}

// conversed is a stream of n pieces of text of Converse.
func conversed(tb testing.TB, n int) came {
	tb.Helper()
	c := framedAnswer(awsFrame(tb, "messageStart", `{"p":"abcdefgh","role":"assistant"}`))
	for range n {
		c.pieces = append(c.pieces, awsFrame(tb, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hi"},"p":"abcdefghijklmnopqrstuv"}`))
	}
	c.pieces = append(c.pieces, awsFrame(tb, "contentBlockStop", `{"contentBlockIndex":0,"p":"abc"}`)+awsFrame(tb, "messageStop", `{"p":"ab","stopReason":"end_turn"}`)+
		awsFrame(tb, "metadata", `{"metrics":{"latencyMs":431},"p":"abcd","usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15}}`))
	return c
}

// invoked is a stream in Anthropic's language with which InvokeModel responds, one frame an event.
func invoked(tb testing.TB, events []string) came {
	tb.Helper()
	c := framedAnswer()
	for _, e := range events {
		if _, data, ok := strings.Cut(strings.TrimSpace(e), "\ndata: "); ok {
			c.pieces = append(c.pieces, awsFrame(tb, "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(data))+`","p":"abcdefgh"}`))
		}
	}
	return c
}

// A damaged stream ends with an error for callers of each language, and costs what came before.
func TestBedrockStreams(t *testing.T) {
	t.Parallel()
	const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	whole := strings.Join(conversed(t, 1).pieces, "")
	start := awsFrame(t, "messageStart", `{"role":"assistant"}`) + awsFrame(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hi"}}`)
	message := strings.Join(invoked(t, strings.SplitAfter(anthropicStream(), "\n\n")).pieces, "")
	begun := strings.Join(invoked(t, strings.SplitAfter(anthropicStream(), "\n\n")[:4]).pieces, "")
	flipped := func(frame string) string { return frame[:len(frame)-1] + string(frame[len(frame)-1]^1) }
	frame := awsFrame(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":" there."}}`)
	for _, test := range []struct {
		name, stream string
		messages     bool // a caller of Anthropic's language, whose events pass
		outcome      usage.Outcome
		has          string
	}{
		{"whole", whole, false, journal.Success, "data: [DONE]\n\n"},
		{"whole message", message, true, journal.Success, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		{"a wrong checksum", start + flipped(frame), false, journal.Failed, `"code":"upstream_invalid_response"`},
		{"a wrong checksum in a message", begun + flipped(frame), true, journal.Failed, `event: error`},
		{"a length of 0", start + strings.Repeat("\x00", 12), false, journal.Failed, `"code":"upstream_invalid_response"`},
		{"a length of 4 GiB", start + strings.Repeat("\xff", 12), false, journal.Failed, `"error"`},
		{"cut in the prelude", start + frame[:7], false, journal.Failed, `"error"`},
		{"cut between frames", start, false, journal.Failed, `"error"`},
		{"cut in a message", begun + frame[:20], true, journal.Failed, "event: error"},
		{"an unknown event", start + awsFrame(t, "somethingNew", `{"x":1}`) + strings.TrimPrefix(whole, conversed(t, 0).pieces[0]), false, journal.Success, "data: [DONE]\n\n"},
		{"an exception", start + awsFrame(t, "throttlingException", `{"message":"slow down"}`), false, journal.Failed, `"code":"upstream_rate_limited"`},
		{"an exception in a message", begun + awsFrame(t, "throttlingException", `{"message":"slow down"}`), true, journal.Failed, "event: error"},
		{"a page", "<html>Bad Gateway</html>", false, journal.Failed, `"code":"upstream_invalid_response"`},
	} {
		for _, size := range []int{1, 50, 1 << 20} {
			k := newKit(t, alone(atBedrock(sonnet)))
			e := k.open(t)
			path, body := "/v1/chat/completions", streaming()
			if test.messages {
				path, body = "/v1/messages", strings.Replace(helloMessages, "{", `{"stream":true,`, 1)
			}
			list := plainHeaders(e.uuid, "authorization", "Bearer "+appKey)
			list[1] = path
			if out := e.request(list, body); out.refused != nil {
				t.Fatal(out.refused.body)
			}
			var pieces []string
			for at := 0; at < len(test.stream); at += size {
				pieces = append(pieces, test.stream[at:min(at+size, len(test.stream))])
			}
			a := e.answer(framedAnswer(append(pieces, "")...))
			if !strings.Contains(a.body, test.has) || strings.Contains(a.body, "event-type") {
				t.Errorf("%s, in pieces of %d: the caller gets %q", test.name, size, a.body)
			}
			if ev := k.event(e.uuid); ev.Outcome != test.outcome || test.outcome == journal.Success && (ev.Tokens != usage.Tokens{Input: 10, Output: 5}) {
				t.Errorf("%s, in pieces of %d: event %+v", test.name, size, ev)
			}
		}
	}
}

// Models that embed say in a header what they have read, if not in the response. Callers get it as usage.
func TestBedrockEmbeddings(t *testing.T) {
	t.Parallel()
	const vector = `{"embeddings":{"float":[[0.5]]},"response_type":"embeddings_by_type"}`
	for name, test := range map[string]struct {
		model, reply, header string
		tokens               int64
		source               usage.Source
	}{
		"in a header":            {"us.cohere.embed-v4:0", vector, "7", 7, usage.Provider},
		"in the response":        {"amazon.titan-embed-text-v2:0", `{"embedding":[0.5],"inputTextTokenCount":3}`, "7", 3, usage.Provider},
		"nowhere":                {"us.cohere.embed-v4:0", vector, "", 1, usage.Estimated},
		"less than nothing":      {"us.cohere.embed-v4:0", vector, "-7", 1, usage.Estimated},
		"no number":              {"us.cohere.embed-v4:0", vector, "seven", 1, usage.Estimated},
		"more than there can be": {"us.cohere.embed-v4:0", vector, "9223372036854775807", 1, usage.Provider},
	} {
		k := newKit(t, alone(atBedrock(test.model)))
		e := k.open(t)
		if out := e.request(to(e, "/v1/embeddings"), `{"model":"fast","input":"hello"}`); out.refused != nil || !strings.HasSuffix(out.headers[":path"], "/invoke") {
			t.Fatalf("%s: sent to %s: %+v", name, out.headers[":path"], out.refused)
		}
		c := jsonAnswer(test.reply)
		if test.header != "" {
			c.headers = append(c.headers, "x-amzn-bedrock-input-token-count", test.header)
		}
		a := e.answer(c)
		ev := k.event(e.uuid)
		if name == "more than there can be" { // it is capped
			if ev.Tokens.Input > 1000 {
				t.Errorf("%s: recorded %+v", name, ev)
			}
		} else if ev.Tokens.Input != test.tokens || ev.Source != test.source || !strings.Contains(a.body, `"usage":{"prompt_tokens":`+itoa(int(test.tokens))+",") {
			t.Errorf("%s: recorded %+v, sent %s", name, ev, a.body)
		}
		k.settled()
	}
}

// What a driver signs and what the gateway sets of itself is the same header once.
func TestHeadersAreSetOnce(t *testing.T) {
	t.Parallel()
	for _, d := range []catalog.DeploymentSpec{
		place("solo", "fast", "up", 0), claude("claude", "fast", 0),
		atBedrock("amazon.nova-pro-v1:0"), atBedrock("openai.gpt-oss-120b-1:0"), atBedrock("anthropic.claude-sonnet-4-5-20250929-v1:0"),
	} {
		for path, body := range map[string]string{"/v1/chat/completions": hello, "/v1/messages": helloMessages, "/v1/responses": helloResponses} {
			k := newKit(t, alone(d))
			e := k.open(t)
			out := e.request(to(e, path), body)
			if out.refused != nil || out.headers["content-type"] != "application/json" || out.headers[setTwice] != "" {
				t.Errorf("%s by %s: content type %s, twice %s: %+v", d.Model, path, out.headers["content-type"], out.headers[setTwice], out.refused)
			}
			e.close()
		}
	}
}
