package e2e

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"cloud.google.com/go/auth"
	"google.golang.org/genai"
)

// keyAsToken has the gateway's key in place of a token of Google's.
type keyAsToken struct{}

func (keyAsToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: adminKey, Type: "Bearer", Expiry: time.Now().Add(time.Hour)}, nil
}

// genaiForGo requires that Google's library for Go works at a gateway's paths of Gemini and of Vertex AI, with models of
// several providers.
func genaiForGo(t *testing.T, g *gatewayProcess) {
	t.Helper()
	for name, config := range map[string]*genai.ClientConfig{
		"Gemini": {Backend: genai.BackendGeminiAPI, APIKey: adminKey, HTTPOptions: genai.HTTPOptions{BaseURL: g.url + "/gemini"}},
		"Vertex AI": {
			Backend: genai.BackendVertexAI, Project: "any", Location: "europe-west4", HTTPOptions: genai.HTTPOptions{BaseURL: g.url + "/vertex_ai"},
			Credentials: auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: keyAsToken{}}),
		},
	} {
		c, err := genai.NewClient(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []string{"gemini", "gpt", "claude"} {
			answersGo(t, name, c, model)
		}
		for _, model := range []string{"gemini-tools", "gpt-tools"} {
			callsGo(t, name, c, model)
		}
		_, err = c.Models.GenerateContent(t.Context(), "nobody", genai.Text("Hello."), nil)
		if e, ok := errors.AsType[genai.APIError](err); !ok || e.Code != http.StatusNotFound || e.Status != "NOT_FOUND" {
			t.Errorf("%s: a model that does not exist: %v", name, err)
		}
	}
}

// answersGo requires answers of a model, whole and streamed, and a count.
func answersGo(t *testing.T, name string, c *genai.Client, model string) {
	t.Helper()
	whole, err := c.Models.GenerateContent(t.Context(), model, genai.Text("Hello."), &genai.GenerateContentConfig{MaxOutputTokens: 50})
	if err != nil || whole.Text() == "" || whole.UsageMetadata.CandidatesTokenCount == 0 || whole.Candidates[0].FinishReason != genai.FinishReasonStop {
		t.Errorf("%s, %s: %+v, %v", name, model, whole, err)
		return
	}
	var text string
	var last *genai.GenerateContentResponse
	for piece, err := range c.Models.GenerateContentStream(t.Context(), model, genai.Text("Hello."), &genai.GenerateContentConfig{MaxOutputTokens: 50}) {
		if err != nil {
			t.Errorf("%s, %s, streamed: %v", name, model, err)
			return
		}
		text, last = text+piece.Text(), piece
	}
	if text == "" || last.UsageMetadata == nil || last.UsageMetadata.CandidatesTokenCount == 0 || last.Candidates[0].FinishReason != genai.FinishReasonStop {
		t.Errorf("%s, %s, streamed: %q, the last event %+v", name, model, text, last)
	}
	if model == "gemini" { // the fake provider does not count
		return
	}
	if n, err := c.Models.CountTokens(t.Context(), model, genai.Text("Hello."), nil); err != nil || n.TotalTokens == 0 {
		t.Errorf("%s, %s: a count of %+v, %v", name, model, n, err)
	}
}

// callsGo requires that a model calls a tool, and takes its result.
func callsGo(t *testing.T, name string, c *genai.Client, model string) {
	t.Helper()
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "get_weather", Description: "Says what the weather is.",
		Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}, Required: []string{"city"}},
	}}}}}
	history := genai.Text("What is the weather in Paris?")
	asked, err := c.Models.GenerateContent(t.Context(), model, history, config)
	if err != nil || len(asked.FunctionCalls()) == 0 {
		t.Errorf("%s, %s: no call: %+v, %v", name, model, asked, err)
		return
	}
	var results []*genai.Part
	for _, call := range asked.FunctionCalls() {
		results = append(results, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": "sunny"}}})
	}
	history = append(history, asked.Candidates[0].Content, genai.NewContentFromParts(results, genai.RoleUser))
	answer, err := c.Models.GenerateContent(t.Context(), model, history, config)
	if err != nil || answer.Text() == "" {
		t.Errorf("%s, %s: no answer to the result: %+v, %v", name, model, answer, err)
	}
}
