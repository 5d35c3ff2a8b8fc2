package responses_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/openai/openaitest"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Both sides of the language are what the pipeline wants.
var (
	_ dialect.Dialect = responses.Dialect{}
	_ driver.Codec    = responses.Codec{}
)

// What the codec sends means the same when it is read as a caller's request.
func TestRequestsMeanTheSameWhenReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRequest(t)
		body, err := responses.Codec{}.Encode(want, driver.Target{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		judge().CheckRequest(t, string(driver.Responses), "application/json", body, nil)
		got, err := responses.Dialect{}.DecodeRequest(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		ignore := cmp.Options{cmpopts.IgnoreFields(wire.Request{}, "Echo"), cmpopts.IgnoreFields(wire.Part{}, "At"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Fatalf("(-sent +read) %s\n%s", diff, body)
		}
	})
}

// drawRequest draws a request that this language can say, in its own words.
func drawRequest(t *rapid.T) *wire.Request {
	yes, no := true, false
	out := &wire.Request{Caller: wire.Responses, Model: "m", IncludeUsage: true, Stream: rapid.Bool().Draw(t, "stream"), Messages: drawMessages(t)}
	maybe := func(name string, set func()) {
		if rapid.Bool().Draw(t, name) {
			set()
		}
	}
	maybe("function", func() {
		out.Tools = append(out.Tools, wire.Tool{Name: "f", Description: "d", Schema: jsontext.Value(`{"type":"object"}`), Strict: rapid.SampledFrom([]*bool{&yes, &no}).Draw(t, "strict")})
	})
	maybe("custom", func() {
		out.Tools = append(out.Tools, wire.Tool{Type: "custom", Raw: jsontext.Value(`{"type":"custom","custom":{"name":"c","format":{"type":"grammar","grammar":{"definition":"x","syntax":"lark"}}}}`)})
	})
	maybe("search", func() {
		out.WebSearch = &wire.WebSearch{ContextSize: "high", MostUses: 3, Location: jsontext.Value(`{"city":"Bern"}`), Allowed: []string{"a.test"}}
	})
	if out.Tools != nil {
		maybe("parallel", func() { out.ParallelTools = rapid.SampledFrom([]*bool{&yes, &no}).Draw(t, "yes") })
	}
	out.ToolChoice = rapid.SampledFrom([]wire.ToolChoice{
		{},
		{Mode: wire.ChoiceAuto},
		{Mode: wire.ChoiceNone},
		{Mode: wire.ChoiceRequired},
		{Mode: wire.ChoiceNamed, Name: "f"},
		{Mode: wire.ChoiceNamed, Name: "c", Custom: true},
		{Mode: wire.ChoiceRequired, Allowed: []string{"f", "c"}},
		{Mode: wire.ChoiceAuto, Allowed: []string{"c"}},
	}).Draw(t, "choice")
	out.Format = rapid.SampledFrom([]wire.Format{
		{}, {Kind: wire.FormatObject}, {Kind: wire.FormatSchema, Name: "n", Description: "d", Schema: jsontext.Value(`{"type":"object"}`), Strict: &yes},
	}).Draw(t, "format")
	out.Reasoning = rapid.SampledFrom([]wire.Reasoning{{}, {Effort: "none"}, {Effort: "xhigh"}, {Summary: "detailed"}, {Effort: "low", Summary: "auto"}}).Draw(t, "reasoning")
	maybe("temperature", func() { f := rapid.Float64Range(0, 2).Draw(t, "t"); out.Sampling.Temperature = &f })
	maybe("top_p", func() { f := rapid.Float64Range(0, 1).Draw(t, "p"); out.Sampling.TopP = &f })
	maybe("logprobs", func() {
		n := rapid.Int64Range(0, 20).Draw(t, "n")
		out.Sampling.Logprobs, out.Sampling.TopLogprobs = &yes, &n
	})
	maybe("limit", func() { n := rapid.Int64Range(16, 9000).Draw(t, "limit"); out.MaxTokens = &n })
	maybe("user", func() { out.User = "u" })
	maybe("metadata", func() { out.Metadata = jsontext.Value(`{"a":"b"}`) })
	for _, f := range []wire.Field{
		{Name: "verbosity", Value: jsontext.Value(`"low"`)},
		{Name: "safety_identifier", Value: jsontext.Value(`"s"`)},
		{Name: "prompt_cache_key", Value: jsontext.Value(`"k"`)},
		{Name: "service_tier", Value: jsontext.Value(`"flex"`)},
	} {
		maybe(f.Name, func() { out.Extra = append(out.Extra, f) })
	}
	return out
}

// drawMessages draws messages, none of which the language merges with the one before.
func drawMessages(t *rapid.T) []wire.Message {
	word := func(label string) string { return rapid.StringN(1, 8, -1).Draw(t, label) }
	text := func() wire.Part { return wire.Part{Text: word("text")} }
	var out []wire.Message
	var called []string
	for i := range rapid.IntRange(1, 5).Draw(t, "messages") {
		role := rapid.SampledFrom([]wire.Role{wire.System, wire.Developer, wire.User, wire.Assistant, wire.ToolRole}).Draw(t, "role")
		m := wire.Message{Role: role, Parts: []wire.Part{text()}}
		switch {
		case role == wire.User:
			m.Parts = append(m.Parts, drawMedia(t)...)
		case role == wire.ToolRole && called == nil:
			m.Role = wire.User // the result of no call is rejected
		case role == wire.ToolRole:
			m.Parts = []wire.Part{{Kind: wire.ToolResultPart, Result: &wire.ToolResult{CallID: rapid.SampledFrom(called).Draw(t, "call"), Parts: append(m.Parts, drawMedia(t)...)}}}
		case role == wire.Assistant && i > 0 && out[i-1].Role == wire.Assistant:
			m.Role = wire.User
		case role == wire.Assistant:
			m.Parts = append([]wire.Part{
				{Kind: wire.ThinkingPart, Text: word("thought"), Signature: wire.Mark(wire.Responses, "rs_1:gAAA")},
				{Kind: wire.RedactedPart, Signature: wire.Mark(wire.Responses, ":gAAA")},
			}, text(), wire.Part{Kind: wire.RefusalPart, Text: word("refusal")},
				wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "call_a", Name: "f", Arguments: word("arguments")}},
				wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: "call_b", Name: "c", Arguments: word("input"), Custom: true}}, text())
			m.Parts = m.Parts[:rapid.IntRange(1, len(m.Parts)).Draw(t, "parts")]
		}
		for _, p := range m.Parts {
			if p.Call != nil {
				called = append(called, p.Call.ID)
			}
		}
		out = append(out, m)
	}
	return out
}

