package gateway

import (
	"os"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/mgmt"
)

// Setup is a configuration file, read and checked as a whole.
type Setup struct {
	Config  *config.Config
	catalog *catalog.Catalog
	keys    *tenancy.Set
}

// Load reads a file. What `config check` accepts, `serve` starts with, if both get
// the same accepted names.
func Load(file string, accepted []string) (*Setup, error) {
	cfg, err := config.Load(file, os.LookupEnv, accepted...)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.New(cfg.Catalog(), providers(), nil)
	if err != nil {
		return nil, cfg.Locate(err)
	}
	set, err := tenancy.New(cfg.VirtualKeys(), cfg.MasterKey)
	if err != nil {
		return nil, cfg.Locate(err)
	}
	if err := mgmt.CheckKeyRules(&cfg.KeyRules); err != nil {
		return nil, cfg.Locate(err)
	}
	if err := checkPlaces(cfg.Audit); err != nil {
		return nil, cfg.Locate(err)
	}
	return &Setup{Config: cfg, catalog: cat, keys: set}, nil
}

// checkPlaces reads the addresses that the audit log goes to, and connects to nothing.
func checkPlaces(a config.Audit) error {
	d, err := auditsink.New(auditsink.Config{QueueURL: a.QueueURL.Reveal(), BucketURL: a.BucketURL})
	if err != nil {
		return err
	}
	return d.Close()
}

// providers is what the catalogue must know of those that the data plane speaks to.
func providers() catalog.Providers {
	out := make(catalog.Providers)
	for _, p := range provider.Providers() {
		out[p.Name] = catalog.ProviderDefaults{DefaultBase: p.BaseURL, NeedsBase: p.NeedsBase, NeedsKey: p.NeedsKey, Cloud: p.Cloud, Base: p.Base, Read: p.Read, Spelled: p.Spelled, APIs: p.APIs}
	}
	return out
}
