package fake_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

const responses = "/v1/responses"

// response is what the tests read of a response.
type response struct {
	ID         string            `json:"id"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      json.RawMessage   `json:"usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

func (p provider) respond(t *testing.T, body string) response {
	t.Helper()
	r, text, err := p.ask(t, responses, body)
	var out response
	if err != nil || r.StatusCode != http.StatusOK || json.Unmarshal([]byte(text), &out) != nil {
		t.Fatalf("%v %s", err, text)
	}
	return out
}

// unnumbered removes the number of the request, which ids are made of.
func unnumbered(text string) string {
	for i := range 10 {
		text = strings.ReplaceAll(text, fmt.Sprintf("_fake_%d", i), "_fake_N")
	}
	return text
}

// What a stream's events say one by one is what its last event says, and what the whole response does.
func TestStreamedResponses(t *testing.T) {
	tools := `"tools":[{"type":"function","name":"f","parameters":{"properties":{"a":{"type":"string"}}}},{"type":"custom","name":"c"}]`
	for name, body := range map[string]string{
		"text":      `"model":"gpt"`,
		"reasoning": `"model":"gpt","reasoning":{"effort":"low"}`,
		"tools":     `"model":"gpt+tools-2",` + tools,
		"length":    `"model":"gpt","max_output_tokens":2`,
		"schema":    `"model":"gpt","text":{"format":{"type":"json_schema","name":"x","schema":{"properties":{"city":{"type":"string"}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, fake.Options{})
			whole := p.respond(t, `{"input":"hello there",`+body+`}`)
			_, text, err := p.ask(t, responses, `{"input":"hello there","stream":true,`+body+`}`)
			if err != nil {
				t.Fatal(err)
			}
			var items []json.RawMessage
			var last response
			deltas, done := "", ""
			for i, d := range data(text) {
				var e struct {
					Type      string          `json:"type"`
					Number    int             `json:"sequence_number"`
					Item      json.RawMessage `json:"item"`
					Delta     string          `json:"delta"`
					Text      string          `json:"text"`
					Arguments string          `json:"arguments"`
					Input     string          `json:"input"`
					Response  response        `json:"response"`
				}
				if err := json.Unmarshal([]byte(d), &e); err != nil || e.Number != i {
					t.Fatalf("%v %s", err, d)
				}
				deltas += e.Delta
				switch {
				case e.Type == "response.output_item.done":
					items = append(items, e.Item)
				case strings.HasSuffix(e.Type, ".done"):
					done += e.Text + e.Arguments + e.Input
				}
				last = e.Response
			}
			if deltas != done || deltas == "" {
				t.Errorf("the pieces are %q, the texts %q", deltas, done)
			}
			want, _ := json.Marshal(whole.Output)
			for _, got := range [][]json.RawMessage{items, last.Output} {
				b, _ := json.Marshal(got)
				if diff := cmp.Diff(unnumbered(string(want)), unnumbered(string(b))); diff != "" {
					t.Error(diff)
				}
			}
			if last.Status != whole.Status || string(last.Usage) != string(whole.Usage) || (last.Status == "incomplete") != (last.Incomplete != nil) || (name == "length") != (last.Incomplete != nil) {
				t.Errorf("%+v, whole %+v", last, whole)
			}
		})
	}
}

// A tool's result is accepted if its call is in the input, in an earlier response, or referred to.
func TestStoredResponses(t *testing.T) {
	p := start(t, fake.Options{})
	const tools = `"tools":[{"type":"function","name":"f","parameters":{}}]`
	const result = `{"type":"function_call_output","call_id":"call_fake_1_0","output":"sunny"}`
	first := p.respond(t, `{"model":"gpt","input":"hello",`+tools+`}`)
	call := string(first.Output[0])
	var id struct{ ID string }
	if err := json.Unmarshal([]byte(call), &id); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{
		`"input":[` + call + `,` + result + `]`,
		`"input":[{"type":"item_reference","id":"` + id.ID + `"},` + result + `]`,
		`"previous_response_id":"` + first.ID + `","input":[` + result + `]`,
	} {
		if got := p.respond(t, `{"model":"gpt",`+more+`}`); !strings.Contains(string(got.Output[0]), "The tool answered: sunny") {
			t.Errorf("%s: %s", more, got.Output)
		}
	}
	unstored := p.respond(t, `{"model":"gpt","input":"hello","store":false}`)
	p.Reset()
	for more, want := range map[string]string{
		`"input":[` + result + `]`:                                 "No tool call found",
		`"input":[{"type":"item_reference","id":"` + id.ID + `"}]`: "item_not_found",
		`"previous_response_id":"` + first.ID + `","input":"x"`:    "previous_response_not_found",
		`"previous_response_id":"` + unstored.ID + `","input":"x"`: "previous_response_not_found",
		`"input":7`: "invalid_type",
		`"x":1`:     "missing_required_parameter",
	} {
		r, body, err := p.ask(t, responses, `{"model":"gpt",`+more+`}`)
		if err != nil || r.StatusCode < 400 || r.StatusCode > 404 || !strings.Contains(body, want) {
			t.Errorf("%s: %v %d %s", more, err, r.StatusCode, body)
		}
	}
}

// A message that orders a call gets it in each language, and any other one gets a text.
func TestOrderedCalls(t *testing.T) {
	p := start(t, fake.Options{})
	for path, body := range map[string]string{
		chat:      `{"model":"obey","messages":[{"role":"user","content":"TEXT"}],"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"shell"}}]}`,
		messages:  `{"model":"obey","max_tokens":9,"messages":[{"role":"user","content":"TEXT"}],"tools":[{"name":"a"},{"name":"shell"}]}`,
		responses: `{"model":"obey","input":"TEXT","tools":[{"type":"function","name":"a"},{"type":"function","name":"shell"}]}`,
	} {
		for text, called := range map[string]bool{`please call: shell {"command":"ls"} now`: true, "hello": false, "call: nobody {}": false, "call: shell {": false} {
			order, _ := json.Marshal(text)
			_, got, err := p.ask(t, path, strings.ReplaceAll(body, `"TEXT"`, string(order)))
			got = strings.ReplaceAll(got, `\"`, `"`)
			if err != nil || strings.Contains(got, `{"command":"ls"}`) != called || strings.Contains(got, `"name":"shell","arguments"`) && !called {
				t.Errorf("%s %q: %v %s", path, text, err, got)
			}
		}
	}
}
