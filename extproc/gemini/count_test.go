package gemini_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// A count is of the contents, tools and system prompt that a chat would send, whatever its other parameters are; at Vertex AI the
// same without the model.
func TestCountsAreOfTheChat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const model = "gemini-3-flash-preview"
		to := driver.Target{Model: model, DropParams: true, Features: gemini.Features(model)}
		prompt := drawRequest(t)
		chat, err := gemini.Codec{}.Encode(prompt, to)
		if err != nil {
			t.Fatal(err)
		}
		endpoint := rapid.SampledFrom([]driver.Endpoint{driver.CountTokens, driver.InputTokens}).Draw(t, "endpoint")
		ask := &driver.Original{Endpoint: endpoint, Prompt: func() (*wire.Request, error) { return prompt, nil }}
		to.DropParams = false
		google, err := gemini.Driver{}.Rewrite(ask, to)
		if err != nil {
			t.Fatal(err)
		}
		vertex, err := gemini.Codec{Vertex: true}.Rewrite(ask, to)
		if err != nil {
			t.Fatal(err)
		}
		whole, of := members(t, chat), members(t, []byte(members(t, google.Body)["generateContentRequest"]))
		if of["model"] != `"models/`+model+`"` {
			t.Fatalf("the model is %s", of["model"])
		}
		for _, name := range []string{"contents", "systemInstruction", "tools"} {
			if of[name] != whole[name] || members(t, vertex.Body)[name] != whole[name] {
				t.Fatalf("%s of the chat is %s, of the count %s", name, whole[name], of[name])
			}
		}
		for _, name := range []string{"model", "toolConfig", "safetySettings", "labels", "serviceTier"} {
			if strings.Contains(string(vertex.Body), `"`+name+`":`) && members(t, vertex.Body)[name] != "" {
				t.Fatalf("the count has %s: %s", name, vertex.Body)
			}
		}
	})
}

// members returns the members of an object.
func members(t *rapid.T, raw []byte) map[string]string {
	var out map[string]jsontext.Value
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	texts := map[string]string{}
	for name, value := range out {
		texts[name] = string(value)
	}
	return texts
}
