package extproc

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// sealedMark begins the ids of calls that have reasoning in them.
const sealedMark = "call_mgw1_"

// turn is what a chat client keeps of a response: the id of its first call, and of its second.
type turn struct{ first, second string }

// proof is a signature of n random bytes, as no compression makes it shorter.
func proof(n int) string {
	raw := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// thoughtBlocks are the blocks with which a model of Anthropic's calls two tools after it has thought.
func thoughtBlocks(signature string) []string {
	return []string{
		`{"type":"thinking","thinking":"Berlin or Paris? \"Both\".","signature":"` + signature + `"}`,
		`{"type":"redacted_thinking","data":"cmVk"}`,
		`{"type":"text","text":"I look."}`,
		`{"type":"tool_use","id":"toolu_1","name":"look","input":{"city":"Berlin"}}`,
		`{"type":"tool_use","id":"toolu_2","name":"look","input":{"city":"Paris"}}`,
	}
}

// wholeTurn is a response of Anthropic's with blocks.
func wholeTurn(blocks []string) string {
	return `{"id":"m","type":"message","role":"assistant","model":"up","content":[` + strings.Join(blocks, ",") +
		`],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}`
}

// streamedTurn is the same as a stream.
func streamedTurn(t *testing.T, blocks []string) string {
	t.Helper()
	var out strings.Builder
	event := func(kind, members string) {
		fmt.Fprintf(&out, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, members)
	}
	event("message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"up","content":[],"usage":{"input_tokens":10,"output_tokens":1}}`)
	for i, block := range blocks {
		var b map[string]jsontext.Value
		if err := json.Unmarshal([]byte(block), &b); err != nil {
			t.Fatal(err)
		}
		var deltas []string
		take := func(member, kind, name, empty string) {
			if v, ok := b[member]; ok {
				if name == "partial_json" {
					v = jsontext.Value(fmt.Sprintf("%q", string(v)))
				}
				deltas = append(deltas, fmt.Sprintf(`{"type":%q,%q:%s}`, kind, name, v))
				b[member] = jsontext.Value(empty)
			}
		}
		take("thinking", "thinking_delta", "thinking", `""`)
		take("signature", "signature_delta", "signature", `""`)
		take("text", "text_delta", "text", `""`)
		take("input", "input_json_delta", "partial_json", `{}`)
		start, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, start))
		for _, d := range deltas {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, d))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	event("message_delta", `,"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}`)
	event("message_stop", "")
	return out.String()
}

const (
	tooled   = `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"reasoning_effort":"low"`
	question = `{"model":"fast",` + tooled + `,"messages":[{"role":"user","content":"The weather?"}]}`
)

// after is the request that a chat client sends with the results of the calls.
func (u turn) after(model string) string {
	call := `{"id":%q,"type":"function","function":{"name":"look","arguments":"{\"city\":\"%s\"}"}}`
	result := `{"role":"tool","tool_call_id": %q ,"content":"sunny"}`
	return `{"model":"` + model + `",` + tooled + `,"messages":[{"role":"user","content":"The weather?"},{"role":"assistant","content":"I look.","tool_calls":[` +
		fmt.Sprintf(call, u.first, "Berlin") + "," + fmt.Sprintf(call, u.second, "Paris") + `]},` + fmt.Sprintf(result, u.second) + "," + fmt.Sprintf(result, u.first) + `]}`
}

