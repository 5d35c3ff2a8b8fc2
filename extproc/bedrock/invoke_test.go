package bedrock_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Messages go to Claude as they are, but for what Bedrock has in the body instead of in headers and the reverse.
func TestMessagesToClaude(t *testing.T) {
	t.Parallel()
	const version = `"anthropic_version":"bedrock-2023-05-31"`
	for _, c := range []struct {
		model, betas, version, body string
		endpoint                    driver.Endpoint
		want                        string
	}{
		{sonnet, "", "", `{"model":"a","max_tokens":5,"stream":true,"messages":[]}`, driver.Messages, `{` + version + `,"max_tokens":5,"messages":[]}`},
		{sonnet, "", "2023-06-01", `{"stream":false,"messages":[],"service_tier":"auto","model":"a"}`, driver.Messages, `{"messages":[],` + version + `}`},
		{sonnet, "context-1m-2025-08-07, prompt-caching-2024-07-31,interleaved-thinking-2025-05-14,context-1m-2025-08-07", "", `{"model":"a"}`, driver.Messages, `{` + version + `,"anthropic_beta":["context-1m-2025-08-07","interleaved-thinking-2025-05-14"]}`},
		{sonnet, "advanced-tool-use-2025-11-20", "", `{"model":"a"}`, driver.Messages, `{` + version + `,"anthropic_beta":["tool-search-tool-2025-10-19"]}`},
		{sonnet, "prompt-caching-2024-07-31", "", `{"model":"a"}`, driver.Messages, `{` + version + `}`},
		{sonnet, `"],"x":["`, "", `{"model":"a"}`, driver.Messages, `{` + version + `}`},
		{sonnet, "context-1m-2025-08-07", "", `{"model":"a","anthropic_beta":["effort-2025-11-24"]}`, driver.Messages, `{` + version + `,"anthropic_beta":["effort-2025-11-24"]}`},
		{"converse/" + sonnet, "context-1m-2025-08-07", "", `{"model":"a"}`, driver.Messages, `{"model":"a"}`},
		{sonnet, "", "", `{"model":"a"}`, driver.Chat, `{"model":"a"}`},
	} {
		var facts splice.Request
		if err := splice.ScanModel([]byte(c.body), &facts); err != nil {
			t.Fatal(err)
		}
		in := bedrock.Driver{}.InsteadOfModel(target(c.model), c.endpoint, &driver.Asked{Version: c.version, Betas: c.betas, Body: []byte(c.body)})
		got := splice.Apply(nil, []byte(c.body), facts.Edits(nil, &splice.Plan{Instead: in.Members, Remove: in.Remove}))
		if string(got) != c.want {
			t.Errorf("%s for %s with %q: got %s, want %s", c.body, c.model, c.betas, got, c.want)
		}
	}
	for _, name := range []string{"anthropic-version", "anthropic-beta", "x-claude-code-session-id"} {
		if got := (bedrock.Driver{}).VendorHeader(name, "x", driver.Messages); got != "" {
			t.Errorf("Bedrock gets %s: %s", name, got)
		}
	}
}