// drawMedia draws pictures and files.
func drawMedia(t *rapid.T) []wire.Part {
	all := []wire.Part{
		{Kind: wire.ImagePart, Media: &wire.Media{Data: "aGk=", Type: "image/png", Detail: "low"}},
		{Kind: wire.ImagePart, Media: &wire.Media{URL: "https://x.test/a.png", Detail: "auto"}}, // what is sent without one
		{Kind: wire.ImagePart, Media: &wire.Media{ID: "file_1", Detail: "high"}},
		{Kind: wire.FilePart, Media: &wire.Media{Data: "aGk=", Type: "application/pdf", Name: "a.pdf"}},
		{Kind: wire.FilePart, Media: &wire.Media{URL: "https://x.test/a.pdf"}},
		{Kind: wire.FilePart, Media: &wire.Media{ID: "file_2"}},
	}
	n := rapid.IntRange(0, len(all)).Draw(t, "first medium")
	return all[n:]
}

// What the dialect writes means the same when a provider has written it, whole and streamed.
func TestResponsesMeanTheSameWhenReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks, choice := drawChunks(t)
		tokens := wire.Usage{Source: usage.Provider, Tokens: usage.Tokens{Input: 5, CacheRead: 2, CacheWrite: 1, Output: 4, Reasoning: 1}}
		m := dialect.Meta{ID: "resp_x", Model: "alias", Created: 7}
		body := responses.Dialect{}.EncodeResponse(nil, &wire.Response{Choices: []wire.Choice{choice}, Usage: tokens}, m)
		whole, err := responses.Codec{}.Decode(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		enc := responses.Dialect{}.Stream(m)
		var raw []byte
		for i := range chunks {
			raw = enc.Chunk(raw, &chunks[i])
		}
		judge().CheckResponse(t, string(driver.Responses), openaitest.Reply{Status: 200, Media: "application/json", Body: body}, nil)
		streamed, in := join(t, withoutDeltas(t, events(t, enc.End(raw, &tokens))))
		want := alike(choice)
		if want.Finish != wire.FinishLength && want.Finish != wire.FinishFilter { // the language does not tell these apart
			if want.Finish = wire.FinishStop; len(want.ToolCalls) > 0 {
				want.Finish = wire.FinishToolCalls
			}
		}
		for name, got := range map[string]wire.Choice{"whole": alike(whole.Choices[0]), "streamed": alike(streamed)} {
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s (-said +read): %s", name, diff)
			}
		}
		if diff := cmp.Diff([]wire.Usage{tokens, tokens}, []wire.Usage{whole.Usage, in.Usage()}); diff != "" {
			t.Fatalf("usage (-said +read): %s", diff)
		}
		if !in.Complete() || in.Model() != "alias" || whole.Model != "alias" || whole.Created != 7 {
			t.Fatalf("complete %v, %+v", in.Complete(), whole)
		}
	})
}

