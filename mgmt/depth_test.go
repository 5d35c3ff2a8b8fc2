package mgmt

import (
	"strings"
	"testing"
)

// nested returns free JSON with a number of levels, alternately objects and lists.
func nested(levels int) string {
	var open, end strings.Builder
	for i := range levels {
		if i%2 == 0 {
			open.WriteString(`{"a":`)
		} else {
			open.WriteString(`[`)
		}
	}
	for i := levels - 1; i >= 0; i-- {
		if i%2 == 0 {
			end.WriteString(`}`)
		} else {
			end.WriteString(`]`)
		}
	}
	return open.String() + `1` + end.String()
}

// Stored JSON has at most 32 levels, in every request. The error names the field.
func TestKeptJSONIsShallow(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	key, _ := madeKey(t, s, "", `{}`)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /user/new", `{"user_id":"ada"}`, "200"},
		{"", "POST /team/new", `{"team_id":"red"}`, "200"},
		{"", "POST /credentials", `{"credential_name":"c","credential_values":{"api_key":"sk-1"}}`, "200"},
	})
	for _, c := range []struct{ target, before, after, param string }{
		{"POST /key/generate", `{"metadata":`, `}`, "metadata"},
		{"POST /key/service-account/generate", `{"team_id":"red","metadata":`, `}`, "metadata"},
		{"POST /key/update", `{"key":"` + key + `","metadata":`, `}`, "metadata"},
		{"POST /key/bulk_update", `{"keys":[{"key":"` + key + `","metadata":`, `}]}`, "keys[0].metadata"},
		{"POST /key/regenerate", `{"key":"` + key + `","metadata":`, `}`, "metadata"},
		{"POST /user/new", `{"metadata":`, `}`, "metadata"},
		{"POST /user/update", `{"user_id":"ada","metadata":`, `}`, "metadata"},
		{"POST /user/bulk_update", `{"users":[{"user_id":"ada","metadata":`, `}]}`, "users[0].metadata"},
		{"POST /team/new", `{"metadata":`, `}`, "metadata"},
		{"POST /team/update", `{"team_id":"red","metadata":`, `}`, "metadata"},
		{"PATCH /team/red", `{"metadata":`, `}`, "metadata"},
		{"POST /organization/new", `{"organization_alias":"New","metadata":`, `}`, "metadata"},
		{"POST /organization/update", `{"organization_id":"acme","metadata":`, `}`, "metadata"},
		{"POST /credentials", `{"credential_name":"d","credential_values":{"api_key":"sk-1"},"credential_info":`, `}`, "credential_info"},
		{"PATCH /credentials/c", `{"credential_info":`, `}`, "credential_info"},
	} {
		play(t, s, []step{
			{"", c.target, c.before + nested(33) + c.after, "422 too_deep " + c.param},
			{"", c.target, c.before + nested(9990) + c.after, "422 too_deep " + c.param},
			{"", c.target, c.before + nested(32) + c.after, "200"},
		})
	}
	// Where the form of the JSON is known it is checked too; what nests too deep is said first.
	play(t, s, []step{
		{"", "POST /config/update", `{"router_settings":{"fallbacks":[` + nested(40) + `]}}`, "422 too_deep router_settings.fallbacks"},
		{"", "POST /config/update", `{"router_settings":{"model_group_alias":` + nested(40) + `}}`, "422 too_deep router_settings.model_group_alias"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":` + nested(40) + `}`, "422 too_deep field_value"},
	})
}
