package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// router reads router_settings, with what was folded into them.
func (d *decoder) router(n *node, r *Router) {
	*r = Router{Strategy: string(catalog.SimpleShuffle), RetryOn: []string{"5xx", "429", "timeout", "connection"}, MaxParallel: d.maxParallel}
	o := d.open(n)
	o.str("routing_strategy", &r.Strategy)
	o.strings("retry_on", &r.RetryOn)
	numbers := map[string]*int64{"num_retries": &r.NumRetries, "max_fallbacks": &r.MaxFallbacks, "allowed_fails": &r.AllowedFails}
	spans := map[string]*time.Duration{"retry_after": &r.RetryAfter, "timeout": &r.Timeout, "stream_timeout": &r.StreamTimeout, "cooldown_time": &r.CooldownTime}
	for _, f := range catalog.RouterFields() {
		if to, ok := numbers[f.Name]; ok {
			*to = f.Default
			o.integer(f.Name, to, f.Least, f.Most)
		}
		if to, ok := spans[f.Name]; ok {
			*to = time.Duration(f.Default)
			o.duration(f.Name, to, time.Duration(f.Least), time.Duration(f.Most))
		}
	}
	d.parallel(o, "default_max_parallel_requests", &r.MaxParallel)
	o.boolean("disable_cooldowns", &r.DisableCooldowns)
	o.boolean("enable_pre_call_checks", &r.EnablePreCallChecks)
	d.aliases(o, &r.Aliases)
	o.fallbacks("fallbacks", &r.Fallbacks)
	o.fallbacks("context_window_fallbacks", &r.ContextWindow)
	o.fallbacks("content_policy_fallbacks", &r.ContentPolicy)
	o.strings("default_fallbacks", &r.DefaultFallbacks)
	for _, name := range []string{"context_window_fallbacks", "content_policy_fallbacks"} {
		if n := o.n.field(name); n != nil {
			d.warn(n, "is checked and has no effect: whatever the cause of a failure, fallbacks is what is followed")
		}
	}
	if checks, ok := o.take("optional_pre_call_checks"); ok {
		d.entries(checks, preCallChecks, unknownCheck)
	}
	d.defaultParams(o, r)
	o.also = routing.protectors
	o.rest(d.documented(routing))
}

// parallel reads the limit of deployments that have none of their own. Several settings
// are that limit: the lowest one holds.
func (d *decoder) parallel(o *object, name string, to *int64) {
	var limit int64
	o.integer(name, &limit, 0, mostParallel)
	if limit > 0 && (*to == 0 || limit < *to) {
		*to = limit
	}
}

// defaultParams reads default_litellm_params: what protects in a deployment
// protects there too.
func (d *decoder) defaultParams(o *object, to *Router) {
	n, ok := o.take("default_litellm_params")
	if !ok {
		return
	}
	common := d.open(n)
	d.parallel(common, "max_parallel_requests", &to.MaxParallel)
	for _, f := range common.n.fields {
		r, known := d.find(params, f.name)
		switch {
		case f.name == "max_parallel_requests":
			continue
		case isPrice(f.name):
			r = documented{verdict: protecting, why: "deployments would be billed at other prices; write the price into each deployment"}
		case !known:
			r = documented{why: "deployments have no common parameters; write it into each deployment"}
		}
		d.apply(f.value, params, f.name, r)
	}
}

// fallbacks reads a list of mappings from one model to its fallbacks, or one
// such mapping.
func (o *object) fallbacks(name string, to *[]Fallback) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	items := []*node{n}
	if n.kind == list {
		items = n.items
	}
	seen := map[string]place{}
	for _, item := range items {
		if item.kind != mapping {
			o.d.fail(item, "must be a mapping such as gpt-4o: [claude, gemini], and is %s", item.kind)
			continue
		}
		for _, f := range item.fields {
			from := strings.TrimSpace(f.name)
			if first, twice := seen[from]; twice {
				o.d.report(f.at, item.path, fmt.Sprintf("%s has fallbacks already, in line %d: merge the two", quote(from), first.line))
				continue
			}
			seen[from] = f.at
			targets := o.d.strings(f.value)
			if len(targets) == 0 && f.value.kind == list {
				o.d.fail(f.value, "names no fallback: name one, or remove the entry")
			}
			// Catalog makes an entry of each, so the catalogue counts them so.
			o.d.at[fmt.Sprintf("router_settings.%s[%d]", name, len(*to))] = f.at
			*to = append(*to, Fallback{From: from, To: targets})
		}
	}
}

// aliases reads model_group_alias: a name for a name, or LiteLLM's longer form
// with model and hidden.
func (d *decoder) aliases(o *object, to *[]Alias) {
	n, ok := o.take("model_group_alias")
	if !ok {
		return
	}
	for _, f := range d.open(n).n.fields {
		a := Alias{Name: strings.TrimSpace(f.name)}
		if f.value.kind == mapping {
			long := d.open(f.value)
			long.str("model", &a.Group)
			long.rest(func(f field) bool {
				if f.name == "hidden" && !isOff(f.value) {
					d.warn(f.value, "has no effect: an alias is a name to ask for; /v1/models lists it")
				}
				return f.name == "hidden"
			})
		} else if f.value.kind == scalar {
			if s, ok := d.text(f.value); ok {
				a.Group = strings.TrimSpace(s)
			} else {
				continue
			}
		}
		if a.Name == "" || a.Group == "" {
			d.fail(f.value, "names no model group: write alias: model_name")
			continue
		}
		*to = append(*to, a)
	}
}
