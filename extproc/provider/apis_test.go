package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// The interfaces that a deployment can be made to use, by the name of its model in LiteLLM's spelling.
func TestInterfacesOfADeployment(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1b2"
	for _, c := range []struct{ model, base, version, want string }{
		{"openai/gpt-5", "/v1", "", "chat responses"},
		{"openai/responses/gpt-5", "/v1", "", "chat responses"},
		{"anthropic/claude-sonnet-4-5", "", "", "messages"},
		{"gemini/gemini-2.5-pro", "", "", "gemini"},
		{"mistral/mistral-large-latest", "", "", "chat"},
		{"cohere/command-a-03-2025", "", "", "chat"},
		{"groq/llama", "", "", "chat"},
		{"voyage/voyage-3", "", "", ""},
		{"azure/d", "", "", "chat responses"},
		{"azure/d", "", "2025-03-01-preview", "chat responses"},
		{"azure/d", "", "2024-10-21", "chat"},
		{"azure/o_series/responses/d", "", "", "chat responses"},
		{"azure_ai/gpt-5", "/openai/v1", "", "chat responses"},
		{"azure_ai/deepseek-r1", "/models", "2024-05-01-preview", "chat"},
		{"azure_ai/claude-sonnet-4-5", "/anthropic", "", "messages"},
		{"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "", "chat responses messages converse invoke"},
		{"bedrock/invoke/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "", "messages invoke"},
		{"bedrock/converse/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "", "converse"},
		{"bedrock/converse_like/us-west-2/meta.llama3-70b-instruct-v1:0", "", "", "converse"},
		{"bedrock/chat_completions/openai.gpt-oss-120b-1:0", "", "", "chat"},
		{"bedrock/" + arn, "", "", "converse"},
		{"bedrock/arn:aws:bedrock:us-east-1:111122223333:imported-model/a1b2", "", "", "chat converse"},
		{"bedrock/amazon.titan-embed-text-v2:0", "", "", ""},
		{"bedrock/*", "", "", "chat responses converse"},
		{"bedrock_mantle/openai.gpt-oss-120b", "", "", "chat responses"},
		{"bedrock_mantle/anthropic.claude-sonnet-5", "", "", "messages"},
		{"vertex_ai/gemini-2.5-pro", "", "", "gemini"},
		{"vertex_ai/gemini/123456", "", "", "gemini"},
		{"vertex_ai/claude-sonnet-4-5@20250929", "", "", "messages"},
		{"vertex_ai/openai/123456", "", "", "chat"},
	} {
		name, model, _ := strings.Cut(c.model, "/")
		p := named(t, name)
		if p.Spelled != nil {
			model, _ = p.Spelled(model)
		}
		if got := strings.Join(p.APIs(model, "", c.base, cloud.Settings(nil).With(cloud.AzureAPIVersion, c.version)), " "); got != c.want {
			t.Errorf("%s at %q of version %q has the interfaces %q, want %q", c.model, c.base, c.version, got, c.want)
		}
	}
}

// The chats of every caller go to the interface of a deployment's settings.
func TestAllChatsGoToTheInterface(t *testing.T) {
	t.Parallel()
	for _, p := range provider.Providers() {
		for _, model := range []string{"m", "anthropic.claude-sonnet-5", "claude-sonnet-5", "gpt-5-codex", "openai.gpt-oss-120b"} {
			for _, api := range p.APIs(model, "", "/openai/v1", nil) {
				to := driver.Target{Model: model, BasePath: "/openai/v1", API: driver.API(api)}
				if p.Features != nil {
					to.Features = p.Features(model)
				}
				for _, e := range []driver.Endpoint{driver.Chat, driver.Messages, driver.Responses, driver.Contents} {
					language, ok := p.Driver.Serves(to, e)
					if !ok || !to.API.Has(language) || p.Driver.Codec(language) == nil {
						t.Errorf("%s: with api %s, %s of %s goes in %q", p.Name, api, e, model, language)
					}
				}
			}
		}
	}
}

// What LiteLLM's configurations have before the name of a model is not part of it.
func TestSpellingsOfModels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, name, api string }{
		{"openai/responses/gpt-5", "gpt-5", "responses"},
		{"openai/responses/*", "*", "responses"},
		{"openai/gpt-5", "gpt-5", ""},
		{"azure/o_series/my-o3", "my-o3", ""},
		{"azure/gpt5_series/my-gpt", "my-gpt", ""},
		{"azure/responses/my-gpt", "my-gpt", "responses"},
		{"azure/responses/o_series/my-o3", "my-o3", "responses"},
		{"azure/responses", "responses", ""},
		{"azure_ai/model_router/azure-model-router", "azure-model-router", ""},
		{"azure_ai/responses/gpt-5", "gpt-5", "responses"},
	} {
		of, model, _ := strings.Cut(c.model, "/")
		if name, api := named(t, of).Spelled(model); name != c.name || api != c.api {
			t.Errorf("%s is the model %q by %q, want %q by %q", c.model, name, api, c.name, c.api)
		}
	}
}

// named returns the row of a provider.
func named(t *testing.T, name string) *provider.Provider {
	t.Helper()
	all := provider.Providers()
	i := slices.IndexFunc(all, func(p provider.Provider) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no provider %s", name)
	}
	return &all[i]
}
