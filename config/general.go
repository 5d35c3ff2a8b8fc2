package config

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	keyPrefix = "sk-"
	leastKey  = 16 // characters, as LiteLLM asks of custom keys: shorter ones are guessed
	mebibyte  = 1 << 20
)

// general reads general_settings.
func (d *decoder) general(n *node, c *Config) {
	o := d.open(n)
	d.masterKey(o, c)
	d.encryption(o, c)
	d.body(o, "max_request_size_mb", "max_request_bytes", &c.Limits.MaxRequestBytes)
	d.body(o, "max_response_size_mb", "max_response_bytes", &c.Limits.MaxResponseBytes)
	d.webhook(o, &c.Webhook)
	d.budgets(o, &c.Budgets)
	if o.n.field("allow_private_endpoints") != nil {
		c.PrivateEndpoints = new(bool)
		o.boolean("allow_private_endpoints", c.PrivateEndpoints)
	}
	d.enforced(o, &c.Enforced)
	o.integer("global_max_parallel_requests", &c.MaxParallel, 1, mostParallel)
	d.parallel(o, "max_parallel_requests", &d.maxParallel)
	o.also = general.protectors
	o.rest(d.documented(general))
}

// masterKey reads the admin credential. Without one in the file the variable
// LITELLM_MASTER_KEY counts, because LiteLLM's deployments set it there.
func (d *decoder) masterKey(o *object, c *Config) {
	const remedy = "set general_settings.master_key to a secret that starts with sk- and has at least 16 characters, best as os.environ/NAME"
	n, ok := o.take("master_key")
	if !ok {
		s, there := d.env("LITELLM_MASTER_KEY")
		if !there || s == "" {
			at := o.n.at
			d.report(at, "general_settings.master_key", "there is no admin credential, and the gateway does not start without one: "+remedy)
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
		c.MasterKey = d.key(n)
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

// isPublished reports whether a key stands in documentation that people copy from.
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
	case len(k) > tenancy.MaxLength:
		d.fail(n, "is longer than %d characters: choose a shorter one", tenancy.MaxLength)
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
