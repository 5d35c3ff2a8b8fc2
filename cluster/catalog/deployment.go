package catalog

import (
	"fmt"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
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
	Cloud           cloud.Settings // of its account at a cloud, its own or its credential's
	ExtraHeaders    []Header       // sorted by name; names are lower case
	Prices          *price.Prices  // never nil
	Weight          int64          // share of the traffic; 0 if not set
	RPM, TPM        int64          // limits per minute, also used as weights; 0 if not set
	MaxParallel     int64          // requests in flight, its own or the router's default; 0: no limit
	Order           int            // lower levels are tried first
	Timeout         time.Duration
	StreamTimeout   time.Duration
	MaxInputTokens  int64 // 0 if unknown
	MaxOutputTokens int64 // 0 if unknown
	BaseModel       string
	API             string   // the interface that its chats go to; empty: as its provider likes
	Guardrails      []string // ids, or names if Static; the caller must not change it
	DropParams      bool     // leave out parameters that the provider does not take, instead of refusing
	Static          bool     // it comes from the file; the others come from the replicated state

	origin *origin // what it was made of; nil only in a Deployment that no Catalog made
}

// origin is what a deployment was made of, for those who want to see it and for
// when it is made again.
type origin struct {
	stored Stored
	own    []price.Entry // its own prices
	limits [2]int64      // its own limits of input and output
	priced string        // the key of its prices in the catalogue
	row    price.Row     // of the price table
	place  int           // in the file
}

// Stored returns the deployment as it was written down. The caller must not change
// the maps in it. It is zero for a Deployment that no Catalog made.
func (d *Deployment) Stored() Stored {
	if d.origin == nil {
		return Stored{}
	}
	return d.origin.stored
}

// Listed reports whether the price table has prices of the deployment's model.
func (d *Deployment) Listed() bool { return d.origin != nil && d.origin.row.Prices != "" }

// PicturePrices returns the prices of a deployment's pictures of a quality and a size, which are the
// deployment's own if the price table does not distinguish them.
func (c *Catalog) PicturePrices(d *Deployment, of price.Picture) *price.Prices {
	var own []price.Entry
	if d.origin != nil {
		own = d.origin.own
	}
	return price.OfPicture(c.find, price.Source{Provider: d.Provider, Model: d.Model, Base: d.BaseModel}, own, d.Prices, of)
}

// SharesAccount reports whether two deployments send their requests to one account of one provider:
// to the same address, with the same credentials. What the provider stores for one of them, the
// other has too.
func (d *Deployment) SharesAccount(other *Deployment) bool {
	return d.BasePath == other.BasePath && d.SharesCredentials(other)
}

// SharesCredentials is SharesAccount whatever the paths of the addresses are.
func (d *Deployment) SharesCredentials(other *Deployment) bool {
	return d.Provider == other.Provider && d.Endpoint == other.Endpoint && d.Cloud.Equal(other.Cloud) &&
		d.APIKey.Equal(other.APIKey.Reveal()) && slices.EqualFunc(d.ExtraHeaders, other.ExtraHeaders, func(a, b Header) bool {
		return a.Name == b.Name && a.Value.Equal(b.Value.Reveal())
	})
}

// Header is an extra request header. Its value may be a credential.
type Header struct {
	Name  string
	Value vault.Secret
}

// Identifier returns "<provider>/<model>", by which fallbacks may name it.
func (d *Deployment) Identifier() string { return d.Provider + "/" + d.Model }

// modelEnd ends the model in a modelKey; no model holds it.
const modelEnd = "\x00"

// modelKey is a key by which the deployments of one model stand together, in the
// order of a group's list.
func (d *Deployment) modelKey() string {
	if d.Static {
		return fmt.Sprintf("%s%s0%08x", d.Identifier(), modelEnd, d.origin.place)
	}
	return d.Identifier() + modelEnd + "1" + string(d.ID)
}
