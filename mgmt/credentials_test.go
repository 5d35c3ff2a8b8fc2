package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// A credential is shown masked, applies at once to the deployments that name it, and cannot be
// deleted before them.
func TestCredentialLife(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "POST /credentials", `{"credential_name":"prod","credential_values":{"api_key":"sk-`+vendorMark+`","api_base":"https://a.example/v1"},"credential_info":{"who":"us"}}`, nil)
	v := a.json(t)
	if a.status != http.StatusOK || fmt.Sprint(v["credential_values"]) != "map[api_base:https://a.example/v1 api_key:sk-…90cd]" || fmt.Sprint(v["credential_info"]) != "map[who:us]" || v["revision"] != 42.0 || v["created_by"] != "master" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	model := func(id, more string) string {
		return `{"model_name":"m","gateway_params":{"model":"openai/x"` + more + `},"model_info":{"id":"` + id + `"}}`
	}
	play(t, s, []step{
		{"", "POST /credentials", `{"credential_name":"prod","credential_values":{"api_key":"k"}}`, "409 already_exists credential_name"},
		{"", "POST /model/new", model("d", `,"credential_name":"prod"`), "200"},
		{"", "POST /model/new", model("e", `,"credential_name":"prod","api_base":"https://own.example","organization":"own"`), "200"},
		{"", "POST /model/new", model("f", `,"credential_name":"gone"`), "404 credential_not_found gateway_params.credential_name"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"credential_name":"gone"}}`, "404 credential_not_found gateway_params.credential_name"},
		{"", "DELETE /credentials/prod", "", "409 credential_in_use"},
		{"", "PATCH /credentials/prod", `{"credential_values":{"api_key":"another-` + vendorMark + `","organization":"org-1"},"if_revision":42}`, "200"},
		{"", "PATCH /credentials/prod", `{"credential_values":{"api_key":"k"},"if_revision":42}`, "409 revision_conflict"},
		{"", "PUT /credentials/prod", `{"credential_info":null}`, "200"},
		{"", "PATCH /credentials/nobody", `{"credential_values":{"api_key":"k"}}`, "404 credential_not_found credential_name"},
		{"", "GET /credentials/nobody", "", "404 credential_not_found credential_name"},
		{"", "DELETE /credentials/nobody", "", "404 credential_not_found credential_name"},
		{"", "POST /credentials", `{"credential_name":"a b","credential_values":{"api_key":"k"}}`, "422 invalid_value credential_name"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{}}`, "422 invalid_value credential_values"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"aws_region_name":"x.evil.com#"}}`, "422 invalid_value credential_values.aws_region_name"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"api_key":"` + vendorMark + `\r\nx: y"}}`, "422 invalid_value credential_values.api_key"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"api_key":"os.environ/HOME"}}`, "422 invalid_value credential_values.api_key"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"api_key":"` + strings.Repeat("k", 1<<19) + `"}}`, "422 too_long credential_values.api_key"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"api_base":"http://u:` + vendorMark + `@h"}}`, "422 invalid_api_base credential_values.api_base"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"organization":"a\nb"}}`, "422 invalid_value credential_values.organization"},
		{"", "PATCH /credentials/prod", `{"credential_values":null}`, "422 invalid_value credential_values"},
		{plainKey, "GET /credentials", "", "403 insufficient_permissions"},
		{plainKey, "GET /credentials/prod", "", "403 insufficient_permissions"},
		{plainKey, "DELETE /credentials/prod", "", "403 insufficient_permissions"},
	})
	for name, want := range map[string]string{"d": "a.example org-1", "e": "own.example own"} {
		d, ok := n.View().Catalog.Deployment(id.Deployment(name))
		if !ok || d.Endpoint.Host+" "+d.ExtraHeaders[0].Value.Reveal() != want || !d.APIKey.Equal("another-"+vendorMark) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	list := ask(t, s, "GET /credentials", "", nil)
	one := ask(t, s, "GET /credentials/by_name/prod", "", nil)
	if fmt.Sprint(one.json(t)["used_by"]) != "[d e]" || fmt.Sprint(one.json(t)["credential_info"]) != "map[]" || !strings.Contains(list.body, `"used_by":["d"`) || strings.Contains(list.body+one.body, vendorMark) {
		t.Errorf("%s\n%s", list.body, one.body)
	}
	if info := ask(t, s, "GET /model/info?model_id=d", "", nil); strings.Contains(info.body, vendorMark) || !strings.Contains(info.body, `"credential_name":"prod"`) {
		t.Error(info.body)
	}
	play(t, s, []step{
		{"", "POST /model/delete", `{"id":"d"}`, "200"},
		{"", "PATCH /model/e/update", `{"gateway_params":{"credential_name":null,"api_key":"k"}}`, "200"},
		{"", "DELETE /credentials/prod", "", "200"},
	})
	if all := n.View().Catalog.Credentials(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// Rotation encrypts with the new key what the old one encrypted, in as many changes as needed,
// and nothing twice.
func TestCredentialsAreRotated(t *testing.T) {
	s, n := newFake(t)
	long := strings.Repeat("k", 15<<10)
	play(t, s, []step{{"", "POST /credentials", `{"credential_name":"c","credential_values":{"api_key":"` + vendorMark + `"}}`, "200"}})
	for i := range 40 {
		body := fmt.Sprintf(`{"model_name":"m","gateway_params":{"model":"openai/x","api_key":"%s","extra_headers":{"x-a":"v"}},"model_info":{"id":"d%d"}}`, long, i)
		if a := ask(t, s, "POST /model/new", body, nil); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
	}
	counts := func(a answer) string {
		v := a.json(t)
		return fmt.Sprint(a.status, " ", v["resealed"], " ", v["already"], " ", v["total"])
	}
	if got := counts(ask(t, s, "POST /credentials/rotate", "", nil)); got != "200 0 81 81" {
		t.Fatal(got)
	}
	old := n.sealer
	fresh, err := vault.KeyFromSecret(vault.NewSecret("the secret that is to seal from now on"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := vault.KeyFromSecret(vault.NewSecret("the secret that the tests seal with"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := vault.NewSealer(fresh, before)
	if err != nil {
		t.Fatal(err)
	}
	*old = *both
	if got := counts(ask(t, s, "POST /credentials/rotate", "", nil)); got != "200 81 0 81" {
		t.Error(got)
	}
	if got := counts(ask(t, s, "POST /credentials/rotate", "", nil)); got != "200 0 81 81" {
		t.Error(got)
	}
	for _, d := range n.View().Catalog.Deployments() {
		if s := d.Stored(); !s.Static && (both.NeedsReseal(s.Sealed.APIKey) || both.NeedsReseal(s.Sealed.Headers["x-a"]) || !d.APIKey.Equal(long)) {
			t.Errorf("%s is sealed with the old key", d.ID)
		}
	}
	only, err := vault.NewSealer(before)
	if err != nil {
		t.Fatal(err)
	}
	*old = *only
	play(t, s, []step{
		{"", "POST /credentials/rotate", "", "409 cannot_open"},
		{plainKey, "POST /credentials/rotate", "", "403 insufficient_permissions"},
	})
}
