package mgmt

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The usage of a prompt is that of its requests by version and label, and of what the caller may see.
func TestPromptUsage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	object := func(a answer) any {
		var out map[string]any
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != 200 {
			t.Fatalf("%d %s: %v", a.status, a.body, err)
		}
		return out
	}
	made := object(asking(t, o.Server, o.keys[""], "POST /prompts", `{"prompt_name":"greeting","messages":[{"role":"system","content":"Hello"}]}`))
	id, _ := down(t, made, "prompt_id").(string)
	for i, of := range []struct {
		user    string
		version uint32
		label   string
		failed  bool
		final   bool
		first   time.Duration // of a stream
	}{
		{"mate", 1, "", false, true, 0},
		{"mate", 2, "live", false, true, 100 * time.Millisecond},
		{"mate", 2, "live", true, false, 0}, // an attempt before the last
		{"lead", 2, "live", false, true, 300 * time.Millisecond},
		{"lead", 2, "live", false, true, 200 * time.Millisecond},
		{"lead", 2, "", true, true, 0},
		{"lead", 0, "", false, true, 0}, // without a prompt
	} {
		o.use(t, of.user, "2026-06-21", int64(i+1)*1_000_000_000_000, func(e *clusterv1.UsageEvent) {
			e.Final = of.final
			if of.version > 0 {
				e.Version, e.PromptId, e.PromptVersion, e.PromptLabel = 6, id, of.version, of.label
			}
			if of.failed {
				e.Outcome = clusterv1.Outcome_OUTCOME_FAILED
			}
			if of.first > 0 {
				e.FirstTokenUnixNano = e.GetStartUnixNano() + int64(of.first)
			}
		})
	}
	for _, c := range []struct{ who, query, want string }{
		{"", "", "[2 <nil> 1 1 6 <nil>] [2 live 3 0 14 200] [1 <nil> 1 0 1 <nil>] "},
		{"", "start_date=2026-06-22", ""},
		{"", "organization_id=other", ""},
		{"mate", "", "[2 live 1 0 5 100] [1 <nil> 1 0 1 <nil>] "},
	} {
		got := ""
		answer := object(asking(t, o.Server, o.keys[c.who], "GET /prompts/greeting/usage?"+c.query, ""))
		if down(t, answer, "prompt_id") != id || down(t, answer, "prompt_name") != "greeting" {
			t.Errorf("%q: %v", c.query, answer)
		}
		rows, _ := down(t, answer, "versions").([]any)
		for _, one := range rows {
			p50 := down(t, one, "time_to_first_token_ms_p50")
			if f, ok := p50.(float64); ok {
				p50 = int(f + 0.5)
			}
			got += fmt.Sprint([]any{down(t, one, "version"), down(t, one, "label"), down(t, one, "requests"), down(t, one, "errors"), down(t, one, "spend"), p50}, " ")
		}
		if got != c.want {
			t.Errorf("%q as %q: %s, want %s", c.query, c.who, got, c.want)
		}
	}
	play(t, o.Server, []step{
		{"", "GET /prompts/nothing/usage", "", "404 prompt_not_found prompt_id"},
		{"", "GET /prompts/greeting/usage?start_date=never", "", "422 invalid_value start_date"},
	})
}
