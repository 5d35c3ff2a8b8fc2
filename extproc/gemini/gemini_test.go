package gemini_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// current is a target of the third generation.
func current() driver.Target {
	return driver.Target{Model: "gemini-3-flash", Features: gemini.Features("gemini-3-flash")}
}

// ask returns a chat of one message.
func ask(parts ...wire.Part) *wire.Request {
	return &wire.Request{Messages: []wire.Message{{Role: wire.User, Parts: append([]wire.Part{{Text: "hello"}}, parts...)}}}
}

// A model's name is one segment of the path, and none leads elsewhere.
func TestModelsAreOneSegment(t *testing.T) {
	for model, want := range map[string]string{
		"gemini-2.5-pro":         "/v1beta/models/gemini-2.5-pro:generateContent",
		"models/gemini-2.5-pro":  "/v1beta/models/gemini-2.5-pro:generateContent",
		"tunedModels/mine-1":     "/v1beta/tunedModels/mine-1:generateContent",
		"m?key=x#y":              "/v1beta/models/m%3Fkey=x%23y:generateContent",
		"m%2F..%2Fadmin":         "/v1beta/models/m%252F..%252Fadmin:generateContent",
		"m:countTokens":          "/v1beta/models/m%3AcountTokens:generateContent",
		"a b\r\n":                "/v1beta/models/a%20b%0D%0A:generateContent",
		"..":                     "",
		"models/..":              "",
		"models/../files/secret": "",
		"cachedContents/x":       "",
		"a/b":                    "",
		"":                       "",
	} {
		call, err := gemini.Driver{}.Address(driver.Target{Model: model}, driver.Operation{Endpoint: driver.Chat})
		if call.Path != want || (err != nil) != (want == "") || err != nil && fault.From(err).Code != "invalid_model" {
			t.Errorf("%q: %q, %v", model, call.Path, err)
		}
	}
}

// What later generations do differently follows from the name.
func TestFeatures(t *testing.T) {
	type row struct{ schema, thinks, levels, always, signed bool }
	for model, want := range map[string]row{
		"gemini-1.5-flash":               {},
		"gemini-2.0-flash-lite":          {},
		"gemma-3-27b-it":                 {},
		"gemini-2.5-flash-lite":          {schema: true, thinks: true},
		"gemini-2.5-pro":                 {schema: true, thinks: true, always: true},
		"models/gemini-2.5-flash":        {schema: true, thinks: true},
		"gemini-3-flash-preview":         {schema: true, thinks: true, levels: true, signed: true},
		"gemini-3.1-pro-preview":         {schema: true, thinks: true, levels: true, signed: true, always: true},
		"gemini-3.5-flash-lite":          {schema: true, thinks: true, levels: true, signed: true},
		"gemini-3.8-flash":               {schema: true, thinks: true, levels: true, signed: true, always: true},
		"gemini-4-argon":                 {schema: true, thinks: true, levels: true, signed: true, always: true},
		"gemini-flash-latest":            {schema: true, thinks: true, levels: true, signed: true, always: true},
		"tunedModels/of-our-own-weather": {schema: true, thinks: true, levels: true, signed: true, always: true},
	} {
		f := gemini.Features(model)
		if got := (row{f.JSONSchema, !f.NoReasoning, f.AdaptiveThinking, f.AlwaysThinks, f.SignedCalls}); got != want {
			t.Errorf("%s: got %+v, want %+v", model, got, want)
		}
	}
}

// Names of functions have Google's letters, and are refused with their path otherwise.
func TestToolNames(t *testing.T) {
	for name, fits := range map[string]bool{
		"f": true, "_f": true, "mcp__a:b.c-d": true, strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false, "9lives": false, "grüße": false, "a b": false, "-a": false,
	} {
		in := ask()
		in.Tools = []wire.Tool{{Name: "first"}, {Name: name}}
		body, err := gemini.Codec{}.Encode(in, current())
		switch {
		case fits && (err != nil || !strings.Contains(string(body), `"`+name+`"`)):
			t.Errorf("%s is sent as %s (%v)", name, body, err)
		case !fits && (err == nil || fault.From(err).Param != "tools[1].function.name"):
			t.Errorf("%s is not refused: %v", name, err)
		}
	}
}

