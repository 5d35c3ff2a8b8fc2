package config

import (
	"crypto/sha256"
	"strconv"
	"time"
)

// Effective returns the configuration as it holds, in YAML: every default is
// filled in, references to the environment and litellm_settings are resolved,
// and each credential is "[redacted]". Given back to Parse it is refused only
// for those credentials.
func (c *Config) Effective() []byte {
	w := &writer{}
	w.str("listen", c.Listen)
	w.given("management_listen", c.ManagementListen)
	w.str("data_dir", c.DataDir)
	w.str("intent_sync", string(c.IntentSync))
	w.seconds("shutdown_delay", c.ShutdownDelay)
	w.section("envoy", func() {
		w.str("mode", string(c.Envoy.Mode))
		w.given("path", c.Envoy.Path)
		w.integer("concurrency", c.Envoy.Concurrency)
		w.raw("log_level", string(jsonString(c.Envoy.LogLevel))) // "off" is a boolean without quotes
	})
	w.section("log", func() {
		w.str("level", c.Log.Level)
		w.str("format", c.Log.Format)
	})
	w.section("limits", func() {
		w.integer("max_request_bytes", c.Limits.MaxRequestBytes)
		w.integer("max_inflight_request_bytes", c.Limits.MaxInflightBytes)
		if c.Limits.LongBodyRate > 0 {
			w.integer("long_body_bytes_per_second", c.Limits.LongBodyRate)
		}
		w.integer("max_connections", c.Limits.MaxConnections)
		w.integer("max_response_bytes", c.Limits.MaxResponseBytes)
		w.seconds("request_timeout", c.Limits.RequestTimeout)
		w.seconds("stream_idle_timeout", c.Limits.StreamIdleTimeout)
	})
	w.section("cluster", func() { w.cluster(&c.Cluster) })
	w.section("audit", func() {
		w.integer("retention_days", c.Audit.RetentionDays)
		w.secret("queue_url", c.Audit.QueueURL)
		w.given("bucket_url", c.Audit.BucketURL)
		w.boolean("allow_private_webhooks", c.Audit.PrivateWebhooks)
	})
	w.section("general_settings", func() {
		w.positive("alerting_webhook_batch", c.Webhook.Batch)
		w.positive("alerting_webhook_parallel", c.Webhook.Parallel)
		w.secret("master_key", c.MasterKey)
		w.source("encryption_key", c.EncryptionKey)
		w.sources("encryption_keys_previous", c.EncryptionKeysPrevious)
		if c.Budgets.ThrottleFactor != 1 {
			w.raw("budget_throttle_factor", strconv.FormatFloat(c.Budgets.ThrottleFactor, 'f', -1, 64))
		}
		if c.PrivateEndpoints != nil {
			w.boolean("allow_private_endpoints", *c.PrivateEndpoints)
		}
		w.address("model_cost_map_url", c.Budgets.CostMapURL)
		w.positive("global_max_parallel_requests", c.MaxParallel)
		w.enforced(&c.Enforced)
	})
	w.section("router_settings", func() { w.router(&c.Router) })
	w.defaults(&c.Defaults, &c.KeyRules)
	if len(c.Environment) > 0 {
		w.section("environment_variables", func() {
			for _, v := range c.Environment {
				w.raw(v.Name, `"`+redacted+`"`)
			}
		})
	}
	w.served(c)
	return w.out
}

// enforced writes which parameters requests must have.
func (w *writer) enforced(e *Enforced) {
	w.some("enforced_params", e.Params)
	w.optional("service_account_settings", func() { w.some("enforced_params", e.ServiceParams) })
}

// served writes what requests are served by, as it stands in the file.
func (w *writer) served(c *Config) {
	w.list("keys", len(c.Keys), func(i int) { w.virtualKey(&c.Keys[i]) })
	w.list("model_list", len(c.Models), func(i int) { w.model(&c.Models[i]) })
}

// Digest returns a fingerprint of what the file makes of requests: the models,
// the keys, the router's settings, and the two secrets that all nodes of a
// cluster must share, the master key and the encryption key. Nodes with the same
// digest answer alike. Addresses, directories, limits, the log and the cluster's
// own settings do not count, nor do comments, and a default counts as if it were
// written. Entries in another order are another digest: nodes that differ by
// nothing else are better told too often than not at all. Secrets go in as
// hashes. Only digests of the same version of the gateway compare.
func (c *Config) Digest() [sha256.Size]byte {
	w := &writer{hashed: true}
	w.secret("master_key", c.MasterKey)
	w.source("encryption_key", c.EncryptionSource())
	w.section("router_settings", func() { w.router(&c.Router) })
	w.defaults(&c.Defaults, &c.KeyRules)
	w.enforced(&c.Enforced)
	w.served(c)
	return sha256.Sum256(w.out)
}

