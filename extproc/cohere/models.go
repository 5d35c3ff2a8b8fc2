package cohere

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Features returns how a model of Cohere's differs from others: most do not think. A model with an unknown name may.
func Features(model string) driver.Features {
	for _, stem := range [...]string{"command-r", "command-light", "command-nightly", "command-a-03", "command-a-vision", "command-a-translate", "c4ai-", "aya-"} {
		if strings.HasPrefix(model, stem) {
			return driver.Features{NoReasoning: true}
		}
	}
	return driver.Features{}
}
