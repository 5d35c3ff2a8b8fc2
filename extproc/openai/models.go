package openai

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Features returns how a model of OpenAI differs from others. Its coding, pro and research models,
// and those named after them later, have no endpoint for chats but /responses. See
// https://platform.openai.com/docs/models.
func Features(model string) driver.Features {
	f := driver.Features{ChatOnly: chatOnly(model), NoReasoning: answersAtOnce(model)}
	for _, part := range [...]string{"-codex", "-pro", "-deep-research", "gpt-daybreak-"} {
		f.ResponsesOnly = f.ResponsesOnly || strings.Contains(model, part)
	}
	return f
}

// chatOnly reports whether a model of OpenAI has no endpoint for completions. Only base models and
// gpt-3.5-turbo-instruct have one. A server that an operator runs under another name may have it, and
// those that serve OpenAI's open models do.
func chatOnly(model string) bool {
	model = strings.TrimPrefix(model, "ft:")
	for _, family := range [...]string{"gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"} {
		if strings.HasPrefix(model, family) {
			return !strings.Contains(model, "instruct") && !strings.HasPrefix(model, "gpt-oss")
		}
	}
	return false
}

// answersAtOnce reports whether a model is one of those that do not think, which reject reasoning_effort.
// A model with an unknown name may think.
func answersAtOnce(model string) bool {
	model = strings.TrimPrefix(model, "ft:")
	for _, stem := range [...]string{"gpt-3.5", "gpt-4", "chatgpt-4o"} {
		if strings.HasPrefix(model, stem) {
			return true
		}
	}
	return strings.HasPrefix(model, "gpt-") && strings.Contains(model, "-chat")
}
