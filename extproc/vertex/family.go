package vertex

import (
	"strings"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/mistral"
)

// family is models with the same language and the same form of address.
type family int

const (
	google   family = iota // publishers/google, in Gemini's language
	claude                 // publishers/anthropic, in Anthropic's
	mistrals               // publishers/mistralai, in Mistral's
	open                   // endpoints/openapi, in OpenAI's language; the body names publisher and model
	tuned                  // a model of Google's that is tuned, at an endpoint of the project's
	own                    // a model at an endpoint of the project's, in OpenAI's language
)

// familyOf returns the family of a model, and its name in the address. LiteLLM's configurations have gemini/ before the
// number of an endpoint with a tuned model, and openai/ before that of one with OpenAI's language.
func familyOf(model string) (of family, name string) {
	publisher, rest, published := strings.Cut(model, "/")
	switch {
	case isNumber(model):
		return tuned, model
	case published && publisher == "gemini":
		if isNumber(rest) {
			return tuned, rest
		}
		return google, rest
	case published && publisher == "openai" && isNumber(rest):
		return own, rest
	case published:
		return open, model
	case strings.HasPrefix(model, "claude-"):
		return claude, model
	case strings.HasPrefix(model, "mistral-"), strings.HasPrefix(model, "codestral-"):
		return mistrals, model
	}
	return google, model
}

// isNumber reports whether a name is the number of an endpoint.
func isNumber(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

// Features returns the features of a model, by its name or that of its base model, which may have the provider's
// name before it.
func Features(model string) driver.Features {
	model = strings.TrimPrefix(model, "vertex_ai/")
	switch of, name := familyOf(model); of {
	case claude:
		return anthropic.Features(name)
	case mistrals:
		return mistral.Features(name)
	case open, own:
		return driver.Features{ChatOnly: true}
	case google, tuned:
		return gemini.Features(name)
	}
	return driver.Features{}
}