// A signature goes back to the call that it came with, in whatever order and company the caller
// sends the calls, and to no other.
func TestSignaturesReturnToTheirCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		var parts []any
		want := map[string]string{} // signatures by argument
		for i := range rapid.IntRange(1, 5).Draw(t, "calls") {
			argument := string(rune('a' + i))
			call := map[string]any{"name": "f", "args": map[string]string{"q": argument}}
			if rapid.Bool().Draw(t, "id") {
				call["id"] = rapid.StringMatching(`[a-z:/ é]{1,9}`).Draw(t, "id") + argument
			}
			part := map[string]any{"functionCall": call}
			if i == 0 || rapid.Bool().Draw(t, "signed") {
				want[argument] = base64.StdEncoding.EncodeToString([]byte(rapid.StringN(1, 9, -1).Draw(t, "signature")))
				part["thoughtSignature"] = want[argument]
			}
			parts = append(parts, part)
		}
		body, err := json.Marshal(map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": parts}, "finishReason": "STOP"}}})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := gemini.Codec{}.Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		c := reply.Choices[0]
		said := wire.Message{Role: wire.Assistant}
		for _, b := range c.Thinking {
			said.Parts = append(said.Parts, wire.Part{Kind: wire.RedactedPart, Signature: b.Redacted})
		}
		order := rapid.Permutation(c.ToolCalls).Draw(t, "order")
		for i := range order {
			said.Parts = append(said.Parts, wire.Part{Kind: wire.ToolCallPart, Call: &order[i]})
		}
		in := ask()
		in.Messages = append(in.Messages, said)
		sent, err := gemini.Codec{}.Encode(in, current())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, p := range partsOf(t, sent, 1) {
			if p.Signature != "" && p.Signature != "skip_thought_signature_validator" {
				got[p.Call.Args["q"]] = p.Signature
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-came +sent) %s\n%s", diff, sent)
		}
	})
}

type sentPart struct {
	Text      string `json:"text"`
	Signature string `json:"thoughtSignature"`
	Call      struct {
		ID   string            `json:"id"`
		Args map[string]string `json:"args"`
	} `json:"functionCall"`
	Response struct {
		ID       string            `json:"id"`
		Response map[string]string `json:"response"`
	} `json:"functionResponse"`
}