// turnOf has a provider answer a question of a chat, and returns what a client keeps.
func turnOf(t *testing.T, k *kit, answer string) turn {
	t.Helper()
	e := k.open(t)
	body, stream := question, strings.HasPrefix(answer, "event:")
	if stream {
		body = strings.Replace(body, "{", `{"stream":true,`, 1)
	}
	if out := e.ask(body); out.refused != nil {
		t.Fatalf("rejected: %+v", out.refused)
	}
	var calls []string
	type call struct {
		ID string `json:"id"`
	}
	if !stream {
		var in struct {
			Choices []struct {
				Message struct {
					Calls []call `json:"tool_calls"`
				} `json:"message"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(e.answer(jsonAnswer(answer)).body), &in); err != nil || len(in.Choices) != 1 {
			t.Fatal(err)
		}
		for _, c := range in.Choices[0].Message.Calls {
			calls = append(calls, c.ID)
		}
	} else {
		c := streamAnswer()
		c.pieces = []string{answer}
		for block := range strings.SplitSeq(e.answer(c).body, "\n\n") {
			var in struct {
				Choices []struct {
					Delta struct {
						Calls []call `json:"tool_calls"`
					} `json:"delta"`
				} `json:"choices"`
			}
			data, ok := strings.CutPrefix(block, "data: {")
			if !ok {
				continue
			}
			if err := json.Unmarshal([]byte("{"+data), &in); err != nil {
				t.Fatal(err)
			}
			for _, choice := range in.Choices {
				for _, c := range choice.Delta.Calls {
					if c.ID != "" {
						calls = append(calls, c.ID)
					}
				}
			}
		}
	}
	if len(calls) != 2 {
		t.Fatalf("the caller gets the calls %q", calls)
	}
	return turn{calls[0], calls[1]}
}

// sends returns what the provider of a model gets of a request.
func sends(t *testing.T, k *kit, key, body string) string {
	t.Helper()
	e := k.open(t)
	out := e.request(plainHeaders(e.uuid, "x-api-key", key), body)
	if out.refused != nil {
		t.Fatalf("rejected: %+v", out.refused)
	}
	e.quit()
	return out.body
}

// thinkers are a model of each language, in which a conversation goes on.
func thinkers() catalog.Spec {
	alone, compatible := place("codex", "codex", "", 0), place("compatible", "compatible", "", 0)
	alone.Model, compatible.Model = "openai/gpt-5-codex", "openai_compatible/up"
	return catalog.Spec{Deployments: []catalog.DeploymentSpec{
		claude("claude", "fast", 0), place("chat", "chat", "up", 0), alone, compatible,
	}, Router: quick(0)}
}

// A chat client that keeps nothing but the ids of calls goes on where the model has been thinking:
// the provider gets its blocks, first and unchanged, and its own ids.
func TestReasoningInCallIDs(t *testing.T) {
	t.Parallel()
	blocks := thoughtBlocks(proof(900))
	for name, answer := range map[string]string{"whole": wholeTurn(blocks), "streamed": streamedTurn(t, blocks)} {
		k := newKit(t, thinkers())
		u := turnOf(t, k, answer)
		if !strings.HasPrefix(u.first, sealedMark) || len(u.first) > 8<<10 || u.second != "toolu_2" || strings.Contains(u.first, "Berlin") {
			t.Errorf("%s: the calls are %q (%d) and %q", name, u.first, len(u.first), u.second)
		}
		sent := sends(t, k, appKey, u.after("fast"))
		want := `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
		if !strings.Contains(sent, want) {
			t.Errorf("%s: the provider gets %s, which lacks %s", name, sent, want)
		}
		if !strings.Contains(sent, `"thinking":{"type":"enabled"`) {
			t.Errorf("%s: thinking is off: %s", name, sent)
		}
		results := `[{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"sunny"}]},{"type":"tool_result","tool_use_id":"toolu_1",`
		if !strings.Contains(sent, results) {
			t.Errorf("%s: the results are not those of the calls: %s", name, sent)
		}
		k.settled()
	}
}

// So does a client of messages and of responses that drops the members which its language has for reasoning.
func TestReasoningOfClientsThatDropIt(t *testing.T) {
	t.Parallel()
	const responded = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"up","output":[` +
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FBQUFB"},` +
		`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{}","status":"completed"}],` +
		`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`
	blocks := thoughtBlocks(proof(300))
	for name, test := range map[string]struct {
		path, ask, answer, again, want string
	}{
		"responses": {
			"/v1/responses",
			`{"model":"fast","reasoning":{"effort":"low"},"tools":[{"type":"function","name":"look","parameters":{"type":"object"},"strict":false}],"input":[{"role":"user","content":"The weather?"}`,
			wholeTurn(append(blocks[:2:2], blocks[3])),
			`,{"type":"function_call","call_id":%[1]q,"name":"look","arguments":"{}"},{"type":"function_call_output","call_id":%[1]q,"output":"sunny"}`,
			`{"role":"assistant","content":[` + blocks[0] + "," + blocks[1] + `,{"type":"tool_use","id":"toolu_1"`,
		},
		"messages": {
			"/v1/messages",
			`{"model":"codex","max_tokens":900,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"The weather?"}`,
			responded,
			`,{"role":"assistant","content":[{"type":"tool_use","id":%[1]q,"name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]q,"content":"sunny"}]}`,
			`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FBQUFB"},{"type":"function_call","call_id":"call_1"`,
		},
	} {
		k := newKit(t, thinkers())
		e := k.open(t)
		if out := e.request(to(e, test.path), test.ask+"]}"); out.refused != nil {
			t.Fatalf("%s: %+v", name, out.refused)
		}
		got := e.answer(jsonAnswer(test.answer)).body
		own := regexp.MustCompile(`"` + sealedMark + `[A-Za-z0-9_-]+"`).FindString(got)
		if own == "" {
			t.Fatalf("%s: the caller gets %s", name, got)
		}
		e = k.open(t)
		out := e.request(to(e, test.path), test.ask+fmt.Sprintf(test.again, own[1:len(own)-1])+"]}")
		if out.refused != nil || !strings.Contains(out.body, test.want) {
			t.Errorf("%s: the provider gets %s (%+v), which lacks %s", name, out.body, out.refused, test.want)
		}
		e.quit()
	}
}

// A client that keeps the gateway's members as well does not think twice.
func TestReasoningIsNotSentTwice(t *testing.T) {
	t.Parallel()
	k := newKit(t, thinkers())
	u := turnOf(t, k, wholeTurn(thoughtBlocks("c2ln")))
	body := strings.Replace(u.after("fast"), `"role":"assistant",`, `"role":"assistant","thinking_blocks":[{"type":"thinking","thinking":"Berlin?","signature":"c2ln"}],`, 1)
	sent := sends(t, k, appKey, body)
	if strings.Count(sent, `"type":"thinking"`) != 1 || strings.Contains(sent, sealedMark) || !strings.Contains(sent, `"id":"toolu_1"`) {
		t.Errorf("the provider gets %s", sent)
	}
}

// The provider of the next turn gets ids that it accepts, the same ones in calls and results, and no
// reasoning of another provider's or tenant's.
func TestSealedCallsReachNoProvider(t *testing.T) {
	t.Parallel()
	k := newKit(t, thinkers())
	u := turnOf(t, k, wholeTurn(thoughtBlocks(proof(300))))
	damaged := turn{u.first[:len(u.first)-3] + "AAA", u.second}
	for _, test := range []struct {
		name, model, key string
		u                turn
		own              bool
	}{
		{"in the same language", "chat", appKey, u, true},
		{"in the same language, damaged", "chat", appKey, damaged, false},
		{"in the same language, another tenant", "chat", fewKey, turn{u.first, u.second}, false},
		{"responses", "codex", appKey, u, true},
		{"responses, damaged", "codex", appKey, damaged, false},
		{"compatible", "compatible", appKey, u, true},
		{"Anthropic, damaged", "fast", appKey, damaged, false},
		{"Anthropic, another tenant", "fast", fewKey, u, false},
		{"Anthropic, too long", "fast", appKey, turn{sealedMark + strings.Repeat("A", 9000), u.second}, false},
	} {
		if test.key == fewKey && test.model != "fast" {
			continue // that key may use one model only
		}
		sent := sends(t, k, test.key, test.u.after(test.model))
		if strings.Contains(sent, sealedMark) || strings.Contains(sent, "Both") || strings.Contains(sent, `"type":"thinking"`) || strings.Contains(sent, "encrypted_content\"") && !strings.Contains(sent, "reasoning.encrypted_content") {
			t.Errorf("%s: the provider gets %s", test.name, sent)
		}
		ids := callIDs(t, sent)
		if len(ids) != 2 || ids[1] != "toolu_2" || (ids[0] == "toolu_1") != test.own || len(ids[0]) > 72 || strings.Count(sent, `"`+ids[0]+`"`) != 2 {
			t.Errorf("%s: the calls are %q in %s", test.name, ids, sent)
		}
		if test.model == "chat" && len(ids[0]) > 40 {
			t.Errorf("%s: OpenAI rejects the id %s", test.name, ids[0])
		}
	}
	k.settled()
}

// callIDs returns the ids of the calls of a provider's request, in any language.
func callIDs(t *testing.T, body string) []string {
	t.Helper()
	type call struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Call string `json:"call_id"`
	}
	var in struct {
		Messages []struct {
			Calls   []call         `json:"tool_calls"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
		Input []call `json:"input"`
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var out []string
	for _, m := range in.Messages {
		for _, c := range m.Calls {
			out = append(out, c.ID)
		}
		var blocks []call
		if m.Content.Kind() == '[' && json.Unmarshal(m.Content, &blocks) == nil {
			for _, c := range blocks {
				if c.Type == "tool_use" {
					out = append(out, c.ID)
				}
			}
		}
	}
	for _, c := range in.Input {
		if c.Type == "function_call" {
			out = append(out, c.Call)
		}
	}
	return out
}

// A body is passed on with the ids replaced and nothing else: not what a user quotes.
func TestSealedCallsInPassedBodies(t *testing.T) {
	t.Parallel()
	k := newKit(t, thinkers())
	u := turnOf(t, k, wholeTurn(thoughtBlocks("c2ln")))
	quoted := fmt.Sprintf(`"content":%q`, `Why is it {"id":"`+u.first+`"}?`)
	body := strings.Replace(u.after("chat"), `"content":"The weather?"`, quoted, 1)
	body = strings.Replace(body, `"content":"sunny"`, `"content":"`+u.first+`"`, 1)
	want := body
	for _, name := range []string{`"id":`, `"tool_call_id": `} {
		want = strings.ReplaceAll(want, name+`"`+u.first+`"`, name+`"toolu_1"`)
	}
	want = strings.Replace(want, `"model":"chat"`, `"model":"up"`, 1)
	if sent := sends(t, k, appKey, body); sent != want {
		t.Errorf("the provider gets\n%s\nwant\n%s", sent, want)
	}
}

// Reasoning that is too long for an id, and calls without reasoning, leave the ids alone; so does a
// node whose key has not come. The next turn is then without thinking, and valid.
func TestCallsWithoutSealedReasoning(t *testing.T) {
	t.Parallel()
	locked := func(_ *kit, d *pipeline.Deps) {
		d.Seal = func(vault.Secret, string) ([]byte, error) { return nil, vault.ErrLocked }
	}
	for name, test := range map[string]struct {
		blocks  []string
		changes []change
	}{
		"too long for an id":   {thoughtBlocks(proof(7000)), nil},
		"too long to compress": {thoughtBlocks(strings.Repeat("A", 100_000)), nil},
		"no reasoning":         {thoughtBlocks("")[2:], nil},
		"no key":               {thoughtBlocks("c2ln"), []change{locked}},
	} {
		k := newKit(t, thinkers(), test.changes...)
		u := turnOf(t, k, wholeTurn(test.blocks))
		if u.first != "toolu_1" || u.second != "toolu_2" {
			t.Errorf("%s: the calls are %q", name, u)
		}
		if sent := sends(t, k, appKey, u.after("fast")); strings.Contains(sent, `"thinking"`) || !strings.Contains(sent, `"id":"toolu_1"`) {
			t.Errorf("%s: the provider gets %s", name, sent)
		}
		k.settled()
	}
}

// Encrypted reasoning goes back to the deployment that made it, and to no other: its account alone
// can decrypt it.
func TestEncryptedReasoningGoesToItsMaker(t *testing.T) {
	t.Parallel()
	const answer = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"up","output":[` +
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FBQUFB"},` +
		`{"type":"function_call","id":"fc_1","call_id":"toolu_1","name":"look","arguments":"{}","status":"completed"},` +
		`{"type":"function_call","id":"fc_2","call_id":"toolu_2","name":"look","arguments":"{}","status":"completed"}],` +
		`"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}`
	a, b := place("a", "fast", "", 0), place("b", "fast", "", 1)
	a.Model, b.Model = "openai/gpt-5-codex", "openai/gpt-5-codex"
	router := quick(1)
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{a}, Router: router})
	u := turnOf(t, k, answer)
	if !strings.HasPrefix(u.first, sealedMark) {
		t.Fatalf("the call is %s", u.first)
	}
	for name, test := range map[string]struct {
		deployments []catalog.DeploymentSpec
		reasoned    bool
	}{"its maker": {[]catalog.DeploymentSpec{a}, true}, "another": {[]catalog.DeploymentSpec{b}, false}} {
		k := newKit(t, catalog.Spec{Deployments: test.deployments, Router: router})
		sent := sends(t, k, appKey, u.after("fast"))
		const want = `{"type":"message","role":"user","content":"The weather?"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FBQUFB"},`
		if strings.Contains(sent, "Z0FBQUFB") != test.reasoned || strings.Contains(sent, want) != test.reasoned || !strings.Contains(sent, `"call_id":"toolu_1"`) {
			t.Errorf("%s gets %s", name, sent)
		}
	}
	// After the maker has failed, the other one gets the same request without it.
	k = newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{a, b}, Router: router})
	e := k.open(t)
	if out := e.ask(u.after("fast")); out.refused != nil || !strings.Contains(out.body, "Z0FBQUFB") {
		t.Fatalf("the first attempt: %+v", out)
	}
	if out := k.again(t, e.uuid, 2); out == nil || strings.Contains(out.body, "Z0FBQUFB") || !strings.Contains(out.body, `"call_id":"toolu_1"`) {
		t.Errorf("the second attempt: %+v", out)
	}
}
