package mgmt

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/modelgateway/modelgateway/mgmt/field"
)

// A fallback is part of the router settings, under both spellings of the path, and models may
// contain slashes.
func TestFallbackLife(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "POST /fallback", `{"model":"fast","fallback_models":["slow","openai/gpt-4o-mini"]}`, nil)
	v := a.json(t)
	if a.status != http.StatusOK || v["fallback_type"] != "general" || fmt.Sprint(v["fallback_models"]) != "[slow openai/gpt-4o-mini]" || v["message"] == "" || v["revision"] != 42.0 || a.header.Get(field.HeaderETag) != `"42"` {
		t.Fatalf("%d %s", a.status, a.body)
	}
	play(t, s, []step{
		{"", "PUT /fallbacks/openai/gpt-4o", `{"fallback_models":["slow"],"fallback_type":"context_window"}`, "200"},
		{"", "PUT /fallback/fast", `{"fallback_models":["slow"],"if_revision":43}`, "200"},
		{"", "PUT /fallback/fast", `{"fallback_models":["slow"],"if_revision":43}`, "409 revision_conflict"},
		{"", "POST /fallbacks", `{"model":"*","fallback_models":["slow"],"fallback_type":"content_policy"}`, "200"},
		{"", "POST /fallbacks", `{"model":"nobody","fallback_models":["slow"]}`, "404 model_not_found model"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":["nobody","fast","neither"]}`, "422 unknown_model fallback_models[0]"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":["slow"]}`, "422 fallback_cycle fallback_models[0]"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":["fast"]}`, "422 fallback_cycle fallback_models"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":[]}`, "422 invalid_value fallback_models"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":["fast","fast"]}`, "422 invalid_value fallback_models"},
		{"", "POST /fallbacks", `{"model":"slow","fallback_models":["fast"],"fallback_type":"other"}`, "422 invalid_value fallback_type"},
		{"", "GET /fallbacks/openai/gpt-4o?fallback_type=context_window", "", "200"},
		{"", "GET /fallback/openai/gpt-4o", "", "404 fallback_not_found model"},
		{"", "DELETE /fallbacks/slow", "", "404 fallback_not_found model"},
		{plainKey, "GET /fallbacks", "", "403 insufficient_permissions"},
		{plainKey, "DELETE /fallbacks/fast", "", "403 insufficient_permissions"},
	})
	list, _ := ask(t, s, "GET /fallbacks", "", nil).json(t)["fallbacks"].([]any)
	var all []string
	for _, one := range list {
		f, _ := one.(map[string]any)
		all = append(all, fmt.Sprint(f["fallback_type"], " ", f["model"], " ", f["fallback_models"], " ", f["revision"]))
	}
	if got, want := fmt.Sprint(all), "[general fast [slow] 45 context_window openai/gpt-4o [slow] 45 content_policy * [slow] 45]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if settings := settingsIn(t, ask(t, s, "GET /config", "", nil)); fmt.Sprint(settings["fallbacks"]) != "[map[fast:[slow]]]" {
		t.Errorf("%v", settings)
	}
	a = ask(t, s, "DELETE /fallbacks/openai/gpt-4o?fallback_type=context_window", "", nil)
	if v := a.json(t); a.status != http.StatusOK || v["model"] != "openai/gpt-4o" || v["fallback_type"] != "context_window" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if spec, revision := n.View().Catalog.RouterSpec(); revision != 46 || len(spec.ContextWindowFallbacks) != 0 || len(spec.Fallbacks) != 1 {
		t.Errorf("%d %+v", revision, spec)
	}
}