// partsOf returns the parts of the i-th content of a request.
func partsOf(t interface{ Fatal(args ...any) }, body []byte, i int) []sentPart {
	var out struct {
		Contents []struct {
			Parts []sentPart `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(body, &out); err != nil || i >= len(out.Contents) {
		t.Fatal(err, string(body))
	}
	return out.Contents[i].Parts
}

// Ids that the codec makes are the same whole and streamed, and differ between calls, candidates and
// responses.
func TestMadeIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, response := range []string{"r1", "r2"} {
		body := `{"responseId":"` + response + `","candidates":[` +
			`{"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]},"finishReason":"STOP"},` +
			`{"index":1,"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`
		reply, err := gemini.Codec{}.Decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var whole, streamed []string
		for _, c := range reply.Choices {
			for _, call := range c.ToolCalls {
				whole = append(whole, call.ID)
				if seen[call.ID] || len(call.ID) > 40 {
					t.Errorf("the id %s comes twice, or is too long", call.ID)
				}
				seen[call.ID] = true
			}
		}
		s := gemini.Codec{}.Stream()
		for _, event := range []string{
			`{"responseId":"` + response + `","candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`,
			`{"responseId":"` + response + `","candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`,
			`{"responseId":"` + response + `","candidates":[{"index":1,"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`,
		} {
			chunks, err := s.Event(nil, "", []byte(event))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chunks {
				if c.Tool != nil {
					streamed = append(streamed, c.Tool.ID)
				}
			}
		}
		if diff := cmp.Diff(whole, streamed); diff != "" {
			t.Errorf("(-whole +streamed) %s", diff)
		}
	}
}

// Every reason that Google documents ends the response in one of OpenAI's ways.
func TestFinishReasons(t *testing.T) {
	reasons := map[wire.Finish]string{
		wire.FinishStop:   "STOP MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE MISSING_THOUGHT_SIGNATURE SOMETHING_NEW",
		wire.FinishLength: "MAX_TOKENS",
		wire.FinishFilter: "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII OTHER MODEL_ARMOR NO_IMAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER",
	}
	for want, words := range reasons {
		for word := range strings.FieldsSeq(words) {
			for parts, calls := range map[string]bool{`{"text":"a"}`: false, `{"functionCall":{"name":"f"}}`: true} {
				reply, err := gemini.Codec{}.Decode([]byte(`{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"` + word + `"}]}`))
				if err != nil {
					t.Fatal(err)
				}
				expected := want
				if calls && want == wire.FinishStop {
					expected = wire.FinishToolCalls
				}
				if got := reply.Choices[0].Finish; got != expected {
					t.Errorf("%s with calls %v: %s, want %s", word, calls, got, expected)
				}
			}
		}
	}
	for _, reason := range []string{"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"} {
		reply, err := gemini.Codec{}.Decode([]byte(`{"promptFeedback":{"blockReason":"` + reason + `"}}`))
		if err != nil || len(reply.Choices) != 1 || reply.Choices[0].Finish != wire.FinishFilter {
			t.Errorf("%s: %+v, %v", reason, reply, err)
		}
	}
}

// A stream goes on after a candidate has ended: with another one, sources, usage.
func TestStreamEnds(t *testing.T) {
	s := gemini.Codec{}.Stream()
	var got []wire.Chunk
	for _, step := range []struct {
		data     string
		complete bool
	}{
		{``, false},
		{`{"usageMetadata":{"promptTokenCount":3}}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, false},
		{`{"candidates":[{"index":-1},{"index":4000000000}]}`, false},
		{`{"candidates":[{"finishReason":"STOP"}]}`, true},
		{`{"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}}]}`, false},
		{`{"candidates":[{"index":1,"finishReason":"STOP"}]}`, true},
		{`{"candidates":[{"content":{"parts":[{"text":"too late"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.test"}}]}}]}`, true},
		{`{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.test"}}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`, true},
		{`[DONE]`, true},
		{`garbage`, true},
	} {
		var err error
		if got, err = s.Event(got, "", []byte(step.data)); err != nil || s.Complete() != step.complete || s.Ended() {
			t.Fatalf("%s: complete %v, ended %v, %v", step.data, s.Complete(), s.Ended(), err)
		}
	}
	if u := s.Usage(); u.Tokens.Input != 3 || u.Tokens.Output != 2 || !u.Known() {
		t.Errorf("usage %+v", u)
	}
	text, sources := "", 0
	for _, c := range got {
		text += c.Text
		sources += len(c.Annotations)
	}
	if text != "ab" || sources != 1 {
		t.Errorf("the text %q with %d sources", text, sources)
	}
}

// A wait that the provider names is kept, within an hour; a header is more precise.
func TestRetryDelay(t *testing.T) {
	for _, c := range []struct {
		delay, header string
		want          time.Duration
	}{
		{`"17s"`, "", 17 * time.Second},
		{`"0.5s"`, "", 500 * time.Millisecond},
		{`"17s"`, "3", 3 * time.Second},
		{`"9999999s"`, "", time.Hour},
		{`"-5s"`, "", 0},
		{`"soon"`, "", 0},
		{`17`, "", 0},
		{`{"seconds":17}`, "", 0},
	} {
		body := `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + c.delay + `}]}}`
		f := gemini.Driver{}.Classify(429, func(name string) string {
			if name == "retry-after" {
				return c.header
			}
			return ""
		}, []byte(body))
		if f.RetryAfter != c.want || f.Code != "upstream_rate_limited" {
			t.Errorf("%s, %s: %v (%s)", c.delay, c.header, f.RetryAfter, f.Code)
		}
	}
}

// No credential of the gateway is in an error, wherever Google repeats it.
func TestKeysStayInside(t *testing.T) {
	const key = "AIzaSyD-123456789_abcdefghijklmnopqrstu"
	for _, status := range []string{"INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND", "INTERNAL", "UNHEARD_OF", ""} {
		for _, say := range []string{"key " + key, "https://x.test/?key=" + key + "&alt=sse", `"` + key + `"`, "api_key:" + key, "Bearer " + key, "AQ.Ab8RN6Iabcdefghijklmnop"} {
			body, err := json.Marshal(map[string]any{"error": map[string]any{"code": 400, "message": say, "status": status}})
			if err != nil {
				t.Fatal(err)
			}
			f := gemini.Driver{}.Classify(400, nil, body)
			if all := f.Error() + f.Fault().Message() + f.ProviderMessage; strings.Contains(all, "SyD-1234") || strings.Contains(all, "Ab8RN6I") {
				t.Errorf("%s %s: %s", status, say, all)
			}
		}
	}
	call, err := gemini.Driver{}.Address(driver.Target{Model: "m", APIKey: vault.NewSecret(key)}, driver.Operation{Endpoint: driver.Chat})
	if err != nil || strings.Contains(call.Path, key) {
		t.Errorf("the key is in the path %s (%v)", call.Path, err)
	}
}

// A schema whose references repeat each other does not grow without bound, and nothing that is not a
// schema breaks the reduction.
func TestReducedSchemas(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(`{"$defs":{"A0":{"type":"string"}`)
	for i := 1; i < 40; i++ {
		name, inner := string(rune('A'+i%26))+string(rune('0'+i/26)), string(rune('A'+(i-1)%26))+string(rune('0'+(i-1)/26))
		bomb.WriteString(`,"` + name + `":{"type":"object","properties":{"a":{"$ref":"#/$defs/` + inner + `"},"b":{"$ref":"#/$defs/` + inner + `"}}}`)
	}
	bomb.WriteString(`},"type":"object","properties":{"x":{"$ref":"#/$defs/N1"}}}`)
	for _, schema := range []string{
		bomb.String(), `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"$ref":"nowhere"},"b":{"$ref":"#/x/y"}}}`,
		`{"properties":[],"items":1,"anyOf":{},"allOf":[1],"enum":1,"type":{}}`, `{"properties":{"a":true}}`, `{"type":["string","null","number"],"properties":{"a":{}}}`,
	} {
		in := ask()
		in.Tools = []wire.Tool{{Name: "f", Schema: jsontext.Value(schema)}}
		body, err := gemini.Codec{}.Encode(in, driver.Target{Model: "gemma-3-27b-it", Features: gemini.Features("gemma-3-27b-it")})
		if err != nil || len(body) > 1<<20 || strings.Contains(string(body), "$ref") {
			t.Errorf("%.80s: %d bytes, %v", schema, len(body), err)
		}
	}
}

// FuzzDecode checks that a response never panics, and fails with a *wire.Failure only; a stream of
// its bytes too.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"é"},{"functionCall":{"name":"f","args":{}},"thoughtSignature":"eA=="}]},"finishReason":"STOP",` +
			`"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[{"segment":{"startIndex":-1,"endIndex":99,"partIndex":7},"groundingChunkIndices":[0,-1,5]}]},` +
			`"logprobsResult":{"chosenCandidates":[{"token":"a"}],"topCandidates":[]}}],"usageMetadata":{"promptTokenCount":-1}}`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"error":{"code":503,"details":[{"retryDelay":"1s"}]}}`, `[{"candidates":[]}]`, `{"candidates":[{"index":1}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, err := gemini.Codec{}.Decode(body)
		if f := (*wire.Failure)(nil); err != nil && !errors.As(err, &f) {
			t.Errorf("%v is no failure", err)
		}
		s := gemini.Codec{}.Stream()
		chunks, streamErr := s.Event(nil, "", body)
		if err == nil && streamErr != nil {
			t.Errorf("whole it is %+v, and streamed %v", reply, streamErr)
		}
		for _, c := range chunks {
			for _, a := range c.Annotations {
				if a.Start < 0 || a.End < a.Start {
					t.Errorf("%s: the source is from %d to %d", body, a.Start, a.End)
				}
			}
			if c.Logprobs != nil && !c.Logprobs.IsValid() {
				t.Errorf("%s: %s", body, c.Logprobs)
			}
		}
		_, _ = s.Usage(), s.Complete()
	})
}