// withoutDeltas leaves out some kinds of events, as some providers do: what ends a part, an
// item or the response says it again.
func withoutDeltas(t *rapid.T, in []event) []event {
	left := rapid.IntRange(0, 4).Draw(t, "left out")
	return slices.DeleteFunc(slices.Clone(in), func(e event) bool {
		delta, ends := strings.HasSuffix(e.name, ".delta") || e.name == "response.output_text.annotation.added", strings.HasSuffix(e.name, ".done")
		switch left {
		case 1:
			return delta
		case 2:
			return delta || ends && e.name != "response.output_item.done"
		case 3:
			return delta || ends
		case 4:
			return delta || ends || e.name == "response.output_item.added"
		}
		return false
	})
}

// join reads a stream, as a caller would.
func join(t tester, all []event) (wire.Choice, driver.Stream) {
	t.Helper()
	s, out := responses.Codec{}.Stream(), wire.Choice{}
	thought := ""
	for _, e := range all {
		chunks, err := s.Event(nil, e.name, []byte(e.data))
		if err != nil {
			t.Fatalf("%v: %s", err, e.data)
		}
		for _, c := range chunks {
			out.Text, out.Refusal, thought = out.Text+c.Text, out.Refusal+c.Refusal, thought+c.Thinking
			out.Annotations = append(out.Annotations, c.Annotations...)
			if c.Block != nil {
				if !strings.HasSuffix(thought, c.Block.Text) {
					t.Fatalf("the block has another text than its steps: %q, %+v", thought, c.Block)
				}
				out.Thinking, thought = append(out.Thinking, *c.Block), ""
			}
			if d := c.Tool; d != nil {
				if d.Index == len(out.ToolCalls) {
					out.ToolCalls = append(out.ToolCalls, wire.ToolCall{ID: d.ID, Name: d.Name, Custom: d.Custom})
				}
				out.ToolCalls[d.Index].Arguments += d.Arguments
			}
			if c.Finish != "" {
				out.Finish = c.Finish
			}
		}
	}
	if thought != "" {
		out.Thinking = append(out.Thinking, wire.Thinking{Text: thought})
	}
	return out, s
}

// alike opens the envelopes of proofs, and leaves out what drawChunks draws at random
// places: a source counts for the text that is open then.
func alike(c wire.Choice) wire.Choice {
	c.Annotations, c.Logprobs = nil, nil
	c.Thinking = slices.Clone(c.Thinking)
	for i := range c.Thinking {
		b := &c.Thinking[i]
		for _, proof := range []*string{&b.Signature, &b.Redacted} {
			if *proof != "" {
				*proof = opened(*proof, b.Text)
			}
		}
		if b.Redacted == "" && b.Text == "" {
			b.Redacted, b.Signature = b.Signature, "" // without a text it counts as redacted
		}
	}
	return c
}

