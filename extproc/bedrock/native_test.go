package bedrock_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// A model is spoken to in the caller's language where Bedrock has it, and a route in the model's name chooses for all.
func TestLanguages(t *testing.T) {
	t.Parallel()
	const none = wire.Dialect("")
	for _, c := range []struct {
		model                     string
		chat, messages, responses wire.Dialect // at Bedrock itself
		atMantle                  [3]wire.Dialect
	}{
		{sonnet, wire.Converse, wire.Anthropic, wire.Converse, [3]wire.Dialect{wire.Anthropic, wire.Anthropic, wire.Anthropic}},
		{"invoke/" + sonnet, wire.Anthropic, wire.Anthropic, wire.Anthropic, [3]wire.Dialect{wire.Anthropic, wire.Anthropic, wire.Anthropic}},
		{"converse/" + sonnet, wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.Anthropic, wire.Anthropic, wire.Anthropic}},
		{"openai.gpt-oss-120b-1:0", wire.OpenAI, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.Responses}},
		{"us-gov-west-1/us-gov.openai.gpt-oss-20b-1:0", wire.OpenAI, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.Responses}},
		{"openai.gpt-oss-safeguard-20b", wire.OpenAI, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"openai/openai.gpt-oss-20b-1:0", wire.OpenAI, wire.OpenAI, wire.OpenAI, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"converse/openai.gpt-oss-20b-1:0", wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.Responses}},
		{"us.openai.gpt-5.6-sol", wire.Responses, wire.Responses, wire.Responses, [3]wire.Dialect{wire.Responses, wire.Responses, wire.Responses}},
		{"openai/us.openai.gpt-5.6-sol", wire.OpenAI, wire.OpenAI, wire.OpenAI, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"converse/us.openai.gpt-5.6-sol", wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.Responses, wire.Responses, wire.Responses}},
		{"global.xai.grok-4.6", wire.OpenAI, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"qwen.qwen3-32b-v1:0", wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"google.gemma-4-31b", wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.Responses}},
		{"amazon.nova-pro-v1:0", wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.OpenAI}},
		{"gpt-oss/" + profile, wire.Converse, wire.Converse, wire.Converse, [3]wire.Dialect{wire.OpenAI, wire.OpenAI, wire.Responses}},
		{"amazon.titan-embed-text-v2:0", none, none, none, [3]wire.Dialect{none, none, none}},
	} {
		for i, e := range []driver.Endpoint{driver.Chat, driver.Messages, driver.Responses} {
			to := driver.Target{Model: c.model, Features: bedrock.Features(c.model)}
			if got, _ := (bedrock.Driver{}).Serves(to, e); got != [3]wire.Dialect{c.chat, c.messages, c.responses}[i] {
				t.Errorf("%s with %s is in %q", c.model, e, got)
			}
			if got, _ := (bedrock.Mantle{}).Serves(to, e); got != c.atMantle[i] {
				t.Errorf("%s with %s at Mantle is in %q", c.model, e, got)
			}
		}
	}
}

func TestMantle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, base string
		endpoint    driver.Endpoint
		want        string // path, or the kind of the error
	}{
		{"qwen.qwen3-32b", "", driver.Chat, "/v1/chat/completions"},
		{"openai.gpt-oss-120b", "/v1", driver.Responses, "/v1/responses"},
		{"openai.gpt-5.6-sol", "/v1", driver.Chat, "/openai/v1/responses"},
		{"openai.gpt-5.6-sol", "/proxy/openai/v1/responses", driver.Responses, "/proxy/openai/v1/responses"},
		{"us-west-2/anthropic.claude-haiku-4-5", "/anthropic", driver.Messages, "/anthropic/v1/messages"},
		{"anthropic.claude-haiku-4-5", "/anthropic/v1/messages", driver.CountTokens, "/anthropic/v1/messages/count_tokens"},
		{"qwen.qwen3-32b", "", driver.CountTokens, "unsupported"},
		{"qwen.*", "", driver.Chat, "unsupported"},
		{"qwen.qwen3%2F32b", "", driver.Chat, "unsupported"},
		{"qwen.qwen3?x=1", "", driver.Chat, "unsupported"},
	} {
		call, err := bedrock.Mantle{}.Address(driver.Target{Model: c.model, BasePath: c.base, APIKey: vault.NewSecret("k")}, driver.Operation{Endpoint: c.endpoint})
		got := call.Path
		if err != nil {
			got = fault.KindOf(err).String()
		}
		if got != c.want {
			t.Errorf("%s at %q: got %s, want %s", c.model, c.base, got, c.want)
		}
		for _, h := range call.Headers {
			if h.Name == "x-api-key" || h.Name == "authorization" && h.Value.Reveal() != "Bearer k" {
				t.Errorf("%s has the header %s", c.model, h.Name)
			}
		}
	}
	for _, c := range []struct{ model, region, want string }{
		{"openai.gpt-oss-120b", "us-east-1", "https://bedrock-mantle.us-east-1.api.aws"},
		{"us-gov-west-1/openai.gpt-oss-120b", "", "https://bedrock-mantle.us-gov-west-1.api.aws"},
		{"openai.gpt-oss-120b", "", "! aws_region_name"},
		{"openai.gpt-oss-120b", "cn-north-1", "! aws_region_name"},
		{"openai.gpt-oss-120b", "mars-north-1", "! aws_region_name"},
		{"openai..gpt", "us-east-1", "! model"},
	} {
		got, err := bedrock.MantleBase(c.model, settings(c.region, ""))
		field, fails := strings.CutPrefix(c.want, "! ")
		if fails && (err == nil || fault.From(err).Param != field) || !fails && (err != nil || got != c.want) {
			t.Errorf("%s in %q: got %q, %v", c.model, c.region, got, err)
		}
	}
	in := bedrock.Mantle{}.InsteadOfModel(driver.Target{Model: "us-west-2/openai.gpt-oss-120b"}, driver.Chat, &driver.Asked{})
	if in.Members != `"model":"openai.gpt-oss-120b"` || in.Remove != 0 {
		t.Errorf("in place of the model: %+v", in)
	}
	if in := (bedrock.Mantle{}).InsteadOfModel(driver.Target{Model: "openai.gpt-oss-120b"}, driver.Chat, &driver.Asked{}); in.Members != "" {
		t.Errorf("in place of an id: %+v", in)
	}
}
