package catalog

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Deployment is one place that can serve a model: an endpoint, a model id there,
// a credential, limits and prices. It is immutable and shared by every request.
type Deployment struct {
	ID              id.Deployment
	Name            id.ModelName // the group it belongs to
	Provider        string
	Model           string // the model id that the provider is sent, without the provider's name
	Endpoint        Endpoint
	BasePath        string // path that requests start with; empty or "/…" without a slash at its end
	APIKey          vault.Secret
	ExtraHeaders    []Header // sorted by name; names are lower case
	Prices          *Prices  // never nil
	Weight          int64    // share of the traffic; 0 if not set
	RPM, TPM        int64    // limits per minute, also used as weights; 0 if not set
	Order           int      // lower levels are tried first
	Timeout         time.Duration
	StreamTimeout   time.Duration
	MaxInputTokens  int64 // 0 if unknown
	MaxOutputTokens int64 // 0 if unknown
	BaseModel       string
	DropParams      bool // leave out parameters that the provider does not take, instead of refusing
}

// Header is an extra request header. Its value may be a credential.
type Header struct {
	Name  string
	Value vault.Secret
}

// Identifier returns "<provider>/<model>", by which fallbacks may name it.
func (d *Deployment) Identifier() string { return d.Provider + "/" + d.Model }
