package extproc

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

func TestAuthority(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com/v1": "api.openai.com",
		"https://host:8443":         "host:8443",
		"http://host":               "host",
		"http://host:443":           "host:443",
		"https://[2001:db8::1]/v1":  "[2001:db8::1]",
		"http://[2001:db8::1]:8080": "[2001:db8::1]:8080",
		"http://10.0.0.1:80/v1":     "10.0.0.1",
	} {
		e, _, err := catalog.ParseBase(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := authority(e); got != want {
			t.Errorf("the authority of %s is %s, want %s", base, got, want)
		}
	}
}

func TestFeaturesByTheModelsName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, model, base string
		want                  provider.Features
	}{
		{"openai", "claude-opus-4-7", "", provider.Features{}},
		{"anthropic", "claude-3-7-sonnet-20250219", "", provider.Features{}},
		{"anthropic", "claude-3-haiku-20240307", "", provider.Features{}},
		{"anthropic", "claude-sonnet-4-20250514", "", provider.Features{}},
		{"anthropic", "claude-opus-4-1-20250805", "", provider.Features{JSONSchema: true}},
		{"anthropic", "claude-sonnet-4-5", "", provider.Features{JSONSchema: true}},
		{"anthropic", "claude-sonnet-4.5@20250929", "", provider.Features{JSONSchema: true}},
		{"anthropic", "claude-sonnet-4-6", "", provider.Features{JSONSchema: true, AdaptiveThinking: true}},
		{"anthropic", "claude-opus-4-7", "", provider.Features{JSONSchema: true, AdaptiveThinking: true, HighEfforts: true, NoSampling: true}},
		{"anthropic", "my-own-name", "claude-3-haiku", provider.Features{}},
		{"anthropic", "something-new", "", provider.Features{JSONSchema: true}},
	} {
		row, _ := provider.ByName(test.provider)
		if got := target(&row, &catalog.Deployment{Model: test.model, BaseModel: test.base}, false).Features; got != test.want {
			t.Errorf("%s %s (%s): %+v, want %+v", test.provider, test.model, test.base, got, test.want)
		}
	}
}
