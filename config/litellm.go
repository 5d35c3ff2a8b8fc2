package config

import (
	"strings"

	"github.com/modelgateway/modelgateway/config/litellm"
)

// settings folds what litellm_settings say about routing into router_settings, which
// wins where both say something, and returns whether deployments drop parameters that
// their provider does not know. The rest goes to c.
func (d *decoder) settings(own, theirs *node, c *Config) (router *node, dropParams bool) {
	o := d.open(theirs)
	router = &node{kind: mapping, path: "router_settings"}
	if own != nil && own.kind == mapping {
		router.at, router.fields = own.at, append(router.fields, own.fields...)
	} else if own != nil && own.kind != absent {
		d.open(own) // says that it must be a mapping
	}
	for _, name := range []string{
		"num_retries", "request_timeout", "allowed_fails", "cooldown_time", "fallbacks", "default_fallbacks",
		"context_window_fallbacks", "content_policy_fallbacks", "model_group_alias", "max_fallbacks", "stream_timeout",
	} {
		n, ok := o.take(name)
		if !ok {
			continue
		}
		to := strings.Replace(name, "request_timeout", "timeout", 1)
		if router.field(to) != nil {
			d.warn(n, "has no effect: router_settings.%s is set and wins; remove one of the two", to)
			continue
		}
		router.fields = append(router.fields, field{to, n.at, n})
	}
	o.boolean("drop_params", &dropParams)
	d.callbacks(o)
	o.settings(c.created())
	d.at.note(o.n.field("key_generation_settings"), 2)
	o.also = litellm.Settings.Protectors
	o.rest(d.documented(litellm.Settings))
	return router, dropParams
}
