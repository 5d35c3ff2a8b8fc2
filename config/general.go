package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config/litellm"
)

const (
	keyPrefix = "sk-"
	leastKey  = 16 // characters, as LiteLLM requires of custom keys: shorter ones can be guessed
	mebibyte  = 1 << 20
)

// general returns general_settings.
func (c *Config) general() []setting {
	size := func(own string, to *int64) custom {
		return custom{reader: func(o *object, name string) { o.d.body(o, name, own, to) }, without: unset}
	}
	return slices.Concat([]setting{
		{delivery.FieldBatch, number{to: &c.Webhook.Batch, least: 1, most: delivery.MaxBatch, without: "1"}, "records in one request to the webhook, up to 1000. A value of `/config/update` takes precedence"},
		{delivery.FieldParallel, number{to: &c.Webhook.Parallel, least: 1, most: delivery.MaxParallel, without: "1"}, "requests to the webhook at a time, up to 64. A value of `/config/update` takes precedence"},
		{"master_key", own(&c.MasterKey, (*decoder).masterKey, (*writer).secret, unset), "the credential of the administrator; required. At least 16 characters that begin with `sk-`; also `$LITELLM_MASTER_KEY`"},
		{"encryption_key", custom{
			func(o *object, name string) { o.d.encryption(o, name, c) },
			func(w *writer, name string) { w.source(name, c.EncryptionKey) }, "the master key",
		}, "seals provider keys that are added over the API; the same on every node. A secret of at least 32 characters, `file:///path`, or a key in a KMS: `awskms:///ARN?region=…`, `gcpkms://projects/…/cryptoKeys/K`, `azurekeyvault://V.vault.azure.net/keys/K`, `hashivault://KEY?engine=transit`; also `$MODELGATEWAY_ENCRYPTION_KEY`"},
		{"encryption_keys_previous", custom{
			func(o *object, name string) { o.d.encryptionBefore(o, name, c) },
			func(w *writer, name string) { w.sources(name, c.EncryptionKeysPrevious) }, unset,
		}, "older keys, for opening only; see [Operation](operation/README.md#encryption-key)"},
		{"budget_throttle_factor", own(&c.Budgets.ThrottleFactor, (*decoder).throttle, func(w *writer, name string, factor float64) {
			if factor != 1 {
				w.raw(name, strconv.FormatFloat(factor, 'f', -1, 64))
			}
		}, "1"), "request rates are multiplied by it between `soft_budget` and `max_budget`"},
		{"allow_private_endpoints", optional(&c.PrivateEndpoints, func(s string) (*bool, string) {
			allow, problem := parseBoolean(s)
			return &allow, problem
		}, strconv.FormatBool, "`true` if `listen` is on loopback, else `false`"), "whether `api_base` of models and credentials that are added over the API may be in a private network or on this machine. Link-local addresses and metadata services of clouds are always rejected, in the file too. Names are not resolved, so a name that leads there passes: block 169.254.0.0/16 in the network as well"},
		{"model_cost_map_url", own(&c.Budgets.CostMapURL, (*decoder).costMap, (*writer).address, unset), "where `/model/cost_map/reload` reads prices, in LiteLLM's form"},
		{"global_max_parallel_requests", number{to: &c.MaxParallel, least: 1, most: mostParallel, without: "no limit"}, "inference requests in flight at each node; above it 429 `rate_limit_exceeded` with `retry-after: 1`"},
		{"max_parallel_requests", custom{
			reader:  func(o *object, name string) { o.d.parallel(o, name, &o.d.maxParallel) },
			without: "no limit",
		}, "another name of `router_settings.default_max_parallel_requests`; the lower of the two applies"},
		{"max_request_size_mb", size("max_request_bytes", &c.Limits.MaxRequestBytes), "another name of `limits.max_request_bytes`, in MiB"},
		{"max_response_size_mb", size("max_response_bytes", &c.Limits.MaxResponseBytes), "another name of `limits.max_response_bytes`, in MiB"},
	}, c.Enforced.settings())
}

// general reads general_settings.
func (d *decoder) general(n *node, c *Config) {
	o := d.open(n)
	o.settings(c.general())
	o.also = litellm.GeneralSettings.Protectors
	o.rest(d.documented(litellm.GeneralSettings))
}

// masterKey reads the admin credential. Without one in the file the variable
// LITELLM_MASTER_KEY counts, because LiteLLM's deployments set it there.
func (d *decoder) masterKey(o *object, name string, to *vault.Secret) {
	const remedy = "set general_settings.master_key to a secret that starts with sk- and has at least 16 characters, best as os.environ/NAME"
	n, ok := o.take(name)
	if !ok {
		s, there := d.env("LITELLM_MASTER_KEY")
		if !there || s == "" {
			d.report(o.n.at, "general_settings.master_key", "there is no admin credential, and the gateway does not start without one: "+remedy)
			return
		}
		n = &node{kind: scalar, text: wholeValue + "LITELLM_MASTER_KEY", path: "general_settings.master_key", at: o.n.at}
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	switch s = strings.TrimSpace(s); {
	case s == "":
		d.fail(n, "is empty, and the gateway does not start without an admin credential: %s", remedy)
	case isPublished(s):
		d.fail(n, "is the example key of a public documentation, which everybody knows and tries first: %s", remedy)
	default:
		*to = d.key(n)
	}
}

// lookup returns the value of an environment variable that may be missing: the
// one that environment_variables sets, else the one of the process.
func (d *decoder) lookup(name string) vault.Secret {
	s, _ := d.env(name)
	if own, ok := d.variables[name]; ok {
		s = own.Reveal()
	}
	return vault.NewSecret(strings.TrimSpace(s))
}

// isPublished reports whether a key is in documentation that people copy from.
func isPublished(s string) bool {
	switch strings.ToLower(s) {
	case "sk-1234", "sk-12345", "sk-123456", "sk-12345678", "sk-1234567890", "sk-1234567890abcdef",
		"sk-1234567890123456", "sk-master", "sk-admin", "sk-change-me", "sk-changeme", "sk-test", "sk-litellm-master-key",
		"sk-your-master-key", "sk-your-secret-key", "sk-xxxxxxxxxxxxxxxx", "sk-0000000000000000":
		return true
	}
	return false
}

// key reads a key that callers of the gateway present.
func (d *decoder) key(n *node) vault.Secret {
	s := d.secret(n)
	switch k := s.Reveal(); {
	case s.IsEmpty():
	case isPublished(k):
		d.fail(n, "is an example key of a public documentation, which everybody knows: choose another")
	case !strings.HasPrefix(k, keyPrefix):
		d.fail(n, "does not start with sk-: callers and log scrubbers tell keys by that prefix; put sk- before it")
	case len(k) < leastKey:
		d.fail(n, "is shorter than 16 characters and can be guessed: choose a longer one")
	case len(k) > credential.MaxLength:
		d.fail(n, "is longer than %d characters: choose a shorter one", credential.MaxLength)
	case strings.ContainsAny(k, " ,"):
		d.fail(n, "holds a space or a comma, which no Authorization header can carry: choose another")
	default:
		return s
	}
	return vault.Secret{}
}

// body reads one of LiteLLM's sizes in MiB. Where limits sets the same in
// bytes the two must agree.
func (d *decoder) body(o *object, name, own string, to *int64) {
	var size int64
	o.integer(name, &size, 1, mostBody/mebibyte)
	if size *= mebibyte; size == 0 || size == *to {
		return
	}
	if _, set := d.at["limits."+own]; set {
		n, _ := o.take(name)
		d.fail(n, "differs from limits.%s: keep one of the two", own)
		return
	}
	*to = size
}
