package bedrock_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// settings are those of a region, and of an endpoint if there is one.
func settings(region, endpoint string) cloud.Settings {
	return cloud.Of(map[string]vault.Secret{cloud.AWSRegion: vault.NewSecret(region), cloud.AWSRuntimeEndpoint: vault.NewSecret(endpoint)})
}

func TestAddressOfARegion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, region, want string // address, or a part of the error and the field
	}{
		{sonnet, "us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{sonnet, "", "! aws_region_name " + cloud.AWSRegion + " is missing"},
		{"us-west-2/" + sonnet, "", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		{"us-west-2/" + sonnet, "us-west-2", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		{"us-west-2/" + sonnet, "us-east-1", "! aws_region_name The model is in the region us-west-2, but aws_region_name is us-east-1"},
		{"bedrock/eu-west-1/1-month-commitment/anthropic.claude-v2:1", "", "https://bedrock-runtime.eu-west-1.amazonaws.com"},
		{"converse/" + sonnet, "ap-southeast-2", "https://bedrock-runtime.ap-southeast-2.amazonaws.com"},
		{"anthropic.claude-v2", "cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"},
		{"anthropic.claude-v2", "us-gov-west-1", "https://bedrock-runtime.us-gov-west-1.amazonaws.com"},
		{"anthropic.claude-v2", "us-iso-east-1", "https://bedrock-runtime.us-iso-east-1.c2s.ic.gov"},
		{"anthropic.claude-v2", "eusc-de-east-1", "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu"},
		{"anthropic.claude-v2", "mars-north-1", `! aws_region_name "mars-north-1" is not the name of a region`},
		{"anthropic.claude-v2", "us-east", `! aws_region_name "us-east" is not the name of a region`},
		{"anthropic.claude-v2", "us-east-1.evil.test/", "! aws_region_name"},
		{profile, "", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{profile, "us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{profile, "eu-west-1", "! aws_region_name The model is in the region us-east-1"},
		{"llama/" + profile, "", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		{profile, "cn-north-1", "! aws_region_name The model is in the partition aws (us-east-1), but aws_region_name is cn-north-1"},
		{"arn:aws-cn:bedrock:us-east-1:123456789012:inference-profile/x.y", "us-east-1", `! model "arn:aws-cn:bedrock:us-east-1:123456789012:inference-profile/x.y" is an ARN of the partition "aws-cn"`},
		{"arn:aws:s3:us-east-1:123456789012:bucket", "us-east-1", `! model "arn:aws:s3:us-east-1:123456789012:bucket" is an ARN of the service "s3"`},
		{"arn:aws:bedrock:us-east-1", "us-east-1", "! model"},
		{"arn:aws:bedrock:::foundation-model/x.y", "us-east-1", "! model"},
		{"us-west-2/" + profile, "", "! model The model"},
		{"amazon.rerank-v1:0", "us-west-2", "https://bedrock-agent-runtime.us-west-2.amazonaws.com"},
		{"cohere.rerank-v3-5:0", "us-west-2", "https://bedrock-agent-runtime.us-west-2.amazonaws.com"},
		{"*", "us-west-2", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		{"anthropic.*", "us-west-2", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		{"agent/ABC/DEF", "us-west-2", "! model The model"},
		{"anthropic.claude/../x", "us-west-2", "! model"},
	} {
		got, err := bedrock.Base(c.model, settings(c.region, ""))
		want, fails := strings.CutPrefix(c.want, "! ")
		if fails {
			e := fault.From(err)
			field, text, _ := strings.Cut(want, " ")
			if err == nil || e.Param != field || !strings.HasPrefix(e.Message(), text) {
				t.Errorf("%s in %q: got %q, %s: %v", c.model, c.region, got, e.Param, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%s in %q: got %q, %v, want %s", c.model, c.region, got, err, want)
		}
	}
	if got, err := bedrock.Base(sonnet, settings("us-east-1", "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com")); err != nil || got != "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com" {
		t.Errorf("with an endpoint of its own: %s, %v", got, err)
	}
}

func TestPathOfAModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, base string
		operation   driver.Operation
		want        string // path, or the kind of the error
	}{
		{sonnet, "", driver.Operation{Endpoint: driver.Chat}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"},
		{"converse/us-east-1/" + sonnet, "/", driver.Operation{Endpoint: driver.Responses, Stream: true}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"},
		{profile, "/proxy", driver.Operation{Endpoint: driver.Chat}, "/proxy/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123def456/converse"},
		{"amazon.nova-pro-v1:0", "/proxy/model/other/converse", driver.Operation{Endpoint: driver.Messages}, "/proxy/model/amazon.nova-pro-v1%3A0/converse"},
		{"amazon.titan-embed-text-v2:0", "", driver.Operation{Endpoint: driver.Embeddings}, "/model/amazon.titan-embed-text-v2%3A0/invoke"},
		{"us.cohere.embed-v4:0", "", driver.Operation{Endpoint: driver.Embeddings}, "/model/us.cohere.embed-v4%3A0/invoke"},
		{"stability.stable-image-core-v1:1", "", driver.Operation{Endpoint: driver.Images}, "/model/stability.stable-image-core-v1%3A1/invoke"},
		{"amazon.rerank-v1:0", "", driver.Operation{Endpoint: driver.Rerank}, "/rerank"},
		{sonnet, "", driver.Operation{Endpoint: driver.Messages}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke"},
		{sonnet, "", driver.Operation{Endpoint: driver.Messages, Stream: true}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream"},
		{"invoke/" + sonnet, "", driver.Operation{Endpoint: driver.Chat}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke"},
		{"converse/" + sonnet, "", driver.Operation{Endpoint: driver.Messages}, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"},
		{"claude/" + profile, "", driver.Operation{Endpoint: driver.Messages}, "/model/" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(profile) + "/invoke"},
		{profile, "", driver.Operation{Endpoint: driver.Messages}, "/model/" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(profile) + "/converse"},
		{"invoke/amazon.nova-pro-v1:0", "", driver.Operation{Endpoint: driver.Messages}, "/model/amazon.nova-pro-v1%3A0/converse"},
		{sonnet, "", driver.Operation{Endpoint: driver.CountTokens}, "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens"},
		{profile, "", driver.Operation{Endpoint: driver.CountTokens}, "unsupported"},
		{"amazon.nova-pro-v1:0", "", driver.Operation{Endpoint: driver.CountTokens}, "unsupported"},
		{"amazon.nova-pro-v1:0", "", driver.Operation{Endpoint: driver.Embeddings}, "unsupported"},
		{"amazon.titan-embed-text-v2:0", "", driver.Operation{Endpoint: driver.Chat}, "unsupported"},
		{"amazon.nova-pro-v1:0", "", driver.Operation{Endpoint: driver.Speech}, "unsupported"},
		{"anthropic.*", "", driver.Operation{Endpoint: driver.Chat}, "unsupported"},
		{"anthropic.claude%2Fx", "", driver.Operation{Endpoint: driver.Chat}, "unsupported"},
		{"anthropic.claude?a=b", "", driver.Operation{Endpoint: driver.Chat}, "unsupported"},
		{"..", "", driver.Operation{Endpoint: driver.Chat}, "unsupported"},
	} {
		call, err := bedrock.Driver{}.Address(driver.Target{Model: c.model, BasePath: c.base}, c.operation)
		got := call.Path
		if err != nil {
			got = fault.KindOf(err).String()
		}
		if got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.model, c.operation.Endpoint, got, c.want)
		}
	}
	other := driver.Target{Model: profile, Settings: settings("eu-west-1", "")}
	if _, err := (bedrock.Driver{}).Address(other, driver.Operation{Endpoint: driver.Chat}); err == nil || !strings.Contains(err.Error(), "eu-west-1") {
		t.Errorf("a model of another region: %v", err)
	}
}

// The family decides what a model gets, whatever stands before and after its name.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		sonnet: "claude", "anthropic.claude-instant-v1": "claude-2", "eu.anthropic.claude-3-haiku-20240307-v1:0": "claude-3", "anthropic.claude-3-5-sonnet-20240620-v1:0": "claude-3",
		"anthropic.claude-3-5-sonnet-20241022-v2:0": "claude", "global.amazon.nova-2-lite-v1:0": "nova-2", "amazon.nova-canvas-v1:0": "nova-canvas", "apac.amazon.nova-lite-v1:0": "nova",
		"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama3-3-70b-instruct-v1:0": "llama",
		"arn:aws:bedrock:us-east-1::foundation-model/mistral.mistral-large-2407-v1:0":                 "mistral",
		profile: "", "llama/" + profile: "llama", "deepseek_r1/" + profile: "deepseek_r1", "converse/nova-2/" + profile: "nova-2", "openai/" + profile: "gpt-oss",
		"openai.gpt-oss-120b-1:0": "gpt-oss", "us.deepseek.r1-v1:0": "deepseek_r1", "somebody.new-v1:0": "",
	} {
		if got := bedrock.Features(model).Family; got != want {
			t.Errorf("%s is of the family %q, want %q", model, got, want)
		}
	}
	if f := bedrock.Features(sonnet); !f.JSONSchema || !f.LongCache || f.NoReasoning || f.AdaptiveThinking {
		t.Errorf("Sonnet 4.5 has %+v", f)
	}
	if f := bedrock.Features("anthropic.claude-opus-4-7"); !f.AdaptiveThinking || !f.NoSampling || !f.HighEfforts {
		t.Errorf("Opus 4.7 has %+v", f)
	}
}