// opened returns the proof that an envelope carries, as a caller's request gives it back.
func opened(proof, text string) string {
	own, ok := wire.Unmark(wire.Responses, proof)
	if !ok {
		return proof
	}
	_, encrypted, _ := strings.Cut(own, ":")
	raw, _ := json.Marshal(object{"model": "m", "input": []any{object{"type": "reasoning", "summary": []any{object{"type": "summary_text", "text": text}}, "encrypted_content": encrypted}}})
	a, err := responses.Dialect{}.DecodeRequest(raw)
	if err != nil {
		return err.Error()
	}
	return a.Messages[0].Parts[0].Signature
}

func TestEncodeRejects(t *testing.T) {
	two, penalty, long := int64(2), 0.5, strings.Repeat("x", 100)
	user := func(p wire.Part) []wire.Message { return []wire.Message{{Role: wire.User, Parts: []wire.Part{p}}} }
	for name, c := range map[string]struct {
		request wire.Request
		param   string
		dropped bool // drop_params helps
	}{
		"n":                         {wire.Request{Sampling: wire.Sampling{N: &two}}, "n", true},
		"seed":                      {wire.Request{Sampling: wire.Sampling{Seed: &two}}, "seed", true},
		"stop":                      {wire.Request{Stop: []string{"a"}}, "stop", true},
		"penalty":                   {wire.Request{Sampling: wire.Sampling{PresencePenalty: &penalty}}, "presence_penalty", true},
		"audio out":                 {wire.Request{Modalities: []string{"text", "audio"}}, "modalities", true},
		"another caller's response": {wire.Request{Extra: []wire.Field{{Name: "previous_response_id", Value: jsontext.Value(`"resp_1"`)}}}, "previous_response_id", true},
		"tool":                      {wire.Request{Tools: []wire.Tool{{Type: "file_search", Raw: jsontext.Value(`{"type":"file_search"}`)}}}, "tools[0].type", true},
		"domains":                   {wire.Request{WebSearch: &wire.WebSearch{Blocked: []string{"a.test"}}}, "tools.blocked_domains", true},
		"audio":                     {wire.Request{Messages: user(wire.Part{Kind: wire.AudioPart, Media: &wire.Media{Data: "x"}})}, "messages[0]", false},
		"native":                    {wire.Request{Messages: user(wire.Part{Kind: wire.NativePart, Native: &wire.Native{Type: long}, At: at(3, "content", 2)})}, "input[2].content[1]", false},
		"about":                     {wire.Request{Messages: user(wire.Part{Kind: wire.FilePart, Media: &wire.Media{Data: "x", About: "y"}})}, "messages[0]", false},
		"file of Anthropic":         {wire.Request{Caller: wire.Anthropic, Messages: user(wire.Part{Kind: wire.ImagePart, Media: &wire.Media{ID: "x"}})}, "messages[0]", false},
		"audio said":                {wire.Request{Messages: []wire.Message{{Role: wire.Assistant, Parts: []wire.Part{{Kind: wire.AudioPart, Media: &wire.Media{ID: "x"}}}}}}, "messages[0]", false},
	} {
		_, err := responses.Codec{}.Encode(&c.request, driver.Target{})
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Malformed || e.Param != c.param || e.Detail == "" || strings.Contains(e.Detail, long) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := (responses.Codec{}).Encode(&c.request, driver.Target{DropParams: true}); (err == nil) != c.dropped {
			t.Errorf("%s: with drop_params: %v", name, err)
		}
	}
}

