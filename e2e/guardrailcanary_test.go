package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A request with a value that no provider may see in each place that a model reads. @@ stands for the value, and %s for
// the name of a model.
type canaries struct {
	path  string
	body  string
	form  map[string]string // the fields of a form, in place of a body
	model string            // the deployment that takes the request as it is
	alone bool              // no other deployment takes it
}

// everyPlace has the places that models read, in each language of callers and each other operation.
func everyPlace() map[string]canaries {
	const schema = `{"type":"object","title":"@@","description":"@@","properties":{"to":{"type":"string","description":"@@","enum":["@@"],"default":"@@","examples":["@@"],"const":"@@"}},"$defs":{"a":{"description":"@@"}}}`
	return map[string]canaries{
		"chat": {path: "/v1/chat/completions", model: "gpt", body: `{"model":"%s","messages":[
			{"role":"system","content":"@@"},{"role":"developer","content":[{"type":"text","text":"Know @@."}]},
			{"role":"user","name":"@@","content":[{"type":"text","text":"@@"},{"type":"text","text":"(@@)"}]},
			{"role":"assistant","content":"@@","reasoning_content":"@@","tool_calls":[{"id":"call_1","type":"function","function":{"name":"pay","arguments":"{\"to\": [\"@@\", {\"deep\": \"@@\"}], \"n\": 4111111111111111}"}}]},
			{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"@@"}]},
			{"role":"user","content":"\u0061da \u003c@@\u003e"}],
			"tools":[{"type":"function","function":{"name":"pay","description":"@@","parameters":` + schema + `}}],
			"response_format":{"type":"json_schema","json_schema":{"name":"out","description":"@@","schema":` + schema + `}}}`},
		"chat, rarely": {path: "/v1/chat/completions", model: "gpt", alone: true, body: `{"model":"%s","messages":[
			{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"pay","arguments":"no JSON, @@"}}]},{"role":"tool","tool_call_id":"call_1","content":"@@"},
			{"role":"assistant","content":[{"type":"refusal","refusal":"@@"}]},{"role":"assistant","content":"x","refusal":"@@"},{"role":"user","content":"x","note":{"why":["@@"]}}],
			"prediction":{"type":"content","content":[{"type":"text","text":"@@"}]},"x_background":"@@","x_facts":{"a":["@@"]}}`},
		"chat with functions": {path: "/v1/chat/completions", model: "gpt", body: `{"model":"%s","messages":[{"role":"user","content":"@@"},
			{"role":"assistant","content":null,"function_call":{"name":"pay","arguments":"{\"to\":\"@@\"}"}},{"role":"function","name":"pay","content":"@@"}],
			"functions":[{"name":"pay","description":"@@","parameters":` + schema + `}]}`},
		"messages": {path: "/v1/messages", model: "claude", body: `{"model":"%s","max_tokens":100,"system":[{"type":"text","text":"@@"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"@@"},{"type":"text","text":"(@@)"}]},
			{"role":"assistant","content":[{"type":"text","text":"@@"},{"type":"tool_use","id":"toolu_1","name":"pay","input":{"to":["@@"],"deep":{"er":"@@"},"card":4111111111111111}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"@@"}]},{"type":"text","text":"@@"}]}],
			"tools":[{"name":"pay","description":"@@","input_schema":` + schema + `}]}`},
		"messages with documents": {path: "/v1/messages", model: "claude", alone: true, body: `{"model":"%s","max_tokens":100,"messages":[
			{"role":"user","content":[{"type":"document","title":"@@","context":"@@","source":{"type":"text","media_type":"text/plain","data":"@@"}},
				{"type":"document","source":{"type":"content","content":[{"type":"text","text":"@@"}]}},{"type":"search_result","source":"wiki","title":"@@","content":[{"type":"text","text":"@@"}]}]}]}`},
		"messages, plain": {path: "/v1/messages", model: "claude", body: `{"model":"%s","max_tokens":100,"system":"@@","messages":[{"role":"user","content":"@@"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"@@"}]}],"tools":[{"name":"pay","input_schema":{"type":"object"}}]}`},
		"responses": {path: "/v1/responses", model: "native", body: `{"model":"%s","store":false,"instructions":"@@","input":[
			{"role":"system","content":"@@"},{"type":"message","role":"user","content":[{"type":"input_text","text":"@@"}]},
			{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"@@","annotations":[]}]},
			{"type":"function_call","call_id":"call_1","name":"pay","arguments":"{\"to\":\"@@\"}"},{"type":"function_call_output","call_id":"call_1","output":"@@"},
			{"role":"user","content":"@@"}],
			"tools":[{"type":"function","name":"pay","description":"@@","strict":false,"parameters":` + schema + `}],
			"text":{"format":{"type":"json_schema","name":"out","description":"@@","schema":` + schema + `}}}`},
		"responses, plain": {path: "/v1/responses", model: "native", body: `{"model":"%s","store":false,"instructions":"@@","input":"@@"}`},
		"turns": {path: "/v2/chat", model: "command", body: `{"model":"%s","messages":[
			{"role":"system","content":"@@"},{"role":"user","content":[{"type":"text","text":"@@"},{"type":"text","text":"(@@)"}]},
			{"role":"assistant","tool_plan":"@@","tool_calls":[{"id":"call_1","type":"function","function":{"name":"pay","arguments":"{\"to\": [\"@@\"], \"n\": 4111111111111111}"}}]},
			{"role":"tool","tool_call_id":"call_1","content":[{"type":"document","document":{"data":{"text":"@@","deep":{"er":["@@"]}}}},{"type":"text","text":"@@"}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"@@"},{"type":"text","text":"@@"}]},{"role":"user","content":"@@"}],
			"documents":["@@",{"id":"d1","data":{"title":"@@","text":"@@"}}],"tools":[{"type":"function","function":{"name":"pay","description":"@@","parameters":` + schema + `}}],
			"response_format":{"type":"json_object","json_schema":` + schema + `}}`},
		"counts of messages":  {path: "/v1/messages/count_tokens", model: "claude", body: `{"model":"%s","system":"@@","messages":[{"role":"user","content":"@@"}]}`},
		"counts of responses": {path: "/v1/responses/input_tokens", model: "native", body: `{"model":"%s","instructions":"@@","input":"@@"}`},
		"completions":         {path: "/v1/completions", model: "gpt", body: `{"model":"%s","prompt":["@@","so (@@)"],"suffix":"@@"}`},
		"a completion":        {path: "/v1/completions", model: "gpt", body: `{"model":"%s","prompt":"@@"}`},
		"embeddings":          {path: "/v1/embeddings", model: "gpt", body: `{"model":"%s","input":["@@","@@"]}`},
		"an embedding":        {path: "/v1/embeddings", model: "gpt", body: `{"model":"%s","input":"@@"}`},
		"moderations":         {path: "/v1/moderations", model: "gpt", body: `{"model":"%s","input":[{"type":"text","text":"@@"}]}`},
		"images":              {path: "/v1/images/generations", model: "gpt", body: `{"model":"%s","prompt":"@@"}`},
		"speech":              {path: "/v1/audio/speech", model: "gpt", body: `{"model":"%s","voice":"alloy","input":"@@","instructions":"@@"}`},
		"ranks":               {path: "/v1/rerank", model: "gpt", body: `{"model":"%s","query":"@@","documents":["@@",{"text":"@@","title":"@@"}]}`},
		"transcriptions":      {path: "/v1/audio/transcriptions", model: "gpt", form: map[string]string{"prompt": "@@"}},
		"translations":        {path: "/v1/audio/translations", model: "gpt", form: map[string]string{"prompt": "@@"}},
		"edits of images":     {path: "/v1/images/edits", model: "gpt", form: map[string]string{"prompt": "@@"}},
	}
}

