package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/config"
)

// placesOfSettings says where a file has the settings of each section. Each list of
// names in testdata/documented is of the names that LiteLLM documents or reads.
func placesOfSettings() map[string]string {
	const model = "model_list: [{model_name: m, litellm_params: {model: openai/m, api_key: k}"
	return map[string]string{
		"sections":                 admin + "%s: [[zzz]]\n",
		"general_settings":         "general_settings: {master_key: sk-0123456789abcdef, %s: [[zzz]]}\n",
		"litellm_settings":         admin + "litellm_settings: {%s: [[zzz]]}\n",
		"router_settings":          admin + "router_settings: {%s: [[zzz]]}\n",
		"litellm_params":           admin + "model_list: [{model_name: m, litellm_params: {model: openai/m, api_key: k, %s: [[zzz]]}}]\n",
		"model_list":               admin + "model_list: [{%s: [[zzz]]}]\n",
		"model_info":               admin + model + ", model_info: {%s: [[zzz]]}}]\n",
		"callbacks":                admin + "litellm_settings: {callbacks: [%s]}\n",
		"optional_pre_call_checks": admin + "router_settings: {optional_pre_call_checks: [%s]}\n",
	}
}

// TestNothingDocumentedIsUnknown gives each documented setting a value of the
// wrong type: it is rejected, warned of, or found to be of the wrong type, and
// never unknown, and never passed over in silence.
func TestNothingDocumentedIsUnknown(t *testing.T) {
	total := 0
	for section, format := range placesOfSettings() {
		src, err := os.ReadFile(filepath.Join("testdata/documented", section+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.Lines(string(src)) {
			name = strings.TrimSpace(name)
			total++
			c, err := config.Parse("f", fmt.Appendf(nil, format, name), none)
			switch {
			case err != nil && strings.Contains(err.Error(), "unknown key"), err != nil && !strings.Contains(err.Error(), name):
				t.Errorf("%s %s: %v", section, name, err)
			case err == nil && len(c.Warnings) == 0:
				t.Errorf("%s %s: taken in silence", section, name)
			case err == nil && !strings.Contains(c.Warnings[0].Detail, "has no effect"):
				t.Errorf("%s %s: %v", section, name, c.Warnings)
			}
		}
	}
	if total < 800 {
		t.Errorf("only %d names", total)
	}
}

// protectingSettings returns settings that the gateway must never start without in silence.
func protectingSettings() map[string]string {
	all := map[string]string{
		"router_settings.guardrail_list":                      "router_settings: {guardrail_list: [{guardrail_name: g}]}",
		"router_settings.tag_budget_config":                   "router_settings: {tag_budget_config: {a: {max_budget: 1}}}",
		"router_settings.enable_tag_filtering":                "router_settings: {enable_tag_filtering: true}",
		"router_settings.fallback_access_check":               "router_settings: {fallback_access_check: true}",
		"optional_pre_call_checks.enforce_model_rate_limits":  "router_settings: {optional_pre_call_checks: [enforce_model_rate_limits]}",
		"optional_pre_call_checks.a_new_check":                "router_settings: {optional_pre_call_checks: [prompt_caching, a_new_check]}",
		"litellm_settings.tag_budget_config":                  "litellm_settings: {tag_budget_config: {a: {max_budget: 1}}}",
		"litellm_settings.default_internal_user_params.teams": "litellm_settings: {default_internal_user_params: {teams: [a]}}",
		"litellm_settings.priority_reservation":               "litellm_settings: {priority_reservation: {prod: 0.9}}",
		"general_settings.custom_key_generate":                "general_settings: {custom_key_generate: my.generate}",
		"general_settings.role_permissions":                   "general_settings: {role_permissions: [{role: team}]}",
		"general_settings.max_in_flight_requests_per_worker":  "general_settings: {max_in_flight_requests_per_worker: 5}",
		"general_settings.allowed_ips":                        "general_settings: {allowed_ips: [10.0.0.1]}",
		"litellm_params.tags":                                 deploymentWith("tags: [free]"),
		"litellm_params.default_guardrails":                   deploymentWith("default_guardrails: [pii]"),
		"litellm_params.max_budget":                           deploymentWith("max_budget: 1"),
		"model_info.team_id":                                  "model_list: [{model_name: m, litellm_params: {model: openai/m, api_key: k}, model_info: {team_id: a}}]",
		"callbacks.my.module.handler":                         "litellm_settings: {callbacks: my.module.handler}",
		"callbacks.custom_callbacks1.proxy_handler_instance":  "litellm_settings: {success_callback: [langfuse, custom_callbacks1.proxy_handler_instance]}",
		"guardrails": "guardrails: [{guardrail_name: pii}]",
	}
	for _, guard := range []string{
		"presidio", "detect_prompt_injection", "hide_secrets", "lakera_prompt_injection", "lakera_v2", "llamaguard_moderations", "llmguard_moderations",
		"banned_keywords", "blocked_user_check", "azure_content_safety", "aporia_prompt_injection", "google_text_moderation", "dynamic_rate_limiter",
		"dynamic_rate_limiter_v3",
	} {
		all["callbacks."+guard] = "litellm_settings: {callbacks: [prometheus, " + guard + "]}"
	}
	for _, list := range []string{"input_callback", "success_callback", "failure_callback"} {
		all["callbacks.guard_of_"+list] = "litellm_settings: {" + list + ": [guard_of_" + list + "]}"
	}
	return all
}

func deploymentWith(param string) string {
	return "model_list: [{model_name: m, litellm_params: {model: openai/m, api_key: k, " + param + "}}]"
}

// withAdmin adds the master key to a file.
func withAdmin(src string) []byte {
	const key = "{master_key: sk-0123456789abcdef"
	if rest, ok := strings.CutPrefix(src, "general_settings: {"); ok {
		return []byte("general_settings: " + key + ", " + rest + "\n")
	}
	return []byte(src + "\n" + admin)
}

// TestProtectingSettings checks that each setting that protects is rejected with
// a remedy, and starts with a warning only if its name is accepted.
func TestProtectingSettings(t *testing.T) {
	for name, src := range protectingSettings() {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("f", withAdmin(src), none)
			if err == nil || !strings.Contains(err.Error(), "is not supported: ") || !strings.Contains(err.Error(), "--accept-unprotected "+name+")") {
				t.Fatalf("got %v", err)
			}
			if _, err := config.Parse("f", withAdmin(src), none, "litellm_params.tag_regex"); err == nil {
				t.Error("accepted by another name")
			}
			c, err := config.Parse("f", withAdmin(src), none, name)
			if err != nil {
				t.Fatal(err)
			}
			var warned bool
			for _, w := range c.Warnings {
				warned = warned || strings.Contains(w.Detail, "is not enforced, as --accept-unprotected "+name+" accepts: ") && w.Line > 0
			}
			if !warned {
				t.Errorf("accepted without a warning that names it: %v", c.Warnings)
			}
		})
	}
}

