package azure

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
)

// Features returns how a model differs from others, by the name of the base model or, without one, of the
// deployment, which may be any. A base model may have Azure's name and a zone before it, as in azure/eu/gpt-4o.
func Features(model string) driver.Features {
	name := model[strings.LastIndexByte(model, '/')+1:]
	if rest, ok := strings.CutPrefix(name, "gpt-35"); ok { // names of deployments once had no points
		name = "gpt-3.5" + rest
	}
	f := openai.Features(name)
	f.ChatOnly = !completes(name)
	return f
}

// completes reports whether a model has an endpoint for completions. All others reject its requests.
func completes(name string) bool {
	return strings.Contains(name, "instruct") || strings.Contains(name, "davinci") || strings.Contains(name, "babbage")
}