func TestEncodeWritesWhatOnlyThisLanguageNeeds(t *testing.T) {
	limit, cool, id := int64(9000), 0.5, strings.Repeat("x", 100)
	a := &wire.Request{
		Caller: wire.Anthropic, Model: "alias", Stream: true, MaxTokens: &limit, Sampling: wire.Sampling{Temperature: &cool},
		Reasoning: wire.Reasoning{Mode: "enabled", Budget: 2048},
		Extra:     []wire.Field{{Name: "top_k", Value: jsontext.Value("1")}, {Name: "service_tier", Value: jsontext.Value(`"standard_only"`)}},
		Tools:     []wire.Tool{{Name: "f"}},
		Messages: []wire.Message{
			{Role: wire.Assistant, Parts: []wire.Part{
				{Kind: wire.ThinkingPart, Text: "another provider's", Signature: "EqQB"},
				{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: id, Name: "f", Arguments: "{}"}},
			}},
			{Role: wire.User, Parts: []wire.Part{
				{Kind: wire.ToolResultPart, Result: &wire.ToolResult{CallID: id}},
				{Kind: wire.FilePart, Media: &wire.Media{Type: "text/plain", Data: "aGk=", Name: "a.txt"}},
				{Kind: wire.FilePart, Media: &wire.Media{Type: "application/pdf", Data: "aGk="}},
			}},
		},
	}
	got, err := responses.Codec{}.Encode(a, driver.Target{Model: "o", MaxOutputTokens: 4000, Features: driver.Features{NoSampling: true}})
	if err != nil {
		t.Fatal(err)
	}
	_, short, _ := strings.Cut(string(got), `"call_id":"`)
	short, _, _ = strings.Cut(short, `"`) // any id that fits
	want := `{"model":"o","input":[{"type":"function_call","call_id":"` + short + `","name":"f","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"` + short + `","output":""},` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a.txt\n\nhi"},{"type":"input_file","file_data":"data:application/pdf;base64,aGk=","filename":"document.pdf"}]}],` +
		`"tools":[{"type":"function","name":"f","parameters":null,"strict":false}],"reasoning":{"effort":"medium","summary":"auto"},"max_output_tokens":4000,` +
		`"include":["reasoning.encrypted_content"],"store":false,"stream":true,"service_tier":"default"}`
	if diff := cmp.Diff(want, string(got)); diff != "" || len(short) != 64 {
		t.Errorf("%d (-want +got) %s", len(short), diff)
	}
}

// Callers of other APIs ask for a single token to see whether a model answers. This API rejects that.
func TestLimitsAreRaisedToTheLeast(t *testing.T) {
	for limit, want := range map[int64]string{1: "16", 16: "16", 17: "17"} {
		got, err := responses.Codec{}.Encode(&wire.Request{Model: "m", MaxTokens: &limit, Messages: []wire.Message{{Role: wire.User}}}, driver.Target{Model: "o"})
		if err != nil || !strings.Contains(string(got), `"max_output_tokens":`+want+`,`) {
			t.Errorf("%d: %v %s", limit, err, got)
		}
		judge().CheckRequest(t, string(driver.Responses), "application/json", got, nil)
	}
}

