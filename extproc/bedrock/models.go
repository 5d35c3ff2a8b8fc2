package bedrock

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
)

// choices are the ways in which a model can be made to call a tool.
type choices uint8

const (
	choosesAuto choices = iota // it decides by itself
	choosesAny                 // it can be made to call one
	choosesTool                // it can be made to call a certain one
)

// thinks is how a request sets the amount of thinking.
type thinks uint8

const (
	thinksNot     thinks = iota // it does not, or as it likes
	thinksClaude                // thinking, as in Anthropic's API
	thinksNova                  // reasoningConfig
	thinksByWords               // reasoning_effort, as in OpenAI's API
)

// family is a set of models that are alike. What a request may have depends on it.
type family struct {
	name     string // in Features, and before an ARN that does not tell its model
	ids      string // beginning of their ids, after the region of an inference profile
	choices  choices
	thinks   thinks
	schema   bool   // has outputConfig.textFormat
	caches   bool   // takes cache points
	topK     string // how it names top_k; empty if it has none
	noSystem bool   // takes no system messages
	noTools  bool
	noStops  bool // takes no texts that end the response
	status   bool // takes the status of a tool's result
	grounds  bool // has a tool of its own that searches the web
	pictures bool // draws, and has no chats
	embeds   bool
	ranks    bool // sorts documents, at an endpoint of its own
	chats    bool // has OpenAI's chat completions at Bedrock itself
	responds bool // has OpenAI's responses there
	mantle   bool // has OpenAI's responses at Mantle alone
}

// Names of families with bodies of their own.
const (
	familyNova          = "nova-embeddings"
	familyTitanPictures = "titan-multimodal-embeddings"
	familyCohere        = "cohere-embeddings"
	familyStability     = "stability"
)

// families is the table of what Bedrock's models have. The first row whose ids fit counts. Models that are not listed
// get what most have. See https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html.
func families() []family {
	return []family{
		{name: "claude-2", ids: "anthropic.claude-v", topK: "top_k", noTools: true},
		{name: "claude-2", ids: "anthropic.claude-instant", topK: "top_k", noTools: true},
		{name: "claude-3", ids: "anthropic.claude-3-opus", choices: choosesTool, topK: "top_k", status: true},
		{name: "claude-3", ids: "anthropic.claude-3-sonnet", choices: choosesTool, topK: "top_k", status: true},
		{name: "claude-3", ids: "anthropic.claude-3-haiku", choices: choosesTool, topK: "top_k", status: true},
		{name: "claude-3", ids: "anthropic.claude-3-5-sonnet-20240620", choices: choosesTool, topK: "top_k", status: true},
		{name: "claude", ids: "anthropic.", choices: choosesTool, thinks: thinksClaude, caches: true, topK: "top_k", status: true},
		{name: familyNova, ids: "amazon.nova-2-multimodal-embeddings", embeds: true},
		{name: "nova-canvas", ids: "amazon.nova-canvas", pictures: true},
		{name: "nova-2", ids: "amazon.nova-2", choices: choosesTool, thinks: thinksNova, caches: true, topK: "inferenceConfig.topK", status: true, grounds: true},
		{name: "nova", ids: "amazon.nova", choices: choosesTool, caches: true, topK: "inferenceConfig.topK", status: true, grounds: true},
		{name: familyTitanPictures, ids: "amazon.titan-embed-image", embeds: true},
		{name: "titan-embeddings", ids: "amazon.titan-embed", embeds: true},
		{name: "titan-images", ids: "amazon.titan-image", pictures: true},
		{name: "titan", ids: "amazon.titan", noSystem: true, noTools: true},
		{name: "rerank", ids: "amazon.rerank", ranks: true},
		{name: "rerank", ids: "cohere.rerank", ranks: true},
		{name: familyCohere, ids: "cohere.embed", embeds: true},
		{name: "command-r", ids: "cohere.command-r", topK: "k"},
		{name: "command", ids: "cohere.command", topK: "k", noSystem: true, noTools: true},
		{name: familyStability, ids: "stability.", pictures: true},
		{name: "llama", ids: "meta.llama", noStops: true},
		{name: "mistral-instruct", ids: "mistral.mistral-7b", topK: "top_k", noSystem: true, noTools: true},
		{name: "mistral-instruct", ids: "mistral.mixtral", topK: "top_k", noSystem: true, noTools: true},
		{name: "mistral", ids: "mistral.", choices: choosesAny, topK: "top_k", schema: true},
		{name: "deepseek_r1", ids: "deepseek.r1", noTools: true},
		{name: "deepseek", ids: "deepseek.", schema: true},
		{name: "gpt-oss-safeguard", ids: "openai.gpt-oss-safeguard", thinks: thinksByWords, schema: true, chats: true},
		{name: "gpt-oss", ids: "openai.gpt-oss", thinks: thinksByWords, schema: true, chats: true, mantle: true},
		{name: "gpt", ids: "openai.", choices: choosesTool, thinks: thinksByWords, schema: true, responds: true},
		{name: "grok", ids: "xai.", choices: choosesTool, thinks: thinksByWords, schema: true, chats: true},
		{name: "qwen", ids: "qwen.", schema: true},
		{name: "minimax", ids: "minimax.", schema: true},
		{name: "kimi", ids: "moonshot", schema: true},
		{name: "gemma-4", ids: "google.gemma-4", schema: true, mantle: true},
		{name: "gemma", ids: "google.", schema: true},
		{name: "nemotron", ids: "nvidia.", schema: true},
		{name: "jamba", ids: "ai21.jamba"},
		{name: "jurassic", ids: "ai21.j2", noSystem: true, noTools: true},
		{name: "", choices: choosesTool, status: true, caches: true},
	}
}

