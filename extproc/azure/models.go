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

// Spelled returns the name of a deployment, and the interface that LiteLLM's spelling names before it. The
// other words that may be there say what a deployment's name does not tell LiteLLM: the series of its model, or that it is a
// router of models. Neither changes a request here.
func Spelled(model string) (name, api string) {
	for {
		head, rest, ok := strings.Cut(model, "/")
		switch {
		case !ok:
			return model, api
		case head == string(driver.ResponsesAPI):
			api = head
		case head == "o_series", head == "gpt5_series", head == "model_router":
		default:
			return model, api
		}
		model = rest
	}
}
