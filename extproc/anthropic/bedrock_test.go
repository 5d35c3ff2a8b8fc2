package anthropic_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Requests for Bedrock and Vertex AI become Anthropic's own, with the model of the path.
func TestFormsOfClouds(t *testing.T) {
	t.Parallel()
	const body = `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a-1","b"],"max_tokens":5,"model":"other","stream":false,"messages":[]}`
	for streams, want := range map[bool]string{
		false: `{"max_tokens":5,"model":"m","messages":[]}`, true: `{"max_tokens":5,"model":"m","messages":[],"stream":true}`,
	} {
		if got, err := anthropic.FromBedrock([]byte(body), "m", streams); err != nil || string(got) != want {
			t.Errorf("streams %v: %s, %v", streams, got, err)
		}
	}
	if got, err := anthropic.BedrockBetas([]byte(body)); got != "a-1,b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	const vertex = `{"anthropic_version":"vertex-2023-10-16","stream":true,"messages":[]}`
	if got, err := anthropic.FromVertex([]byte(vertex), "m"); err != nil || string(got) != `{"stream":true,"messages":[],"model":"m"}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{`{"anthropic_beta":"a"}`, `{"anthropic_beta":[1]}`, `{"anthropic_beta":["a,b"]}`, `{"anthropic_beta":["a\r\nx-api-key: b"]}`, `{"anthropic_beta":[""]}`} {
		if _, err := anthropic.BedrockBetas([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		} else if e := (*fault.Error)(nil); !errors.As(err, &e) || e.Param != "anthropic_beta" {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// FuzzFromBedrock: a body is either rejected or becomes JSON with the path's model.
func FuzzFromBedrock(f *testing.F) {
	f.Add([]byte(`{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a"],"messages":[]}`))
	f.Add([]byte(`{"model":"x","mode\u006c":"y"}`))
	f.Add([]byte(`{"anthropic_beta":`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, out := range [][]byte{must(anthropic.FromBedrock(body, "m", true)), must(anthropic.FromVertex(body, "m"))} {
			if out != nil && (!jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true)) || string(splice.Lookup(out, "model")) != `"m"`) {
				t.Fatalf("%q became %q", body, out)
			}
		}
	})
}

// must returns nothing for a body that is rejected.
func must(out []byte, err error) []byte {
	if err != nil {
		return nil
	}
	return out
}

// The additional fields of Converse have the same beta features.
func TestConverseBetas(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"messages":[]}`: "",
		`{"messages":[{"content":[{"text":"\"anthropic_beta\""}]}]}`:             "",
		`{"additionalModelRequestFields":{"anthropic_beta":["a-1","b-2"]}}`:      "a-1,b-2",
		`{"additionalModelRequestFields":{"anthropic_beta":null}}`:               "",
		`{"anthropic_beta":["a-1"]}`:                                             "",
		`{"additionalModelRequestFields":{"anthropic_beta":"a-1"}}`:              "error",
		`{"additionalModelRequestFields":{"anthropic_beta":["a\r\nx-evil: 1"]}}`: "error",
		`{"additionalModelRequestFields":{"anthropic_beta":["a"]}`:               "error",
	} {
		got, err := anthropic.ConverseBetas([]byte(body))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q, %v", body, got, err)
		}
	}
}

// A count of a body of InvokeModel is one of Anthropic's messages, without what changes no count.
func TestFromBedrockCount(t *testing.T) {
	t.Parallel()
	counted := func(inner string) string {
		return `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(inner)) + `"}}}`
	}
	body := counted(`{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a"],"max_tokens":9,"temperature":1,"messages":[{"role":"user","content":"hi"}],"system":"x"}`)
	out, err := anthropic.FromBedrockCount([]byte(body), "m")
	if want := `{"messages":[{"role":"user","content":"hi"}],"system":"x","model":"m"}`; err != nil || string(out) != want || !anthropic.IsBedrockCount([]byte(body)) {
		t.Errorf("%s, %v", out, err)
	}
	for _, other := range []string{`{"input":{"converse":{}}}`, `{"input":{"converse":{},"invokeModel":{}}}`, `{"input":1}`, `[`} {
		if anthropic.IsBedrockCount([]byte(other)) {
			t.Errorf("%s counts a body", other)
		}
	}
	for _, wrong := range []string{`{"input":{"invokeModel":{}}}`, `{"input":{"invokeModel":{"body":1}}}`, `{"input":{"invokeModel":{"body":"?"}}}`, counted("x"), counted(`{"inputText":"x"}`)} {
		if _, err := anthropic.FromBedrockCount([]byte(wrong), "m"); err == nil || fault.From(err).Param != "input.invokeModel.body" {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if out, err := anthropic.ToBedrockCount([]byte(`{"input_tokens":7}`)); err != nil || string(out) != `{"inputTokens":7}` {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := anthropic.ToBedrockCount([]byte(`{}`)); err == nil {
		t.Error("no count is one")
	}
}
