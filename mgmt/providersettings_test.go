package mgmt

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// shownSettingsOf returns the settings of a deployment in a response.
func shownSettingsOf(t *testing.T, a answer) string {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	params, _ := a.json(t)["gateway_params"].(map[string]any)
	return fmt.Sprint(params["provider_settings"])
}

// Settings are given next to the other fields or in provider_settings, are shown without secrets, and stay as they are
// unless a request changes them.
func TestProviderSettings(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	const canary = "CANARY-" + vendorMark
	made := ask(t, s, "POST /model/new", `{"model_name":"m","gateway_params":{"model":"ofamazon/x","aws_region_name":"eu-west-1",
		"aws_access_key_id":"AKIA`+canary+`","provider_settings":{"aws_secret_access_key":"`+canary+`","aws_session_token":"s-`+canary+`"}},"model_info":{"id":"d"}}`, nil)
	if got := shownSettingsOf(t, made); got != "map[aws_access_key_id:[redacted] aws_region_name:eu-west-1 aws_secret_access_key:[redacted] aws_session_token:[redacted]]" {
		t.Error(got)
	}
	for body, want := range map[string]string{
		`{"aws_region_name":"us-east-1"}`: "map[aws_access_key_id:[redacted] aws_region_name:us-east-1 aws_secret_access_key:[redacted] aws_session_token:[redacted]]",
	} {
		if got := shownSettingsOf(t, ask(t, s, "PATCH /model/d/update", `{"gateway_params":`+body+`}`, nil)); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
	changed := ask(t, s, "PATCH /model/d/update", `{"gateway_params":{"aws_session_token":null,"aws_secret_access_key":"[redacted]","aws_role_name":"arn:aws:iam::123456789012:role/r","rpm":3}}`, nil)
	if got := shownSettingsOf(t, changed); got != "map[aws_access_key_id:[redacted] aws_region_name:us-east-1 aws_role_name:arn:aws:iam::123456789012:role/r aws_secret_access_key:[redacted]]" {
		t.Error(got)
	}
	d, _ := n.View().Catalog.Deployment("d")
	if d.Cloud.Secret(cloud.AWSSecretAccessKey).Reveal() != canary || !d.Cloud.Secret(cloud.AWSSessionToken).IsEmpty() || d.RPM != 3 {
		t.Errorf("the settings are %v", d.Cloud)
	}
	for _, target := range []string{"GET /model/info", "GET /v2/model/info", "GET /audit-log"} {
		if a := ask(t, s, target, "", nil); a.status != http.StatusOK || strings.Contains(a.body, canary) {
			t.Errorf("%s shows a secret: %s", target, a.body)
		}
	}
	if a := asking(t, s, plainKey, "GET /model/info", ""); strings.Contains(a.body, "eu-west-1") {
		t.Errorf("a caller sees the settings: %s", a.body)
	}
}

func TestProviderSettingsThatAreRejected(t *testing.T) {
	t.Parallel()
	s, _ := newFakeWith(t, false)
	keys := `"aws_access_key_id":"AKIA","aws_secret_access_key":"` + vendorMark + `"`
	for params, want := range map[string]string{
		`"model":"ofamazon/x"`:                                                                   "missing_required_parameter gateway_params.aws_access_key_id",
		`"model":"ofamazon/x","aws_access_key_id":"AKIA"`:                                        "missing_required_parameter gateway_params.aws_secret_access_key",
		`"model":"ofamazon/x","aws_profile_name":"default"`:                                      "invalid_value gateway_params.aws_profile_name",
		`"model":"ofamazon/x","aws_role_name":"arn:aws:iam::123456789012:role/r"`:                "missing_required_parameter gateway_params.aws_access_key_id",
		`"model":"ofamazon/x","aws_web_identity_token":"/var/run/token"`:                         "invalid_value gateway_params.aws_web_identity_token",
		`"model":"ofamazon/x","aws_web_identity_token":"oidc/env/X"`:                             "invalid_value gateway_params.aws_web_identity_token",
		`"model":"ofamazon/x",` + keys + `,"aws_region_name":"x.evil.com#"`:                      "invalid_value gateway_params.aws_region_name",
		`"model":"ofamazon/x",` + keys + `,"aws_role_name":"arn:aws:s3:::b"`:                     "invalid_value gateway_params.aws_role_name",
		`"model":"ofamazon/x",` + keys + `,"aws_sts_endpoint":"http://169.254.169.254"`:          "address_not_allowed gateway_params.aws_sts_endpoint",
		`"model":"ofamazon/x",` + keys + `,"aws_sts_endpoint":"https://10.0.0.1"`:                "address_not_allowed gateway_params.aws_sts_endpoint",
		`"model":"ofamazon/x",` + keys + `,"aws_bedrock_runtime_endpoint":"ftp://x"`:             "invalid_api_base gateway_params.aws_bedrock_runtime_endpoint",
		`"model":"ofamazon/x",` + keys + `,"aws_region":"eu-west-1"`:                             "unsupported_parameter gateway_params.aws_region",
		`"model":"ofamazon/x",` + keys + `,"provider_settings":{"aws_access_key_id":"b"}`:        "invalid_value gateway_params.aws_access_key_id",
		`"model":"ofamazon/x","provider_settings":{"bogus":"b"}`:                                 "unknown_parameter gateway_params.bogus",
		`"model":"ofamazon/x","aws_access_key_id":"AKIA","aws_secret_access_key":"[redacted]"`:   "invalid_value gateway_params.aws_secret_access_key",
		`"model":"ofamazon/x","aws_access_key_id":"AKIA","aws_secret_access_key":"os.environ/X"`: "invalid_value gateway_params.aws_secret_access_key",
		`"model":"ofamazon/x","aws_access_key_id":5`:                                             "invalid_type gateway_params.provider_settings.aws_access_key_id",
		`"model":"ofamazon/x",` + keys + `,"vertex_project":"p"`:                                 "invalid_value gateway_params.vertex_project",
		`"model":"ofgoogle/x"`: "missing_required_parameter gateway_params.vertex_credentials",
		`"model":"ofgoogle/x","vertex_credentials":"/etc/key.json"`:                              "invalid_value gateway_params.vertex_credentials",
		`"model":"ofgoogle/x","vertex_credentials":{"type":"external_account"}`:                  "invalid_value gateway_params.vertex_credentials",
		`"model":"ofgoogle/x","vertex_credentials":"{"`:                                          "invalid_value gateway_params.vertex_credentials",
		`"model":"ofmicrosoft/x","client_id":"identity"`:                                         "missing_required_parameter gateway_params.azure_ad_token",
		`"model":"ofmicrosoft/x","client_secret":"s","client_id":"c"`:                            "missing_required_parameter gateway_params.tenant_id",
		`"model":"ofmicrosoft/x","azure_ad_token":"t","azure_authority_host":"http://x.example"`: "invalid_value gateway_params.azure_authority_host",
		`"model":"ofmicrosoft/x","azure_ad_token":"t","tenant_id":"../x"`:                        "invalid_value gateway_params.tenant_id",
		`"model":"ofmicrosoft/x","azure_federated_token_file":"/etc/token"`:                      "invalid_value gateway_params.azure_federated_token_file",
		`"model":"ofmicrosoft/x","azure_certificate":"cert.pem"`:                                 "invalid_value gateway_params.azure_certificate",
	} {
		a := ask(t, s, "POST /model/new", `{"model_name":"m","gateway_params":{`+params+`}}`, nil)
		if a.status != http.StatusUnprocessableEntity || a.refusal(t) != want {
			t.Errorf("%s: %d %s\n%s", params, a.status, a.refusal(t), a.body)
		}
		if strings.Contains(a.body, vendorMark) {
			t.Errorf("a secret is shown: %s", a.body)
		}
	}
}

// A stored secret goes to the address that it was stored for, and to no other.
func TestProviderSettingsStayWithTheirAddress(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"ofamazon/x","aws_access_key_id":"AKIA","aws_secret_access_key":"k"},"model_info":{"id":"d"}}`, "200"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"aws_sts_endpoint":"https://evil.example"}}`, "422 missing_required_parameter gateway_params.aws_access_key_id"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"aws_bedrock_runtime_endpoint":"https://evil.example","aws_access_key_id":"AKIA"}}`, "422 missing_required_parameter gateway_params.aws_secret_access_key"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_base":"https://evil.example"}}`, "422 missing_required_parameter gateway_params.aws_access_key_id"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_base":"https://evil.example","aws_access_key_id":"[redacted]","aws_secret_access_key":"k"}}`, "422 missing_required_parameter gateway_params.aws_access_key_id"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_base":"https://other.example","aws_access_key_id":"AKIA","aws_secret_access_key":"k"}}`, "200"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_base":null,"api_key":"bedrock","aws_access_key_id":null,"aws_secret_access_key":null}}`, "200"},
		{"", "POST /credentials", `{"credential_name":"c","credential_values":{"tenant_id":"t","client_id":"c","client_secret":"s"}}`, "200"},
		{"", "PATCH /credentials/c", `{"credential_values":{"azure_authority_host":"https://evil.example"}}`, "422 missing_required_parameter credential_values.client_secret"},
		{"", "PATCH /credentials/c", `{"credential_values":{"azure_authority_host":"https://login.example","client_secret":"s"}}`, "200"},
	})
}

