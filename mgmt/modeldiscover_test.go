package mgmt

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// discoverByKey stands for providers: an account whose key is bad is rejected.
func discoverByKey(_ context.Context, d *catalog.Deployment) ([]string, error) {
	if strings.HasPrefix(d.APIKey.Reveal(), "bad") {
		return nil, fault.New(fault.Unavailable, "upstream_auth_error", "The provider refused the gateway's credential.")
	}
	return []string{"gpt-4o", "has a space", d.Endpoint.Host}, nil
}

func TestDiscoverModels(t *testing.T) {
	t.Parallel()
	s, _ := newFakeWith(t, false)
	play(t, s, []step{
		{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"openai/gpt-4o","api_key":"k"}}`, "200"},
		{"", "POST /credentials", `{"credential_name":"main","credential_values":{"api_key":"canary","api_base":"https://eu.example.com/v1"}}`, "200"},
		{plainKey, "POST /model/discover", `{"provider":"openai","gateway_params":{"api_key":"k"}}`, "403 insufficient_permissions"},
		{"", "POST /model/discover", `{"gateway_params":{"api_key":"k"}}`, "422 missing_required_parameter provider"},
		{"", "POST /model/discover", `{"provider":"nobody","gateway_params":{"api_key":"k"}}`, "422 unknown_provider provider"},
		{"", "POST /model/discover", `{"provider":"openai"}`, "422 missing_required_parameter gateway_params.api_key"},
		{"", "POST /model/discover", `{"provider":"openai","gateway_params":{"credential_name":"none"}}`, "404 credential_not_found gateway_params.credential_name"},
		{"", "POST /model/discover", `{"provider":"openai","gateway_params":{"api_key":"k","model":"gpt-4o"}}`, "422 invalid_value gateway_params.model"},
		{"", "POST /model/discover", `{"provider":"openai","gateway_params":{"api_key":"k","api_base":"http://127.0.0.1"}}`, "422 address_not_allowed gateway_params.api_base"},
		{"", "POST /model/discover", `{"provider":"openai","gateway_params":{"credential_name":"main","api_base":"https://other.example.com"}}`, "422 invalid_value gateway_params.api_base"},
		{"", "POST /model/discover", `{"provider":"openai","gateway_params":{"api_key":"bad"}}`, "503 upstream_auth_error"},
	})
	body := compact(t, ask(t, s, "POST /model/discover", `{"provider":"openai","gateway_params":{"api_key":"secret-canary"}}`, nil).body)
	for _, want := range []string{
		`{"model_name":"gpt-4o","gateway_params":{"model":"openai/gpt-4o","api_key":"os.environ/OPENAI_API_KEY"},"model_info":{"priced":true,"configured":true}}`,
		`{"model_name":"api.openai.com","gateway_params":{"model":"openai/api.openai.com","api_key":"os.environ/OPENAI_API_KEY"},"model_info":{"priced":false,"configured":false}}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "canary") || strings.Contains(body, "space") {
		t.Errorf("the response is %s", body)
	}
	// The address and the key of a stored credential.
	body = compact(t, ask(t, s, "POST /model/discover", `{"provider":"openai","litellm_params":{"credential_name":"main"}}`, nil).body)
	if !strings.Contains(body, `"model":"openai/eu.example.com","credential_name":"main"`) || strings.Contains(body, "canary") || strings.Contains(body, "environ") {
		t.Errorf("with a credential the response is %s", body)
	}
}

// compact returns JSON without spaces: how many there are differs from build to build.
func compact(t *testing.T, body string) string {
	t.Helper()
	v := jsontext.Value(body)
	if err := v.Compact(); err != nil {
		t.Fatal(err)
	}
	return string(v)
}
