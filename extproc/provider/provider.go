package provider

import (
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
)

// Provider is what is known of a provider without asking it.
type Provider struct {
	Name      string // as in a deployment's configuration
	BaseURL   string // default base address; empty if a deployment must give one
	NeedsKey  bool
	NeedsBase bool
	Like      string // name of the provider whose driver and goldens it shares; empty if its own
	Driver    driver.Driver

	// Features returns the features of a model by the provider's name for it.
	// nil means that all models of the provider have the zero Features.
	Features func(model string) driver.Features
}

// Providers lists every provider. It is written out, so that the list of what
// is supported can be read in one place.
func Providers() []Provider {
	rows := []Provider{
		{Name: "openai", BaseURL: "https://api.openai.com/v1", NeedsKey: true, Driver: openai.Driver{NewLimit: true, Responses: responses.Codec{}}, Features: openai.Features},
		{Name: "anthropic", BaseURL: "https://api.anthropic.com", NeedsKey: true, Driver: anthropic.Driver{}, Features: anthropic.Features},
	}
	for _, c := range []struct {
		name, base string
		driver     openai.Driver
	}{
		{"groq", "https://api.groq.com/openai/v1", openai.Driver{Endpoints: []driver.Endpoint{driver.Chat, driver.Speech, driver.Transcriptions, driver.Translations}}},
		{"together_ai", "https://api.together.xyz/v1", openai.Driver{Endpoints: []driver.Endpoint{
			driver.Chat, driver.Completions, driver.Embeddings, driver.Images, driver.Speech, driver.Transcriptions, driver.Translations, driver.Rerank,
		}}},
		{"fireworks_ai", "https://api.fireworks.ai/inference/v1", openai.Driver{Endpoints: []driver.Endpoint{
			driver.Chat, driver.Completions, driver.Embeddings, driver.Transcriptions, driver.Translations, driver.Rerank,
		}}},
		{"deepseek", "https://api.deepseek.com", openai.Driver{GivesThinkingBack: true, Endpoints: []driver.Endpoint{driver.Chat}}},
		{"xai", "https://api.x.ai/v1", openai.Driver{Endpoints: []driver.Endpoint{driver.Chat, driver.Completions, driver.Embeddings, driver.Images, driver.ImageEdits}}},
		{"openrouter", "https://openrouter.ai/api/v1", openai.Driver{Endpoints: []driver.Endpoint{driver.Chat, driver.Completions, driver.Embeddings}}},
		{"perplexity", "https://api.perplexity.ai", openai.Driver{Endpoints: []driver.Endpoint{driver.Chat}}},
		{"ollama", "", openai.Driver{UnderV1: true, Endpoints: []driver.Endpoint{driver.Chat, driver.Completions, driver.Embeddings}}},
		{"hosted_vllm", "", openai.Driver{UnderV1: true}},
		{"openai_compatible", "", openai.Driver{}},
	} {
		rows = append(rows, Provider{
			Name: c.name, BaseURL: c.base, NeedsKey: c.base != "", NeedsBase: c.base == "", Like: "openai", Driver: c.driver,
		})
	}
	return rows
}
