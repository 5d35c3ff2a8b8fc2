package mistral

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Features returns how a model of Mistral's differs from others: most do not take an effort. A model with
// an unknown name may.
func Features(model string) driver.Features {
	for _, stem := range [...]string{
		"codestral", "mathstral", "ministral", "pixtral", "voxtral", "open-", "mistral-tiny", "mistral-large-2", "mistral-large-3", "mistral-large-latest",
		"mistral-small-2402", "mistral-small-2409", "mistral-small-25", "mistral-medium-25", "mistral-saba", "mistral-nemo",
		"magistral", // they always think
		"devstral-small-25", "devstral-medium-25", "labs-leanstral", "mistral-code-latest", "mistral-code-fim",
	} {
		if strings.HasPrefix(model, stem) {
			return driver.Features{NoReasoning: true}
		}
	}
	return driver.Features{}
}
