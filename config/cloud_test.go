package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config"
)

// loadModel loads a file with one deployment.
func loadModel(t *testing.T, params string) (*config.Config, error) {
	t.Helper()
	text := "general_settings: {master_key: sk-0123456789abcdef0123}\nmodel_list:\n- model_name: m\n  litellm_params:\n" + params
	return config.Parse("config.yaml", []byte(text), environment([]byte("REGION=eu-west-1\nKEY=CANARY-key\nROBOT={\"type\":\"authorized_user\"}")))
}

// LiteLLM's ways to write the credentials of clouds are understood.
func TestCredentialsOfClouds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params string
		want   map[string]string
	}{
		"of the environment": {`
    model: bedrock/x
    aws_region_name: os.environ/REGION
    aws_access_key_id: os.environ/KEY
    aws_secret_access_key: ${KEY}
`, map[string]string{cloud.AWSRegion: "eu-west-1", cloud.AWSAccessKeyID: "CANARY-key", cloud.AWSSecretAccessKey: "CANARY-key"}},
		"a path": {`
    model: vertex_ai/x
    vertex_ai_project: p
    vertex_ai_location: eu
    vertex_credentials: /etc/key.json
`, map[string]string{cloud.VertexProject: "p", cloud.VertexLocation: "eu", cloud.VertexCredentials: "/etc/key.json"}},
		"JSON": {`
    model: vertex_ai/x
    vertex_ai_credentials: os.environ/ROBOT
`, map[string]string{cloud.VertexCredentials: `{"type":"authorized_user"}`}},
		"JSON in several lines": {`
    model: vertex_ai/x
    vertex_credentials: |
      {
        "type": "authorized_user"
      }
`, map[string]string{cloud.VertexCredentials: "{\n  \"type\": \"authorized_user\"\n}"}},
		"a mapping": {`
    model: vertex_ai/x
    vertex_credentials:
      type: external_account
      audience: "0123"
      lifetime: 600
      refresh: true
      client_secret: os.environ/KEY
      credential_source: {file: /etc/token, format: {type: json}, list: [a, 1, null]}
`, map[string]string{cloud.VertexCredentials: `{"audience":"0123","client_secret":"CANARY-key","credential_source":{"file":"/etc/token","format":{"type":"json"},"list":["a",1,null]},"lifetime":600,"refresh":true,"type":"external_account"}`}},
		"a certificate": {`
    model: azure/x
    azure_certificate: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
`, map[string]string{cloud.AzureCertificate: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"}},
	} {
		cfg, err := loadModel(t, c.params)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := revealed(cfg.Catalog().Deployments[0].Cloud); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: the settings are %q, want %q", name, got, c.want)
		}
		if shown := string(cfg.Effective()); strings.Contains(shown, canary) {
			t.Errorf("%s: the effective configuration shows a secret:\n%s", name, shown)
		}
	}
}

func revealed(values map[string]vault.Secret) map[string]string {
	out := make(map[string]string, len(values))
	for name, v := range values {
		out[name] = v.Reveal()
	}
	return out
}

func TestCredentialsOfCloudsThatAreRejected(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		"    vertex_project: p\n    vertex_ai_project: q\n":          "vertex_ai_project: is another name of vertex_project",
		"    vertex_credentials: {client_secret: os.environ/GONE}\n": "environment variable GONE is not set",
		"    vertex_credentials: [a]\n":                              "vertex_credentials: must be a single value",
		"    aws_secret_access_key: {a: CANARY}\n":                   "aws_secret_access_key: must be a single value",
		"    aws_secret_access_key: \"CANARY\\nX\"\n":                "aws_secret_access_key: holds a character",
		"    vertex_credentials: \"[redacted]\"\n":                   "vertex_credentials: [redacted] stands for a credential",
	} {
		_, err := loadModel(t, "    model: vertex_ai/x\n"+params)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: the error is %v, want %s", params, err, want)
		}
	}
}