// TestOffProtectsNothing checks that a setting which asks for nothing is no reason
// to reject a file.
func TestOffProtectsNothing(t *testing.T) {
	const src = "router_settings: {enable_tag_filtering: false, guardrail_list: []}\nlitellm_settings: {callbacks: [], max_budget: ~}\nguardrails: []"
	c, err := config.Parse("f", withAdmin(src), none)
	if err != nil || len(c.Warnings) > 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestAcceptedNames checks that a name that accepts nothing is found.
func TestAcceptedNames(t *testing.T) {
	_, err := config.Parse("f", []byte(admin), none, "general_settings.allowed_ipz", "general_settings.database_url", "sk-CANARY-0123456789")
	const want = `--accept-unprotected: "general_settings.allowed_ipz" names no setting that protects; did you mean "general_settings.allowed_ips"?
--accept-unprotected: "general_settings.database_url" names no setting that protects: write the name that the rejection of the file shows, such as general_settings.allowed_ips
--accept-unprotected: (20 characters, not shown) names no setting that protects: write the name that the rejection of the file shows, such as general_settings.allowed_ips`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c, err := config.Parse("f", []byte(admin), none, "general_settings.allowed_ips")
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].String(), "accepts nothing that is in this file") {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestMisspelledGuard checks that the remedy for a misspelled guard is its name.
func TestMisspelledGuard(t *testing.T) {
	for src, want := range map[string]string{
		"guardrals: [{a: b}]":                         `did you mean "guardrails"?`,
		"general_settings: {allowed_ipz: [10.0.0.1]}": `did you mean "allowed_ips"?`,
		"router_settings: {guardrails_list: [a]}":     `did you mean "guardrail_list"?`,
		deploymentWith("max_budgt: 1"):                `did you mean "max_budget"?`,
	} {
		if _, err := config.Parse("f", withAdmin(src), none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

// TestCallbackFromEnvironment checks that the name of a callback is not read from
// the environment: the message would show a credential.
func TestCallbackFromEnvironment(t *testing.T) {
	_, err := config.Parse("f", withAdmin("litellm_settings: {callbacks: [os.environ/SECRET]}"), environment([]byte("SECRET="+canary)))
	if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "is not supported") {
		t.Errorf("got %v", err)
	}
}