// isClaude reports whether the models are Anthropic's.
func (f *family) isClaude() bool { return strings.HasPrefix(f.name, "claude") }

// converses reports whether the models have chats.
func (f *family) converses() bool { return !f.pictures && !f.embeds && !f.ranks }

// familyNamed returns the family of a name; that of other models if there is none.
func familyNamed(name string) *family {
	all := families()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return &all[len(all)-1]
}

// family returns the family of a model.
func (n *name) family() *family {
	if n.spec != "" {
		return familyNamed(specs()[n.spec])
	}
	all := families()
	id := baseID(n.id)
	for i := range all {
		if strings.HasPrefix(id, all[i].ids) {
			return &all[i]
		}
	}
	return &all[len(all)-1]
}

// specs are LiteLLM's names of families before an ARN, with those of the table.
func specs() map[string]string {
	return map[string]string{
		"anthropic": "claude", "claude": "claude", "nova": "nova", "nova-2": "nova-2", "titan": "titan", "llama": "llama", "meta": "llama", "mistral": "mistral",
		"deepseek_r1": "deepseek_r1", "deepseek": "deepseek", "qwen3": "qwen", "qwen2": "qwen", "gpt-oss": "gpt-oss", "cohere": "command-r", "moonshot": "kimi",
	}
}

func isSpec(s string) bool { return specs()[s] != "" }

// baseID returns the id of a foundation model: without the ARN and the region of an inference profile.
func baseID(id string) string {
	if isARN(id) {
		_, id, _ = cutLast(id, "/")
	}
	if head, rest, ok := strings.Cut(id, "."); ok && isProfile(head) {
		return rest
	}
	return id
}

// isProfile reports whether a text begins the ids of inference profiles.
func isProfile(s string) bool {
	switch s {
	case "us", "eu", "apac", "ap", "jp", "au", "ca", "sa", "me", "af", "us-gov", "global":
		return true
	}
	return false
}

// Features returns the features of a model by its name in a deployment.
func Features(model string) driver.Features {
	n, err := parse(model)
	if err != nil {
		return driver.Features{}
	}
	f := n.family()
	if f.thinks == thinksClaude {
		out := anthropic.Features(n.id)
		out.LongCache = out.JSONSchema // both came with version 4.5
		out.Family = f.name
		return out
	}
	out := driver.Features{Family: f.name, JSONSchema: f.schema, NoReasoning: f.thinks == thinksNot}
	if f.responds {
		out.NoReasoning = openai.Features(strings.TrimPrefix(baseID(n.id), "openai.")).NoReasoning
	}
	return out
}
