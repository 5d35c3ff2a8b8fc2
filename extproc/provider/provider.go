package provider

import (
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/cohere"
	"github.com/modelgateway/modelgateway/extproc/deepgram"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/elevenlabs"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/jina"
	"github.com/modelgateway/modelgateway/extproc/mistral"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/voyage"
)

// Provider is what is known of a provider without asking it.
type Provider struct {
	Name      string // as in a deployment's configuration
	BaseURL   string // default base address; empty if a deployment must give one
	NeedsKey  bool
	Cloud     cloud.Kind // whose settings its deployments have; most have none
	NeedsBase bool
	// Base returns the base address of a deployment that gives none, where it depends on the model and on the
	// settings; the error names the setting that it lacks. nil where BaseURL is the address.
	Base func(model string, s cloud.Settings) (string, error)
	// Read checks the settings, and returns api_base, which may be empty, and the settings as the driver reads them,
	// where operators write the same in several ways. keyed reports an api_key. Its error is a *fault.Error whose Param is the setting that is
	// wrong. nil: as they are.
	Read   func(apiBase string, keyed bool, s cloud.Settings) (string, cloud.Settings, error)
	Like   string // name of the provider whose driver and goldens it shares; empty if its own
	Driver driver.Driver

	// Variation is how the parameters of its chats differ from those of the language that it speaks.
	Variation driver.Variation
	// Varies returns how the parameters of one deployment differ, where it depends on the settings; nil: as Variation says.
	Varies func(s cloud.Settings) *driver.Variation

	// Spelled returns the name of a model, and the interface that LiteLLM's spelling names before it, if it does. nil: no name has one.
	Spelled func(model string) (name, api string)

	// Features returns the features of a model by the provider's name for it.
	// nil means that all models of the provider have the zero Features.
	Features func(model string) driver.Features
}

// Providers lists every provider. It is written out, so that the list of what
// is supported can be read in one place.
func Providers() []Provider {
	rows := []Provider{
		{Name: "openai", BaseURL: "https://api.openai.com/v1", NeedsKey: true, Driver: openai.Driver{NewLimit: true, Responses: responses.Codec{}}, Features: openai.Features, Spelled: openai.Spelled},
		{Name: "anthropic", BaseURL: "https://api.anthropic.com", NeedsKey: true, Driver: anthropic.Driver{}, Features: anthropic.Features},
		{Name: "cohere", BaseURL: "https://api.cohere.com", NeedsKey: true, Driver: cohere.Driver{}, Features: cohere.Features, Variation: driver.Variation{NoUser: true}},
		{Name: "cohere_chat", BaseURL: "https://api.cohere.com", NeedsKey: true, Like: "cohere", Driver: cohere.Driver{}, Features: cohere.Features, Variation: driver.Variation{NoUser: true}}, // LiteLLM's name
		{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", NeedsKey: true, Driver: mistral.Driver{}, Features: mistral.Features, Variation: driver.Variation{OutputSize: true, NoUser: true}},
		{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com", NeedsKey: true, Driver: gemini.Driver{}, Features: gemini.Features},

		// Those without chats.
		{Name: "deepgram", BaseURL: "https://api.deepgram.com/v1", NeedsKey: true, Driver: deepgram.Driver{}},
		{Name: "elevenlabs", BaseURL: "https://api.elevenlabs.io", NeedsKey: true, Driver: elevenlabs.Driver{}},
		{Name: "jina_ai", BaseURL: "https://api.jina.ai/v1", NeedsKey: true, Driver: jina.Driver{}},
		{Name: "voyage", BaseURL: "https://api.voyageai.com/v1", NeedsKey: true, Driver: voyage.Driver{}},
	}
	rows = append(rows, clouds()...)
	for _, c := range compatible() {
		rows = append(rows, c.row())
	}
	return rows
}
