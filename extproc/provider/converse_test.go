package provider_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestConverseStreamedIsWhole: a caller of Converse gets the same response of a provider of another language whole and
// streamed, as Bedrock's own language is read.
func TestConverseStreamedIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		t.Helper()
		p, _ := byName(rapid.SampledFrom([]string{"anthropic", "openai"}).Draw(t, "provider"))
		body, all := anthropicAnswer(t)
		if p.Name == "openai" {
			body, all = openAIAnswer(t)
		}
		reply, err := codec(p).Decode(body)
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		m := dialect.Meta{Model: "alias", IncludeUsage: true}
		answer := converse.Dialect{}.EncodeResponse(nil, reply, m)
		whole, err := bedrock.Codec{}.Decode(answer)
		if err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		streamed, _, _ := translate(t, converse.Dialect{}, codec(p), all, m)
		got, in := wire.Choice{}, bedrock.Codec{}.Stream()
		for _, e := range events(streamed.all()) {
			if !jsontext.Value(e.data).IsValid() {
				t.Fatalf("%s", e.data)
			}
			chunks, err := in.Event(nil, e.name, []byte(e.data))
			if err != nil {
				t.Fatalf("%v: %s", err, e.data)
			}
			for i := range chunks {
				join(&got, &chunks[i])
			}
		}
		for i := range got.ToolCalls { // a whole response has an object, and a stream what the model wrote
			args := jsontext.Value(got.ToolCalls[i].Arguments)
			if !args.IsValid() || args.Kind() != '{' {
				args = jsontext.Value(`{"INVALID_JSON":` + string(splice.Quote(nil, string(args))) + `}`)
			}
			if err := args.Compact(); err != nil {
				t.Fatal(err)
			}
			got.ToolCalls[i].Arguments = string(args)
		}
		whole.Choices[0].Annotations, got.Annotations = nil, nil // an event does not say where the text of its source begins
		if diff := cmp.Diff(plainChoice(whole.Choices[0]), plainChoice(got)); diff != "" {
			t.Fatalf("(-whole +streamed) %s\n%s\n%s", diff, answer, streamed.all())
		}
		if diff := cmp.Diff(whole.Usage, in.Usage()); diff != "" {
			t.Fatalf("usage (-whole +streamed) %s", diff)
		}
		if !in.Complete() {
			t.Fatal("the stream is not complete")
		}
	})
}

// TestForeignMembersOfConverseStayHere: no driver sends a member of a caller of Converse under its own name, whatever that name
// means to its provider. Bedrock's own codec is not among them: there the bytes pass.
func TestForeignMembersOfConverseStayHere(t *testing.T) {
	names := []string{
		"container", "contextManagement", "context_management", "mcp_servers", "speed", "documents", "citation_options", "priority", "safe_prompt", "prompt_mode",
		"prompt_cache_key", "prediction", "store", "verbosity", "moderation", "logit_bias", "generationConfig", "safetySettings", "cachedContent",
		"metadata", "user", "previous_response_id", "conversation", "prompt", "background", "extra_body", "canary",
	}
	sent := 0
	for _, p := range chatting() {
		for _, name := range names {
			body := `{"messages":[{"role":"user","content":[{"text":"a"}]}],"` + name + `":{"canary":"in a member"},` +
				`"additionalModelRequestFields":{"` + name + `":"canary of the fields"},"requestMetadata":{"` + name + `":"canary"}}`
			ask, err := converse.Dialect{}.DecodeRequest([]byte(body))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			ask.Model = "m"
			if _, err := codec(p).Encode(ask, driver.Target{Model: "m"}); err == nil {
				t.Errorf("%s takes %s", p.Name, name)
			}
			out, err := codec(p).Encode(ask, driver.Target{Model: "m", DropParams: true})
			if err != nil {
				t.Errorf("%s: %s: %v", p.Name, name, err)
			}
			if sent++; strings.Contains(string(out), "canary") {
				t.Errorf("%s: %s: %s", p.Name, name, out)
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d requests were sent", sent)
	}
}