// TestCanariesNeverReachProviders: in whatever place a value stands that a model would read, no provider gets it,
// whichever language it takes.
func TestCanariesNeverReachProviders(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	p.loose = true // members that OpenAI does not have
	g := startGateway(t, models(p, "gpt=openai_compatible/fake-gpt", "claude=anthropic/fake-claude", "native=openai/fake-native", "command=cohere/fake-command"))
	g.manages(http.MethodPost, "/guardrail", `{"guardrail_name":"pii","default_on":true,"engines":[{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["EMAIL_ADDRESS","CREDIT_CARD"]}}]}`)
	g.manages(http.MethodPost, "/prompts", `{"prompt_name":"letter","messages":[{"role":"system","content":"From canary.prompt@example.com to {{ to.name }}."},{"role":"user","content":"{{ hint }}"}]}`)
	for name, c := range everyPlace() {
		for _, model := range []string{"gpt", "claude", "native", "command"} {
			if model == "command" && c.model != model {
				continue
			}
			places := 0
			fill := func(text string) string {
				for strings.Contains(text, "@@") {
					places++
					text = strings.Replace(text, "@@", fmt.Sprintf("canary.%d.%s@example.com", places, letters(name)), 1)
				}
				return text
			}
			before := len(p.Requests())
			status, body := 0, ""
			if c.form != nil {
				if model != c.model {
					continue
				}
				status, body = g.sendsForm(c.path, model, fill(c.form["prompt"]))
			} else {
				status, body = g.sends(c.path, fill(strings.Replace(c.body, "%s", model, 1)))
			}
			heard := p.Requests()[before:]
			if chat := strings.Contains(c.body, `"messages"`) || c.path == "/v1/responses"; chat && !c.alone && status != http.StatusOK || status >= http.StatusInternalServerError {
				t.Errorf("%s to %s: %d %s", name, model, status, body)
			}
			if model == c.model {
				if len(heard) == 0 {
					t.Errorf("%s to %s reaches no provider: %d %s", name, model, status, body)
				} else if got := strings.Count(heard[0].Body, "[EMAIL_ADDRESS]"); got != places {
					t.Errorf("%s to %s: %d of %d places are masked in %s", name, model, got, places, heard[0].Body)
				}
			}
		}
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v2/chat"} {
		if status, body := g.sends(path, `{"model":"gpt","max_tokens":9,"prompt_id":"letter","prompt_variables":{"to":{"name":"canary.name@example.com"},"hint":"canary.hint@example.com"},"messages":[{"role":"user","content":"Go"}]}`); status != http.StatusOK {
			t.Errorf("%s with a prompt: %d %s", path, status, body)
		}
		heard := p.Requests()
		if last := heard[len(heard)-1].Body; strings.Count(last, "[EMAIL_ADDRESS]") != 3 {
			t.Errorf("%s with a prompt: the provider gets %s", path, last)
		}
	}
	heard := p.Requests()
	for _, r := range heard {
		if strings.Contains(r.Body, "canary.") || strings.Contains(r.Body, "4111111111111111") {
			t.Errorf("%s of the provider gets %s", r.Path, r.Body)
		}
	}
	for name, body := range map[string]string{
		"the name of a tool":     `{"model":"gpt","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"canary@example.com"}}]}`,
		"the name of a member":   `{"model":"gpt","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"canary@example.com":{}}}}}]}`,
		"a member of a call":     `{"model":"gpt","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"canary@example.com\":1}"}}]}]}`,
		"the name of a function": `{"model":"gpt","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"canary@example.com","arguments":"{}"}}]}]}`,
	} {
		if status, answer := g.sends("/v1/chat/completions", body); status != http.StatusBadRequest || !strings.Contains(answer, "cannot be replaced") || strings.Contains(answer, "canary@") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	if more := p.Requests()[len(heard):]; len(more) > 0 {
		t.Errorf("blocked requests reach the provider: %+v", more)
	}
	if log := g.log.String(); strings.Contains(log, "canary.") {
		t.Error("the log has a canary")
	}
}

// letters returns the letters of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, text)
}

// sends posts a request that need not be valid by OpenAI's document.
func (g *gatewayProcess) sends(path, body string) (status int, answer string) {
	g.t.Helper()
	return g.post(path, "application/json", body)
}

// sendsForm posts a form with a file and a prompt.
func (g *gatewayProcess) sendsForm(path, model, prompt string) (status int, answer string) {
	g.t.Helper()
	file := "file"
	if strings.Contains(path, "images") {
		file = "image"
	}
	part := func(name, more, value string) string {
		return "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" + value + "\r\n"
	}
	return g.post(path, "multipart/form-data; boundary=edge", part("model", "", model)+part("prompt", "", prompt)+
		part(file, "; filename=\"a.bin\"\r\nContent-Type: application/octet-stream", "RIFF\x00\x01\x02")+"--edge--\r\n")
}

func (g *gatewayProcess) post(path, media, body string) (status int, answer string) {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Content-Type", media)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Error(err)
	}
	return resp.StatusCode, string(b)
}
