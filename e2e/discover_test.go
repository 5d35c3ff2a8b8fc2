package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiscoverModels: what a provider lists is a model_list that a gateway starts with.
func TestDiscoverModels(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai/fake-gpt")+"\ngeneral_settings: {master_key: "+adminKey+", allow_private_endpoints: true}\n")
	c := newTerminal(t, g)
	out := c.run("model", "discover", "openai_compatible", "--api-key", "secret-canary", "--api-base", p.url+"/v1")
	if !strings.Contains(out, "openai_compatible/fake-gpt") || !strings.Contains(out, "PRICED") || strings.Contains(out, "canary") {
		t.Errorf("the models are\n%s", out)
	}
	list := c.run("model", "discover", "openai_compatible", "--api-key", "secret-canary", "--api-base", p.url+"/v1", "-o", "yaml")
	if strings.Contains(list, "canary") || !strings.Contains(list, "os.environ/OPENAI_COMPATIBLE_API_KEY") {
		t.Errorf("the list is\n%s", list)
	}
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(list+"general_settings: {master_key: "+adminKey+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "OPENAI_COMPATIBLE_API_KEY=k")
	if out, err := c.try("config", "check", file); err != nil {
		t.Errorf("the list is no model_list: %v\n%s\n%s", err, out, list)
	}
}
