package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestModelsWithResponsesAlone compares the models of OpenAI that get their chats as responses with
// those that the price table marks so.
func TestModelsWithResponsesAlone(t *testing.T) {
	table, err := os.ReadFile("../../cluster/price/prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := byName("openai")
	found := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, ",")
		if cells[0] != "openai" || cells[2] != "responses" && cells[2] != "chat" || strings.Contains(cells[1], "/") {
			continue
		}
		want := wire.OpenAI
		if cells[2] == "responses" {
			want = wire.Responses
			found++
		}
		if got, _ := p.Driver.Serves(driver.Target{Features: p.Features(cells[1])}, driver.Chat); got != want {
			t.Errorf("chats of %s are %s, want %s", cells[1], got, want)
		}
	}
	if found == 0 {
		t.Error("the table marks no model")
	}
}

// An effort is a hint: models that do not think would reject it, so they do not get it. Claude Code
// sends one to every model.
func TestEffortsGoToModelsThatThink(t *testing.T) {
	for model, thinks := range map[string]bool{
		"openai/gpt-4o-mini": false, "openai/gpt-4.1": false, "openai/gpt-3.5-turbo": false, "openai/chatgpt-4o-latest": false, "openai/ft:gpt-4o:acme": false,
		"openai/gpt-5-chat-latest": false, "openai/gpt-5-mini": true, "openai/o3": true, "openai/gpt-6": true, "openai/gpt-5-codex": true,
		"anthropic/claude-3-5-haiku-20241022": false, "anthropic/claude-3-opus-20240229": false,
		"anthropic/claude-3-7-sonnet-20250219": true, "anthropic/claude-sonnet-4-5": true, "anthropic/claude-opus-5": true,
		"gemini/gemini-2.0-flash": false, "gemini/gemma-3-27b-it": false,
		"gemini/gemini-2.5-flash": true, "gemini/gemini-3.1-pro-preview": true, "gemini/gemini-flash-latest": true, "gemini/models/gemini-2.5-pro": true,
		"openai_compatible/gpt-4o": true, // the operator's own: it may be any model
	} {
		vendor, name, _ := strings.Cut(model, "/")
		p, _ := byName(vendor)
		target := driver.Target{Model: name, MaxOutputTokens: 8192}
		if p.Features != nil {
			target.Features = p.Features(name)
		}
		language, _ := p.Driver.Serves(target, driver.Chat)
		body, err := p.Driver.Codec(language).Encode(&wire.Request{
			Messages:  []wire.Message{{Role: wire.User, Parts: []wire.Part{{Text: "hello"}}}},
			Reasoning: wire.Reasoning{Effort: "high"},
		}, target)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Contains(string(body), "effort") || strings.Contains(string(body), "thinking")
		if got != thinks {
			t.Errorf("%s gets %s", model, body)
		}
	}
}
