package mgmt

import (
	"strings"
	"testing"
)

// A deployment or credential of the API has neither the address of a cloud's metadata service,
// in any spelling, nor one in a private network that the operator has not allowed. The response
// does not repeat the address.
func TestProvidersHaveAllowedAddresses(t *testing.T) {
	t.Parallel()
	never := []string{
		"http://169.254.169.254/v1", "http://169.254.7.7", "http://[::ffff:169.254.169.254]/v1", "http://[::ffff:a9fe:a9fe]", "http://[fe80::1]", "http://[fd00:ec2::254]",
		"http://2852039166/v1", "http://0xA9FEA9FE/v1", "http://0251.0376.0251.0376", "http://169.254.43518", "http://metadata.google.internal/v1", "http://metadata.google.internal./v1",
		"http://100.100.100.200", "http://168.63.129.16", "http://0.0.0.0:8000", "http://[64:ff9b::a9fe:a9fe]",
	}
	private := []string{"http://127.0.0.1:8000/v1", "http://localhost:8000", "http://10.0.0.20", "http://192.168.1.1", "http://[::1]:80", "http://[fc00::1]", "http://vllm:8000/v1"}
	for _, open := range []bool{false, true} {
		s, _ := newFakeWith(t, open)
		play(t, s, []step{
			{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"openai/x","api_key":"k","api_base":"https://models.example.com/v1"},"model_info":{"id":"m1"}}`, "200"},
			{"", "POST /credentials", `{"credential_name":"c","credential_values":{"api_key":"k","api_base":"https://models.example.com/v1"}}`, "200"},
		})
		for i, base := range append(private, never...) {
			want := "422 address_not_allowed "
			if open && i < len(private) {
				want = "200"
			}
			of := func(param string) string {
				if want == "200" {
					return want
				}
				return want + param
			}
			play(t, s, []step{
				{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"openai/x","api_key":"k","api_base":"` + base + `"}}`, of("gateway_params.api_base")},
				{"", "POST /model/new", `{"model_name":"m","litellm_params":{"model":"openai/x","api_key":"k","api_base":"` + base + `"}}`, of("gateway_params.api_base")},
				{"", "POST /model/update", `{"model_id":"m1","gateway_params":{"api_key":"k","api_base":"` + base + `"}}`, of("gateway_params.api_base")},
				{"", "POST /credentials", `{"credential_name":"c` + strings.Repeat("x", i+1) + `","credential_values":{"api_key":"k","api_base":"` + base + `"}}`, of("credential_values.api_base")},
				{"", "PATCH /credentials/c", `{"credential_values":{"api_key":"k","api_base":"` + base + `"}}`, of("credential_values.api_base")},
			})
		}
	}
}
