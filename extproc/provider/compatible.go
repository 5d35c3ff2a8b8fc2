package provider

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
)

// compatibleRow is a provider that speaks OpenAI's language of chats, more or less.
type compatibleRow struct {
	name string
	base string // empty if a deployment must give one: it needs no key then, unless keyed
	openai.Driver
	keyed bool
}

// row returns the row of the table.
func (c *compatibleRow) row() Provider {
	return Provider{
		Name: c.name, BaseURL: c.base, NeedsKey: c.base != "" || c.keyed, NeedsBase: c.base == "", Like: "openai",
		Driver: c.Driver, Variation: c.Variation,
	}
}

// compatible lists the providers that speak OpenAI's language of chats, with what is different at each.
// What a provider ignores is no difference: it gets it. Reasoning is read from reasoning_content and
// from reasoning at all of them, and usage from wherever one of them reports it.
func compatible() []compatibleRow {
	var (
		none = driver.Variation{}
		// Most models of others know the roles of their chat templates alone.
		oldRoles = driver.Variation{NoDeveloper: true}
		oldNames = driver.Variation{NoDeveloper: true, OldLimit: true}
	)
	serving := func(v driver.Variation, e ...driver.Endpoint) openai.Driver {
		return openai.Driver{Variation: v, Endpoints: append([]driver.Endpoint{driver.Chat}, e...)}
	}
	with := func(d openai.Driver, change func(*openai.Driver)) openai.Driver {
		change(&d)
		return d
	}
	underV1 := func(d *openai.Driver) { d.UnderV1 = true }
	thinksInText := func(d *openai.Driver) { d.ThinksInText = true }
	wantsThinking := func(d *openai.Driver) { d.GivesThinkingBack = true }
	return []compatibleRow{
		{name: "cerebras", base: "https://api.cerebras.ai/v1", Driver: serving(
			driver.Variation{Lacks: []string{"frequency_penalty", "presence_penalty", "logit_bias"}}, driver.Completions)},
		{name: "dashscope", base: "https://dashscope.aliyuncs.com/compatible-mode/v1", Driver: serving(oldNames, driver.Embeddings)},
		{name: "deepinfra", base: "https://api.deepinfra.com/v1/openai", Driver: serving(oldNames, driver.Completions, driver.Embeddings, driver.Images)},
		{name: "deepseek", base: "https://api.deepseek.com", Driver: with(serving(oldNames), wantsThinking)},
		{name: "fireworks_ai", base: "https://api.fireworks.ai/inference/v1", Driver: serving(
			oldNames, driver.Completions, driver.Embeddings, driver.Transcriptions, driver.Translations, driver.Rerank)},
		{name: "github", base: "https://models.github.ai/inference", Driver: serving(none, driver.Embeddings)},
		{name: "groq", base: "https://api.groq.com/openai/v1", Driver: serving(
			driver.Variation{Lacks: []string{"logprobs", "top_logprobs", "logit_bias", "n"}}, driver.Speech, driver.Transcriptions, driver.Translations)},
		{name: "huggingface", base: "https://router.huggingface.co/v1", Driver: with(serving(oldNames), thinksInText)},
		{name: "minimax", base: "https://api.minimax.io/v1", Driver: with(serving(oldRoles), thinksInText)},
		{name: "moonshot", base: "https://api.moonshot.ai/v1", Driver: with(serving(oldRoles), wantsThinking)},
		{name: "nvidia_nim", base: "https://integrate.api.nvidia.com/v1", Driver: with(serving(oldNames, driver.Completions, driver.Embeddings), thinksInText)},
		{name: "openrouter", base: "https://openrouter.ai/api/v1", Driver: serving(none, driver.Completions, driver.Embeddings)},
		{name: "perplexity", base: "https://api.perplexity.ai", Driver: with(serving(oldNames), thinksInText)},
		{name: "sambanova", base: "https://api.sambanova.ai/v1", Driver: with(serving(
			oldRoles, driver.Completions, driver.Embeddings, driver.Transcriptions, driver.Translations), thinksInText)},
		{name: "together_ai", base: "https://api.together.xyz/v1", Driver: with(serving(
			oldNames, driver.Completions, driver.Embeddings, driver.Images, driver.Speech, driver.Transcriptions, driver.Translations, driver.Rerank), thinksInText)},
		{name: "xai", base: "https://api.x.ai/v1", Driver: serving(none, driver.Completions, driver.Embeddings, driver.Images, driver.ImageEdits)},
		{name: "zai", base: "https://api.z.ai/api/paas/v4", Driver: serving(oldNames)},

		{name: "databricks", keyed: true, Driver: serving(oldNames, driver.Completions, driver.Embeddings)},
		{name: "hosted_vllm", Driver: openai.Driver{UnderV1: true, ThinksInText: true}},
		{name: "lm_studio", Driver: with(with(serving(oldNames, driver.Completions, driver.Embeddings), underV1), thinksInText)},
		{name: "ollama", Driver: with(with(serving(oldNames, driver.Completions, driver.Embeddings), underV1), thinksInText)},
		{name: "openai_compatible", Driver: openai.Driver{ThinksInText: true}},
	}
}
