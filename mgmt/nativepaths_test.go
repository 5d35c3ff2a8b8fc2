package mgmt

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// Paths of providers' own clients have errors in the provider's form, which name the paths that exist.
func TestUnknownPathsOfProviders(t *testing.T) {
	s, _ := newFake(t)
	for target, want := range map[string]struct{ status, says string }{
		"POST /gemini/v1beta/models/m:predictLongRunning": {`"status":"NOT_FOUND"`, "/gemini/v1beta/models/{model}:generateContent"},
		"POST /v1beta/models/m:doSomething":               {`"status":"NOT_FOUND"`, "/v1beta/models/{model}:countTokens"},
		"POST /vertex_ai/v1/nothing":                      {`"status":"NOT_FOUND"`, "/vertex_ai/v1/projects/"},
		"GET /gemini/v1beta/cachedContents":               {`"status":"NOT_FOUND"`, ":embedContent"},
		"POST /anthropic/v1/files":                        {`"type":"not_found_error"`, "/anthropic/v1/messages/count_tokens"},
		"POST /bedrock/model/m/apply":                     {`"__type":"ResourceNotFoundException"`, "/bedrock/model/{model}/converse-stream"},
		"GET /bedrock/foundation-models":                  {`"__type":"ResourceNotFoundException"`, "/bedrock/model/{model}/invoke"},
		"POST /cohere/v1/chat":                            {`"message":"The gateway does not support the endpoint`, "/cohere/v2/chat"},
		"POST /openai_passthrough/v1/files":               {`"code":"unsupported_endpoint"`, "/openai_passthrough/v1/responses"},
	} {
		a := ask(t, s, target, "", nil)
		if a.status != http.StatusNotFound || !strings.Contains(a.body, want.status) || !strings.Contains(a.body, want.says) {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
	for _, target := range []string{"POST /gemini/v1beta/models/m:generateContent", "POST /vertex_ai/v1/projects/p/locations/l/publishers/google/models/m:countTokens"} {
		if a := ask(t, s, target, "", nil); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"INVALID_ARGUMENT"`) || !strings.Contains(a.body, "body is empty") {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
}

// The models are at the paths of each provider's clients, in its form; a key may stand in the query of Google's.
func TestModelsInTheFormsOfProviders(t *testing.T) {
	s, _ := newFake(t)
	for target, member := range map[string]string{
		"GET /gemini/v1beta/models": "models", "GET /v1beta/models": "models", "GET /gemini/v1/models": "models",
		"GET /vertex_ai/v1beta1/publishers/google/models": "publisherModels",
		"GET /anthropic/v1/models":                        "has_more",
		"GET /cohere/v1/models":                           "models",
		"GET /openai/v1/models":                           "object", "GET /openai_passthrough/v1/models": "object", "GET /azure/openai/v1/models": "object",
	} {
		a := ask(t, s, target, "", nil)
		var body map[string]any
		if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != http.StatusOK || body[member] == nil {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
}
