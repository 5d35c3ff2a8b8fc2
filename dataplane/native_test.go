package dataplane_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/dataplane"
)

const project = "/v1/projects/p/locations/l/publishers/"

func TestFind(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]dataplane.Found{
		"/v1beta/models/m:generateContent":                         {Path: "/generateContent", Model: "m"},
		"/v1/models/m:generateContent":                             {Path: "/generateContent", Model: "m"},
		"/gemini/v1beta/models/a/b:streamGenerateContent":          {Path: "/streamGenerateContent", Model: "a/b"},
		"/gemini/v1beta/models/a%2Fb:countTokens":                  {Path: "/countTokens", Model: "a%2Fb"},
		"/v1beta/models/a:b:generateContent":                       {Path: "/generateContent", Model: "a:b"},
		"/v1beta/tunedModels/t:generateContent":                    {Path: "/generateContent", Model: "t"},
		"/v1beta/models/m:embedContent":                            {Path: "/embedContent", Model: "m"},
		"/v1beta/models/m:batchEmbedContents":                      {Path: "/batchEmbedContents", Model: "m"},
		"/vertex_ai" + project + "google/models/m:generateContent": {Path: "/generateContent", Model: "m"},
		project + "google/models/m:predict":                        {Path: "/embeddings", Form: "predict", Model: "m"},
		"/v1/publishers/google/models/m:generateContent":           {Path: "/generateContent", Model: "m"},
		"/v1beta1/publishers/meta/models/m:generateContent":        {Path: "/generateContent", Model: "meta/m"},
		project + "anthropic/models/c@1:rawPredict":                {Path: "/messages", Form: "vertex", Model: "c@1"},
		project + "anthropic/models/c:streamRawPredict":            {Path: "/messages", Form: "vertex", Model: "c"},
		project + "anthropic/models/count-tokens:rawPredict":       {Path: "/messages/count_tokens", Form: "vertex"},
		"/bedrock/model/a%2Fb:0/invoke":                            {Path: "/messages", Form: "invoke", Model: "a%2Fb:0"},
		"/bedrock/model/m/invoke-with-response-stream":             {Path: "/messages", Form: "invokes", Model: "m"},
		"/bedrock/model/a%2Fb:0/converse":                          {Path: "/converse", Model: "a%2Fb:0"},
		"/bedrock/model/m/converse-stream":                         {Path: "/converse-stream", Model: "m"},
		"/bedrock/model/m/count-tokens":                            {Path: "/count-tokens", Model: "m"},
		"/anthropic/v1/messages":                                   {Path: "/messages"},
		"/anthropic/v1/messages/count_tokens":                      {Path: "/messages/count_tokens"},
		"/openai/v1/chat/completions":                              {Path: "/chat/completions"},
		"/openai_passthrough/v1/responses":                         {Path: "/responses"},
		"/azure/openai/v1/embeddings":                              {Path: "/embeddings"},
		"/azure/openai/deployments/d/chat/completions":             {Path: "/chat/completions", Model: "d"},
		"/openai/deployments/d/audio/speech":                       {Path: "/audio/speech", Model: "d"},
		"/cohere/v2/rerank":                                        {Path: "/rerank"},
		"/cohere/v2/chat":                                          {Path: "/v2/chat"},
	} {
		if got, ok := dataplane.Find(path); !ok || got != want {
			t.Errorf("%s: %+v, %v", path, got, ok)
		}
		if !dataplane.IsInference(path) || dataplane.IsModels(path) {
			t.Errorf("%s is not among the routes that models answer", path)
		}
		served := slices.ContainsFunc(dataplane.Prefixes(), func(prefix string) bool { return strings.HasPrefix(path, prefix) }) ||
			slices.ContainsFunc(dataplane.Patterns(), func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(path) })
		if !served {
			t.Errorf("%s has no route", path)
		}
	}
	for _, path := range []string{
		"/v1beta/models/:generateContent", "/v1beta/models:generateContent", "/v1beta/models/m", "/v1beta/models/m:predict", "/gemini/v1/publishers/google/models/m:generateContent",
		"/gemini" + project + "google/models/m:generateContent", "/v1beta/cachedContents/m:generateContent", "/v1/publishers/a/b/models/m:generateContent",
		"/vertex_ai/v1beta/models/m:generateContent", project + "google/models/m:batchEmbedContents", "/x/models/m:generateContent", "/models/m:generateContent",
		"/v1/projects/p/publishers/google/models/m:generateContent", "/anthropic/v1/files", "/cohere/v1/chat", "/cohere/chat", "/openai/deployments/d/v2/chat", "/bedrock/model//converse", "/bedrock/model/m/converse/x", "/bedrock/converse", "/model/m/converse", "/bedrock/model//invoke", "/bedrock/model/a/b/invoke",
	} {
		if got, ok := dataplane.Find(path); ok && got.Path != "/x" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/models": "/v1/models", "/models": "/v1/models", "/v1/models/m": "/v1/models/m", "/v1beta/models": "/v1/models", "/v1beta/models/m": "/v1/models/m",
		"/gemini/v1beta/models": "/v1/models", "/vertex_ai/v1beta1/publishers/google/models": "/v1/models", "/anthropic/v1/models/m": "/v1/models/m",
		"/openai/models": "/v1/models", "/cohere/v1/models": "/v1/models", "/azure/openai/v1/models": "/v1/models", "/v1/models/m:generateContent": "", "/v1/modelsx": "", "/gemini": "", "/bedrock/models": "",
	} {
		if got, ok := dataplane.Models(path); got != want || ok != (want != "") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// An unknown path below a provider's prefix has the language of that provider's clients, and an error that names what
// exists.
func TestUnknownPathsHaveALanguage(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"/gemini/v1beta/files":             {"gemini", "/gemini/v1beta/models/{model}:generateContent"},
		"/v1beta/cachedContents":           {"gemini", "/v1beta/models/{model}:countTokens"},
		"/vertex_ai/v1/x":                  {"gemini", "/vertex_ai/v1/projects/"},
		"/anthropic/v1/files":              {"anthropic", "/anthropic/v1/messages"},
		"/openai/v1/files":                 {"openai", "/openai/v1/chat/completions"},
		"/azure/openai/v1/files":           {"openai", "/azure/openai/v1/responses"},
		"/openai_passthrough/v1/files":     {"openai", "/openai_passthrough/v1/embeddings"},
		"/bedrock/model/m/apply":           {"converse", "/bedrock/model/{model}/converse-stream"},
		"/bedrock/model/m/invoke":          {"anthropic", ""},
		"/bedrock/model/m/converse":        {"converse", ""},
		"/cohere/v1/chat":                  {"cohere", "/cohere/v2/chat"},
		"/cohere/v2/rerank":                {"cohere", ""},
		"/v2/rerank":                       {"cohere", ""},
		"/v2/chat":                         {"cohere", ""},
		"/v1/rerank":                       {"openai", ""},
		"/v1/chat/completions":             {"openai", ""},
		"/anthropic/v1/messages":           {"anthropic", ""},
		"/v1beta/models/m:generateContent": {"gemini", ""},
	} {
		if got := dataplane.Language(path); got != want[0] {
			t.Errorf("the language of %s is %q", path, got)
		}
		if want[1] != "" && !strings.Contains(dataplane.Supported(path), want[1]) {
			t.Errorf("%s: %s", path, dataplane.Supported(path))
		}
	}
}

// Each template of an operation leads to it.
func TestTemplatesAreFound(t *testing.T) {
	t.Parallel()
	for _, o := range dataplane.Operations() {
		for _, template := range append(o.Templates(), o.Aliases()...) {
			path := strings.NewReplacer("{model}", "m", "{project}", "p", "{location}", "l").Replace(template)
			f, ok := dataplane.Find(path)
			if !ok || f.Path != o.Path && f.Form == "" {
				t.Errorf("%s of %s: %+v, %v", path, o.Path, f, ok)
			}
		}
	}
}
