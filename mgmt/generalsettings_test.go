package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// A webhook without a secret gets one, which only this response shows.
func TestWebhookSettings(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	const on = `{"general_settings":{"alerting":["webhook"],"alerting_webhook_url":"https://hooks.example.com/x","alerting_webhook_events":["key.revoked","key.created"]}}`
	a := ask(t, s, "POST /config/update", on, nil)
	secret, _ := down(t, a.json(t), "general_settings", "alerting_webhook_secret").(string)
	if a.status != http.StatusOK || !strings.HasPrefix(secret, "whsec_") || n.mu.webhook.Secret.Reveal() != secret {
		t.Fatalf("%d %s", a.status, a.body)
	}
	now := ask(t, s, "GET /config", "", nil)
	want := "map[alerting:[webhook] alerting_webhook_batch:1 alerting_webhook_events:[key.created key.revoked] alerting_webhook_parallel:1 alerting_webhook_url:https://hooks.example.com/x]"
	if got := fmt.Sprint(now.json(t)["general_settings"]); got != want || now.json(t)["revision"] != 42.0 {
		t.Errorf("%s, want %s", now.body, want)
	}
	again := ask(t, s, "POST /config/update", `{"general_settings":{"alerting_webhook_secret":"my-own-secret-0123"},"if_revision":42}`, nil)
	if again.status != http.StatusOK || strings.Contains(again.body, "my-own-secret") || n.mu.webhook.Secret.Reveal() != "my-own-secret-0123" || n.mu.webhook.Previous.Reveal() != secret {
		t.Errorf("another secret: %d %s", again.status, again.body)
	}
	for _, no := range []string{secret, "my-own-secret-0123"} {
		for _, target := range []string{"GET /config", "GET /config/list?config_type=general_settings", "GET /config/field/info?field_name=alerting_webhook_secret"} {
			if a := ask(t, s, target, "", nil); a.status != http.StatusOK || strings.Contains(a.body, no) {
				t.Errorf("%s: %d %s", target, a.status, a.body)
			}
		}
		for _, r := range (auditOf{n}).records(t, 1) {
			if strings.Contains(string(r.Full()), no) {
				t.Errorf("the audit log has the secret: %s", r.Full())
			}
		}
	}
	play(t, s, []step{
		{"", "POST /config/field/update", `{"field_name":"alerting_webhook_events","field_value":["key.rotated"]}`, "200"},
		{"", "POST /config/field/update", `{"field_name":"alerting_webhook_events","field_value":["key.stolen"]}`, "422 invalid_value general_settings.alerting_webhook_events[0]"},
		{"", "POST /config/update", `{"general_settings":{"alerting_webhook_batch":500,"alerting_webhook_parallel":4}}`, "200"},
		{"", "POST /config/field/update", `{"field_name":"alerting_webhook_batch","field_value":0}`, "422 invalid_value alerting_webhook_batch"},
		{"", "POST /config/field/update", `{"field_name":"alerting_webhook_batch","field_value":100}`, "200"},
		{"", "POST /config/field/delete", `{"field_name":"alerting_webhook_parallel"}`, "200"},
		{"", "POST /config/field/delete", `{"field_name":"alerting_webhook_secret"}`, "422 invalid_value field_name"},
		{"", "POST /config/field/delete", `{"field_name":"alerting_webhook_url"}`, "422 missing_field alerting_webhook_url"},
		{"", "POST /config/field/delete", `{"field_name":"alerting","config_type":"general_settings"}`, "200"},
		{"", "POST /config/field/delete", `{"field_name":"alerting_webhook_url"}`, "200"},
		{"", "GET /config/field/info?field_name=nope&config_type=general_settings", "", "404 setting_not_found field_name"},
		{"", "POST /config/update", on[:len(on)-1] + `,"if_revision":42}`, "409 revision_conflict"},
		{plainKey, "POST /config/update", on, "403 insufficient_permissions"},
	})
	if n.mu.webhook.Pace != (delivery.Pace{Batch: 100}) {
		t.Errorf("the pace is %+v", n.mu.webhook.Pace)
	}
	if n.mu.webhook.Webhook || n.mu.webhook.URL != "" {
		t.Errorf("%+v", n.mu.webhook)
	}
}

func TestWebhookSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	for body, want := range map[string]string{
		`{"alerting":["slack"]}`:                "invalid_value general_settings.alerting[0]",
		`{"alerting":["webhook","email"]}`:      "invalid_value general_settings.alerting[1]",
		`{"alerting":"webhook"}`:                "invalid_type general_settings.alerting",
		`{"alerting":[1]}`:                      "invalid_type general_settings.alerting[0]",
		`{"alerting":["webhook"]}`:              "missing_field alerting_webhook_url",
		`{"master_key":"sk-x"}`:                 "unknown_field general_settings.master_key",
		`{"alerting_webhook_secret":"short"}`:   "invalid_value general_settings.alerting_webhook_secret",
		`{"alerting_webhook_events":["x"]}`:     "invalid_value general_settings.alerting_webhook_events[0]",
		`{"alerting_webhook_url":"http://a.b"}`: "",
		`{"alerting_webhook_batch":0}`:          "invalid_value general_settings.alerting_webhook_batch",
		`{"alerting_webhook_batch":1001}`:       "invalid_value general_settings.alerting_webhook_batch",
		`{"alerting_webhook_parallel":65}`:      "invalid_value general_settings.alerting_webhook_parallel",
		`{"alerting_webhook_parallel":"many"}`:  "invalid_type general_settings.alerting_webhook_parallel",
	} {
		a := ask(t, s, "POST /config/update", `{"general_settings":`+body+`}`, nil)
		if a.status != http.StatusUnprocessableEntity || want != "" && a.refusal(t) != want {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
	for _, url := range []string{
		"file:///etc/passwd", "gopher://a.b", "http://a.b", "https://user:pass@a.b", "https://127.1", "https://0x7f.1", "https://2130706433", "https://017700000001",
		"https://[::ffff:169.254.169.254]", "https://100.100.100.200", "https://[fd00:ec2::254]", "https://a.b:22/", "https://localhost/", "https://a b/", "nonsense",
	} {
		a := ask(t, s, "POST /config/update", `{"general_settings":{"alerting":["webhook"],"alerting_webhook_url":"`+url+`"}}`, nil)
		if a.status != http.StatusUnprocessableEntity || !strings.HasSuffix(a.refusal(t), "alerting_webhook_url") {
			t.Errorf("%s: %d %s", url, a.status, a.body)
		}
	}
	if n.View().Revision != 41 {
		t.Error("something was changed")
	}
}
