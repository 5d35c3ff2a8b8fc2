package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// account is a provider's account, which knows the responses that it has made and no other.
type account struct {
	mu   sync.Mutex
	name string
	made []string
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Previous string `json:"previous_response_id"`
	}
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err := json.Unmarshal(body, &in); err != nil || in.Previous != "" && !slices.Contains(a.made, in.Previous) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"not found","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`)
		return
	}
	made := fmt.Sprintf("resp_%s_%d", a.name, len(a.made))
	a.made = append(a.made, made)
	_, _ = io.WriteString(w, `{"id":"`+made+`","object":"response","created_at":1,"status":"completed","model":"m","output":[],"error":null,"incomplete_details":null,`+
		`"instructions":null,"tools":[],"parallel_tool_calls":true,"metadata":{},"tool_choice":"auto","temperature":1,"top_p":1,`+
		`"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}`)
}

// A conversation goes on at the account that has it, also after a restart, and is closed to the
// keys of others.
func TestStoredResponses(t *testing.T) {
	t.Parallel()
	config := "model_list:\n"
	for _, name := range []string{"a", "b", "c"} {
		p := httptest.NewServer(&account{name: name})
		t.Cleanup(p.Close)
		config += "  - model_name: fast\n    gateway_params: {model: openai/fast, api_base: " + p.URL + "/v1, api_key: provider-key-x, input_cost_per_token: 0, output_cost_per_token: 0}\n" +
			"    model_info: {id: at-" + name + "}\n"
	}
	g := startGateway(t, config)
	mine, other := g.keyOf("", tree{"key_alias": "mine"}), g.keyOf("", tree{"key_alias": "other"})
	ask := func(key, previous string) *answer {
		t.Helper()
		body := `{"model":"fast","input":"a"}`
		if previous != "" {
			body = `{"model":"fast","input":"a","previous_response_id":"` + previous + `"}`
		}
		return g.do(http.MethodPost, "/v1/responses", strings.NewReader(body), with("Authorization", "Bearer "+key))
	}
	goesOn := func(previous, at string) (last, servedBy string) {
		t.Helper()
		a := ask(mine, previous)
		var out struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK || out.ID == "" {
			t.Fatalf("%d %s", a.status, a.body)
		}
		servedBy = a.header.Get("x-gateway-model-id")
		if at != "" && servedBy != at {
			t.Errorf("the conversation is at %s and went on at %s", at, servedBy)
		}
		return out.ID, servedBy
	}
	last, at := goesOn("", "")
	for range 8 {
		last, _ = goesOn(last, at)
	}
	g.stop()
	g.start()
	last, _ = goesOn(last, at)
	for name, a := range map[string]*answer{"another key": ask(other, last), "an id of the provider's": ask(mine, "resp_a_0"), "a changed id": ask(mine, last[:len(last)-1])} {
		if e := a.error(t).Error; a.status != http.StatusBadRequest || *e.Code != "previous_response_not_found" || e.Message == "not found" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}