func TestDecodeRejectsWhatIsNoResponse(t *testing.T) {
	for body, want := range map[string]fault.Kind{
		``:                fault.Upstream,
		`<html>`:          fault.Upstream,
		`{}`:              fault.Upstream,
		`{"output":null}`: fault.Upstream,
		`{"output":[{"type":"message","content":7}]}`:                                                            fault.Upstream,
		`{"status":"in_progress","output":[]}`:                                                                   fault.Upstream,
		`{"status":"failed","output":[],"error":{"code":"server_error","message":"x"}}`:                          fault.Upstream,
		`{"status":"failed","output":[],"error":{"code":"invalid_prompt","message":"x"}}`:                        fault.Malformed,
		`{"status":"failed","output":[],"error":{"code":"invalid_image_url","message":"x"}}`:                     fault.Malformed,
		`{"error":{"message":"no","type":"invalid_request_error","code":"context_length_exceeded","param":"i"}}`: fault.Malformed,
	} {
		_, err := responses.Codec{}.Decode([]byte(body))
		var f *wire.Failure
		if !errors.As(err, &f) || f.Kind != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestStreamReadsWhatProvidersSend(t *testing.T) {
	for name, c := range map[string]struct {
		in   []string
		want string // text, refusal and reasoning; or the failure's kind
	}{
		"unknown events": {[]string{``, `{"type":"response.queued"}`, `{"type":"response.new_kind","delta":{"a":1}}`, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"output":[]}}`, `garbage`}, "a||"},
		"unknown items":  {[]string{`{"type":"response.output_item.done","output_index":0,"item":{"type":"shell_call","arguments":{}}}`, `{"type":"response.completed","response":{"output":[{"type":"mcp_call","summary":7}]}}`}, "||"},
		"raw reasoning":  {[]string{`{"type":"response.reasoning_text.delta","delta":"hm"}`, `{"type":"response.reasoning_text.done","text":"hm."}`, `{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm."}]}]}}`}, "||hm."},
		"both":           {[]string{`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `{"type":"response.reasoning_text.delta","delta":"raw"}`, `{"type":"response.completed","response":{"output":[]}}`}, "||hm"},
		"paragraphs":     {[]string{`{"type":"response.reasoning_summary_text.delta","delta":"a"}`, `{"type":"response.reasoning_summary_text.delta","summary_index":1,"delta":"b"}`, `{"type":"response.completed","response":{"output":[]}}`}, "||a\n\nb"},
		"error":          {[]string{`{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null}`}, "upstream"},
		"nested error":   {[]string{`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`}, "malformed"},
		"bare error":     {[]string{`{"error":{"type":"invalid_request_error","message":"no"}}`}, "malformed"},
		"failed":         {[]string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_prompt","message":"no"}}}`}, "malformed"},
		"not JSON":       {[]string{`{"type":"response.output_text.delta","delta":7}`}, "upstream"},
		"no response":    {[]string{`{"type":"response.completed"}`}, "upstream"},
		"broken item":    {[]string{`{"type":"response.output_item.done","item":{"type":"message","content":7}}`}, "upstream"},
	} {
		s, got := responses.Codec{}.Stream(), wire.Choice{Thinking: []wire.Thinking{{}}}
		result := ""
		for _, data := range c.in {
			chunks, err := s.Event(nil, "", []byte(data))
			if f, ok := errors.AsType[*wire.Failure](err); ok {
				result = f.Kind.String()
				break
			}
			for _, c := range chunks {
				got.Text, got.Refusal, got.Thinking[0].Text = got.Text+c.Text, got.Refusal+c.Refusal, got.Thinking[0].Text+c.Thinking
			}
		}
		if result == "" {
			result = got.Text + "|" + got.Refusal + "|" + got.Thinking[0].Text
		}
		if result != c.want || s.Complete() != strings.Contains(c.want, "|") {
			t.Errorf("%s: got %q, complete %v; want %q", name, result, s.Complete(), c.want)
		}
	}
}

func TestLogprobsHaveTheFormOfChats(t *testing.T) {
	const probs = `[{"token":"a","bytes":[97],"logprob":-1,"top_logprobs":[{"token":"b","logprob":-2}]}]`
	const want = `{"content":[{"token":"a","bytes":[97],"logprob":-1,"top_logprobs":[{"token":"b","bytes":null,"logprob":-2}]}],"refusal":null}`
	item := `{"type":"message","content":[{"type":"output_text","text":"a","logprobs":` + probs + `}]}`
	r, err := responses.Codec{}.Decode([]byte(`{"output":[` + item + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Choices[0].Logprobs); got != want {
		t.Errorf("whole: got %s", got)
	}
	for name, data := range map[string]string{
		"delta":        `{"type":"response.output_text.delta","delta":"a","logprobs":` + probs + `}`,
		"without one":  `{"type":"response.output_text.done","text":"a","logprobs":` + probs + `}`,
		"only at last": `{"type":"response.output_item.done","item":` + item + `}`,
	} {
		s := responses.Codec{}.Stream()
		chunks, err := s.Event(nil, "", []byte(data))
		if err != nil || len(chunks) != 1 || chunks[0].Text != "a" || string(chunks[0].Logprobs) != want {
			t.Errorf("%s: got %+v, %v", name, chunks, err)
		}
		if chunks, err = s.Event(nil, "", []byte(`{"type":"response.output_item.done","item":`+item+`}`)); err != nil || len(chunks) != 0 {
			t.Errorf("%s: the end repeats it: %+v, %v", name, chunks, err)
		}
	}
}

func TestSearchesAndImpossibleUsage(t *testing.T) {
	for report, want := range map[string]wire.Usage{
		`{"input_tokens":3,"output_tokens":2}`: {Source: usage.Provider, Tokens: usage.Tokens{Input: 3, Output: 2, SearchQueries: 1}},
		`{"input_tokens":3,"input_tokens_details":{"cached_tokens":1,"cache_write_tokens":1},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1}}`: {
			Source: usage.Provider, Tokens: usage.Tokens{Input: 3, CacheRead: 1, CacheWrite: 1, Output: 2, Reasoning: 1, SearchQueries: 1},
		},
		`null`:                                  {},
		`{"input_tokens":3}`:                    {},
		`{"input_tokens":-1,"output_tokens":2}`: {Bad: true},
		`[]`:                                    {Bad: true},
		`{"input_tokens":3,"output_tokens":2,"output_tokens_details":{"reasoning_tokens":3}}`: {Bad: true},
	} {
		r, err := responses.Codec{}.Decode([]byte(`{"output":[{"type":"web_search_call","action":{"type":"search"}},{"type":"web_search_call","action":{"type":"open_page"}}],"usage":` + report + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Usage); diff != "" {
			t.Errorf("%s: (-want +got) %s", report, diff)
		}
	}
}

// FuzzDecode checks that no response makes the decoders panic, that errors are failures, and
// that what comes out can be written.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation","url":"u"}]}]}],"usage":{"input_tokens":1,"output_tokens":1}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f"}}`,
		`{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[{"text":"a"}],"encrypted_content":"x"}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m := dialect.Meta{ID: "i", Model: "m"}
		if r, err := (responses.Codec{}).Decode(body); err == nil {
			for _, d := range []dialect.Dialect{openai.Dialect{}, responses.Dialect{}} {
				if out := jsontext.Value(d.EncodeResponse(nil, r, m)); !out.IsValid() {
					t.Errorf("%s writes %s", d.Name(), out)
				}
			}
		} else if _, ok := errors.AsType[*wire.Failure](err); !ok {
			t.Errorf("%v is not a *wire.Failure", err)
		}
		s, enc := responses.Codec{}.Stream(), responses.Dialect{}.Stream(m)
		var out []byte
		for line := range strings.SplitSeq(string(body), "\n") {
			chunks, err := s.Event(nil, "", []byte(line))
			for i := range chunks {
				out = enc.Chunk(out, &chunks[i])
			}
			if err != nil {
				break
			}
		}
		readAll(t, enc.End(out, nil))
	})
}

// The encrypted reasoning is requested wherever a model may think, and nowhere else: models that do
// not think reject that.
func TestRequestsEncryptedReasoning(t *testing.T) {
	for _, test := range []struct {
		reasoning wire.Reasoning
		alone     bool
		want      bool
	}{
		{wire.Reasoning{}, false, false},
		{wire.Reasoning{}, true, true},
		{wire.Reasoning{Effort: "none"}, false, false},
		{wire.Reasoning{Effort: "none"}, true, false},
		{wire.Reasoning{Effort: "low"}, false, true},
		{wire.Reasoning{Mode: "adaptive"}, false, true},
		{wire.Reasoning{Mode: "disabled"}, false, false},
		{wire.Reasoning{Summary: "auto"}, false, true},
	} {
		in := &wire.Request{Model: "m", Reasoning: test.reasoning, Messages: []wire.Message{{Role: wire.User, Parts: []wire.Part{{Text: "a"}}}}}
		body, err := responses.Codec{}.Encode(in, driver.Target{Model: "m", Features: driver.Features{ResponsesOnly: test.alone}})
		if got := strings.Contains(string(body), `"reasoning.encrypted_content"`); err != nil || got != test.want {
			t.Errorf("%+v, no other API %v: %s (%v)", test.reasoning, test.alone, body, err)
		}
	}
}
