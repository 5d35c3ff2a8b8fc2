package config

import (
	"crypto/sha256"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// Effective returns the configuration as it holds, in YAML: every default is
// filled in, references to the environment and litellm_settings are resolved,
// and each credential is "[redacted]". Parse rejects the result only
// for those credentials.
func (c *Config) Effective() []byte {
	w := &writer{}
	w.settings(c.process())
	w.section("envoy", func() { w.settings(c.Envoy.settings()) })
	w.section("log", func() { w.settings(c.Log.settings()) })
	w.section("limits", func() { w.settings(c.Limits.settings()) })
	w.section("cluster", func() { w.settings(c.Cluster.settings()) })
	w.section("audit", func() { w.settings(c.Audit.settings()) })
	w.section("general_settings", func() { w.settings(c.general()) })
	w.section("router_settings", func() { w.router(c) })
	w.optional("litellm_settings", func() { w.settings(c.created()) })
	w.settings(c.variables())
	w.served(c)
	return w.out
}

// served writes the keys and deployments, in the order of the file.
func (w *writer) served(c *Config) {
	w.list("keys", len(c.Keys), func(i int) { w.settings(c.Keys[i].settings()) })
	w.list("model_list", len(c.Models), func(i int) { w.model(&c.Models[i]) })
}

// Digest returns a fingerprint of what the file makes of requests: the models,
// the keys, the router's settings, and the two secrets that all nodes of a
// cluster must share, the master key and the encryption key. Nodes with the same
// digest treat requests alike. Addresses, directories, limits, the log and the cluster's
// own settings do not count, nor do comments, and a default counts as if it were
// written. Entries in another order are another digest: a needless
// report of a difference is better than none. Secrets go in as
// hashes. Only digests of the same version of the gateway compare.
func (c *Config) Digest() [sha256.Size]byte {
	w := &writer{hashed: true}
	w.secret("master_key", c.MasterKey)
	w.source("encryption_key", c.EncryptionSource())
	w.section("router_settings", func() { w.router(c) })
	w.optional("litellm_settings", func() { w.settings(c.created()) })
	w.settings(c.Enforced.settings())
	w.served(c)
	return sha256.Sum256(w.out)
}

// router writes router_settings, without numbers that are not given.
func (w *writer) router(c *Config) {
	for _, f := range catalog.RouterFields() {
		switch v := f.In(&c.Router).(type) {
		case **string:
			w.str(f.Name, **v)
		case **int:
			if *v != nil {
				w.integer(f.Name, int64(**v))
			}
		case **time.Duration:
			if *v != nil {
				w.seconds(f.Name, **v)
			}
		case **bool:
			w.boolean(f.Name, **v)
		case *[]string:
			w.strings(f.Name, *v)
		case *map[string]string:
			w.section(f.Name, func() {
				for _, name := range c.aliases {
					w.str(name, (*v)[name])
				}
			})
		case *[]map[string][]string:
			w.list(f.Name, len(*v), func(i int) {
				for from, to := range (*v)[i] { // one
					w.strings(from, to)
				}
			})
		}
	}
}

func (w *writer) model(m *Model) {
	w.str("model_name", m.Name)
	w.section("gateway_params", func() {
		w.settings(m.Params.settings())
		w.prices(m.Params.Prices)
	})
	w.section("model_info", func() {
		i := &m.Info
		w.settings(i.settings())
		w.prices(i.Prices)
		for _, e := range i.Extras {
			w.raw(e.Name, e.JSON)
		}
	})
}

// headers writes headers, without their values.
func (w *writer) headers(name string, list []Header) {
	w.optional(name, func() {
		for _, h := range list {
			w.secret(h.Name, h.Value)
		}
	})
}

// prices writes prices in the digits that they were read in.
func (w *writer) prices(list []Price) {
	for _, p := range list {
		w.raw(p.Name, p.Amount)
	}
}
