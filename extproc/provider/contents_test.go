package provider_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestContentsStreamedAreWhole: a caller of Google's language gets the same response of a provider of another one whole and
// streamed, as Google's own language is read.
func TestContentsStreamedAreWhole(t *testing.T) {
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
		m := dialect.Meta{ID: "1", Model: "alias", IncludeUsage: true}
		answer := googlecaller.Dialect{}.EncodeResponse(nil, reply, m)
		whole, err := gemini.Codec{}.Decode(answer)
		if err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		streamed, _, _ := translate(t, googlecaller.Dialect{}, codec(p), all, m)
		got, in := wire.Choice{}, gemini.Codec{}.Stream()
		for _, e := range events(streamed.all()) {
			if !jsontext.Value(e.data).IsValid() || strings.Count(e.data, `"usageMetadata"`) > 1 {
				t.Fatalf("%s", e.data)
			}
			chunks, err := in.Event(nil, "", []byte(e.data))
			if err != nil {
				t.Fatalf("%v: %s", err, e.data)
			}
			for i := range chunks {
				join(&got, &chunks[i])
			}
		}
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

// TestForeignMembersStayHere: no driver sends a member of a caller of Google's language under its own name, whatever that name
// means to its provider.
func TestForeignMembersStayHere(t *testing.T) {
	names := []string{
		"container", "contextManagement", "context_management", "mcp_servers", "speed", "documents", "citation_options", "priority", "k", "safe_prompt", "prompt_mode",
		"prompt_cache_key", "prediction", "store", "verbosity", "moderation", "logit_bias", "guardrailConfig", "performanceConfig", "requestMetadata",
		"additionalModelRequestFields", "metadata", "user", "previous_response_id", "conversation", "prompt", "background", "extra_body", "canary",
	}
	sent := 0
	for _, p := range chatting() {
		for _, name := range names {
			body := `{"contents":[{"parts":[{"text":"a"}]}],"` + name + `":{"canary":"in a member"},"tools":[{"` + name + `":{"canary":"in a tool"}}],` +
				`"generationConfig":{"` + name + `":"canary of the generation"}}`
			ask, err := googlecaller.Dialect{}.DecodeRequest([]byte(body))
			if err != nil {
				continue // it is rejected
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
