package catalog

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Spec is what a Catalog is made of, as it was written down: nothing in it has
// been checked. Zero values mean "not given".
type Spec struct {
	Deployments []DeploymentSpec
	Router      RouterSpec
}

// DeploymentSpec is one entry of `model_list`.
type DeploymentSpec struct {
	ID        string // model_info.id; empty: derived from the names, never from the key
	ModelName string // the alias that callers send; `openai/*` and `*` are wildcards
	Model     string // gateway_params.model: "<provider>/<model_id>"
	APIBase   string // empty: the provider's own
	APIKey    vault.Secret
	BaseModel string            // the model that it really is, for prices and limits
	Prices    map[string]string // exact decimals in dollars, by the keys of the price table

	Weight, RPM, TPM int64         // not negative; 0: not set
	MaxParallel      int64         // requests in flight; not negative; 0: the router's default
	Order            int           // 0 is tried first
	Timeout          time.Duration // one attempt, not streamed
	StreamTimeout    time.Duration // one attempt, streamed

	MaxTokens       int64 // older name of MaxOutputTokens
	MaxInputTokens  int64
	MaxOutputTokens int64
	ExtraHeaders    map[string]vault.Secret
	DropParams      bool
	API             string // the interface that its chats go to: a word of ProviderDefaults.APIs

	CredentialName string // the credential whose values are used where none are given here
	Organization   string // of the provider; it goes with the key

	Cloud map[string]vault.Secret // settings of the account at a cloud, by the names in cloud.Table; not empty

	Guardrails []string // apply to all requests that may reach the deployment: ids, or names in the file
}

// ProviderDefaults is what the catalogue must know of a provider.
type ProviderDefaults struct {
	DefaultBase string // api_base of deployments that give none
	NeedsBase   bool   // there is no default; the deployment must say where it is
	NeedsKey    bool   // a deployment without api_key cannot work

	Cloud cloud.Kind // whose settings its deployments may have
	// Base returns the api_base of deployments that give none, where it depends on the model and the
	// settings. Its error is a *fault.Error whose Param is the setting that is wrong. nil: DefaultBase.
	Base func(model string, s cloud.Settings) (string, error)
	// Read checks the settings, and returns api_base, which may be empty, and the settings as the driver reads them,
	// where operators write the same in several ways. keyed reports an api_key. Its error is a *fault.Error whose Param is the setting that is
	// wrong. nil: as they are.
	Read func(apiBase string, keyed bool, s cloud.Settings) (string, cloud.Settings, error)
	// Spelled returns the name of a model, and the interface that LiteLLM's spelling names before it, if it does. nil: no name has one.
	Spelled func(model string) (name, api string)
	// APIs returns the interfaces that chats of a deployment can go to; nil or none: the provider has no chats.
	APIs func(model, baseModel, basePath string, s cloud.Settings) []string
}

// Providers are the providers that can be named in `model`, by name.
type Providers map[string]ProviderDefaults