func (w *writer) cluster(c *Cluster) {
	w.given("listen", c.Listen)
	w.given("advertise", c.Advertise)
	w.strings("join", c.Join)
	w.integer("expect", int64(c.Expect))
	w.secret("secret", c.Secret)
	if c.TLS != (ClusterTLS{}) {
		w.section("tls", func() {
			w.str("ca", c.TLS.CA)
			w.str("cert", c.TLS.Cert)
			w.str("key", c.TLS.Key)
		})
	}
	w.secret("gossip_key", c.GossipKey)
	w.seconds("key_staleness", c.KeyStaleness)
}

func (w *writer) router(r *Router) {
	w.str("routing_strategy", r.Strategy)
	w.integer("num_retries", r.NumRetries)
	w.seconds("retry_after", r.RetryAfter)
	w.seconds("timeout", r.Timeout)
	w.span("stream_timeout", r.StreamTimeout)
	w.strings("retry_on", r.RetryOn)
	w.integer("max_fallbacks", r.MaxFallbacks)
	w.seconds("cooldown_time", r.CooldownTime)
	w.integer("allowed_fails", r.AllowedFails)
	w.positive("default_max_parallel_requests", r.MaxParallel)
	w.boolean("disable_cooldowns", r.DisableCooldowns)
	w.boolean("enable_pre_call_checks", r.EnablePreCallChecks)
	w.section("model_group_alias", func() {
		for _, a := range r.Aliases {
			w.str(a.Name, a.Group)
		}
	})
	w.fallbacks("fallbacks", r.Fallbacks)
	w.strings("default_fallbacks", r.DefaultFallbacks)
	w.fallbacks("context_window_fallbacks", r.ContextWindow)
	w.fallbacks("content_policy_fallbacks", r.ContentPolicy)
}

func (w *writer) fallbacks(name string, list []Fallback) {
	w.list(name, len(list), func(i int) { w.strings(list[i].From, list[i].To) })
}

func (w *writer) virtualKey(k *Key) {
	w.str("key_alias", k.Alias)
	w.secret("key", k.Key)
	w.strings("models", k.Models)
	if !k.Expires.IsZero() {
		w.str("expires", k.Expires.Format(time.RFC3339Nano))
	}
	w.boolean("blocked", k.Blocked)
}

func (w *writer) model(m *Model) {
	w.str("model_name", m.Name)
	w.section("gateway_params", func() { w.params(&m.Params) })
	w.section("model_info", func() {
		i := &m.Info
		w.given("id", i.ID)
		w.given("base_model", i.BaseModel)
		w.given("mode", i.Mode)
		w.positive("max_tokens", i.MaxTokens)
		w.positive("max_input_tokens", i.MaxInputTokens)
		w.positive("max_output_tokens", i.MaxOutputTokens)
		w.prices(i.Prices)
		for _, e := range i.Extras {
			w.raw(e.Name, e.JSON)
		}
	})
}

func (w *writer) params(p *Params) {
	w.str("model", p.Model)
	w.given("api_base", p.APIBase)
	w.secret("api_key", p.APIKey)
	w.given("api_version", p.APIVersion)
	w.given("organization", p.Organization)
	w.span("timeout", p.Timeout)
	w.span("stream_timeout", p.StreamTimeout)
	w.positive("rpm", p.RPM)
	w.positive("tpm", p.TPM)
	w.positive("max_parallel_requests", p.MaxParallel)
	w.positive("weight", p.Weight)
	w.positive("order", p.Order)
	if p.MaxRetries >= 0 {
		w.integer("max_retries", p.MaxRetries)
	}
	if len(p.ExtraHeaders) > 0 {
		w.section("extra_headers", func() {
			for _, h := range p.ExtraHeaders {
				w.secret(h.Name, h.Value)
			}
		})
	}
	w.boolean("drop_params", p.DropParams)
	w.given("base_model", p.BaseModel)
	w.prices(p.Prices)
}

// prices writes prices in the digits that they were read in.
func (w *writer) prices(list []Price) {
	for _, p := range list {
		w.raw(p.Name, p.Amount)
	}
}