// A credential may have settings, which the deployments that name it use.
func TestCredentialsHaveProviderSettings(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@b", "token_uri": "https://token.example",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(string(account))
	if err != nil {
		t.Fatal(err)
	}
	play(t, s, []step{
		{"", "POST /credentials", `{"credential_name":"g","credential_values":{"vertex_project":"p","vertex_credentials":` + string(text) + `}}`, "200"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"vertex_credentials":"/etc/key.json"}}`, "422 invalid_value credential_values.vertex_credentials"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"bogus":"b"}}`, "422 unknown_parameter credential_values.bogus"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"client_secret":"[redacted]"}}`, "422 invalid_value credential_values.client_secret"},
		{"", "POST /credentials", `{"credential_name":"x","credential_values":{"aws_sts_endpoint":"http://169.254.169.254"}}`, "422 address_not_allowed credential_values.aws_sts_endpoint"},
		{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"ofgoogle/x","credential_name":"g","vertex_location":"eu"},"model_info":{"id":"d"}}`, "200"},
		{"", "POST /model/new", `{"model_name":"m","gateway_params":{"model":"ofgoogle/x","vertex_credentials":` + string(account) + `},"model_info":{"id":"e"}}`, "200"},
	})
	for _, one := range []id.Deployment{"d", "e"} {
		d, ok := n.View().Catalog.Deployment(one)
		if f, err := cloud.ReadGoogle([]byte(d.Cloud.Secret(cloud.VertexCredentials).Reveal())); !ok || err != nil || f.ClientEmail != "a@b" {
			t.Errorf("%s has the settings %v, and the error %v", one, d.Cloud, err)
		}
	}
	a := ask(t, s, "GET /credentials/g", "", nil)
	if got := fmt.Sprint(a.json(t)["credential_values"]); got != "map[vertex_credentials:[redacted] vertex_project:p]" {
		t.Error(got)
	}
	play(t, s, []step{{"", "PATCH /credentials/g", `{"credential_values":{"vertex_project":"q","vertex_credentials":"[redacted]"}}`, "200"}})
	d, _ := n.View().Catalog.Deployment("d")
	if d.Cloud.Get(cloud.VertexProject) != "q" || d.Cloud.Get(cloud.VertexLocation) != "eu" || d.Cloud.Secret(cloud.VertexCredentials).Reveal() != string(account) {
		t.Errorf("the settings are %v", d.Cloud)
	}
}

func TestCredentialProblemIsShownToAdmins(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	body := `{"model_name":"fast","gateway_params":{"model":"ofamazon/x","aws_region_name":"us-gov-west-1","aws_access_key_id":"AKIA","aws_secret_access_key":"k"},"model_info":{"id":"d"}}`
	play(t, s, []step{{"", "POST /model/new", body, "200"}})
	for who, want := range map[string]string{"": "the token service is silent", plainKey: ""} {
		a := asking(t, s, who, "GET /model/info?model_id=d", "")
		list, _ := a.json(t)["data"].([]any)
		if len(list) != 1 {
			t.Fatal(a.body)
		}
		one, _ := list[0].(map[string]any)
		info, _ := one["model_info"].(map[string]any)
		if info["credential_problem"] != want {
			t.Errorf("the problem is %q, want %q", info["credential_problem"], want)
		}
	}
}
