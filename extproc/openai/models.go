package openai

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Features returns how a model of OpenAI differs from others. Its coding, pro and research models,
// and those named after them later, have no endpoint for chats but /responses. See
// https://platform.openai.com/docs/models.
func Features(model string) driver.Features {
	for _, part := range [...]string{"-codex", "-pro", "-deep-research", "gpt-daybreak-"} {
		if strings.Contains(model, part) {
			return driver.Features{ResponsesOnly: true}
		}
	}
	return driver.Features{}
}
