package provider_test

import (
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

func TestFeaturesByTheModelsName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider, model, base string
		want                  driver.Features
	}{
		{"openai", "claude-opus-4-7", "", driver.Features{}},
		{"anthropic", "claude-3-7-sonnet-20250219", "", driver.Features{}},
		{"anthropic", "claude-3-haiku-20240307", "", driver.Features{NoReasoning: true}},
		{"anthropic", "claude-sonnet-4-20250514", "", driver.Features{}},
		{"anthropic", "claude-opus-4-1-20250805", "", driver.Features{JSONSchema: true, OneSampling: true}},
		{"anthropic", "claude-sonnet-4-5", "", driver.Features{JSONSchema: true, OneSampling: true}},
		{"anthropic", "claude-sonnet-4.5@20250929", "", driver.Features{JSONSchema: true, OneSampling: true}},
		{"anthropic", "claude-sonnet-4-6", "", driver.Features{JSONSchema: true, OneSampling: true, AdaptiveThinking: true}},
		{"anthropic", "claude-opus-4-7", "", driver.Features{JSONSchema: true, OneSampling: true, AdaptiveThinking: true, HighEfforts: true, NoSampling: true}},
		{"anthropic", "my-own-name", "claude-3-haiku", driver.Features{NoReasoning: true}},
		{"anthropic", "something-new", "", driver.Features{JSONSchema: true, OneSampling: true}},
	} {
		rows := provider.Providers()
		row := rows[slices.IndexFunc(rows, func(p provider.Provider) bool { return p.Name == test.provider })]
		if got := row.Target(&catalog.Deployment{Model: test.model, BaseModel: test.base}, false).Features; got != test.want {
			t.Errorf("%s %s (%s): %+v, want %+v", test.provider, test.model, test.base, got, test.want)
		}
	}
}
