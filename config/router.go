package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// router reads router_settings, with what was folded into them.
func (d *decoder) router(n *node, c *Config) {
	r := &c.Router
	*r = catalog.DefaultRouter()
	o := d.open(n)
	for _, f := range catalog.RouterFields() {
		switch to := f.In(r).(type) {
		case **string:
			o.str(f.Name, *to)
		case **int:
			v := int64(**to)
			o.integer(f.Name, &v, f.Least, f.Most)
			**to = int(v)
		case **time.Duration:
			v := time.Duration(f.Default)
			if o.duration(f.Name, &v, time.Duration(f.Least), time.Duration(f.Most)); v != 0 || *to != nil {
				*to = &v
			}
		case **bool:
			o.boolean(f.Name, *to)
		case *[]string:
			o.strings(f.Name, to)
		case *map[string]string:
			c.aliases = d.aliases(o, f.Name, to)
		case *[]map[string][]string:
			o.fallbacks(f.Name, to)
		}
	}
	for _, name := range []string{"context_window_fallbacks", "content_policy_fallbacks"} {
		if n := o.n.field(name); n != nil {
			d.warn(n, "is checked and has no effect: whatever the cause of a failure, fallbacks is what is followed")
		}
	}
	if checks, ok := o.take("optional_pre_call_checks"); ok {
		d.entries(checks, litellm.PreCallChecks)
	}
	limit := d.maxParallel
	lower(&limit, int64(*r.DefaultMaxParallel))
	d.defaultParams(o, &limit)
	if r.DefaultMaxParallel = nil; limit > 0 {
		r.DefaultMaxParallel = new(int(limit))
	}
	o.also = litellm.RouterSettings.Protectors
	o.rest(d.documented(litellm.RouterSettings))
}

// parallel reads one of the settings that limit the requests in flight at deployments
// that have no limit of their own.
func (d *decoder) parallel(o *object, name string, to *int64) {
	var limit int64
	o.integer(name, &limit, 0, mostParallel)
	lower(to, limit)
}

// lower lowers a limit; 0 is none.
func lower(limit *int64, to int64) {
	if to > 0 && (*limit == 0 || to < *limit) {
		*limit = to
	}
}

// defaultParams reads default_litellm_params: what protects in a deployment
// protects there too.
func (d *decoder) defaultParams(o *object, limit *int64) {
	n, ok := o.take("default_litellm_params")
	if !ok {
		return
	}
	common := d.open(n)
	d.parallel(common, "max_parallel_requests", limit)
	for _, f := range common.n.fields {
		r, known := d.tables.Find(litellm.Params, f.name)
		switch {
		case f.name == "max_parallel_requests":
			continue
		case litellm.IsPrice(f.name):
			r = litellm.Entry{Verdict: litellm.Protecting, Why: "deployments would be billed at other prices; write the price into each deployment"}
		case !known:
			r = litellm.Entry{Why: "deployments have no common parameters; write it into each deployment"}
		}
		d.apply(f.value, litellm.Params, f.name, r)
	}
}

// fallbacks reads a list of mappings from one model to its fallbacks, or one
// such mapping.
func (o *object) fallbacks(name string, to *[]map[string][]string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	seen := map[string]place{}
	for _, item := range n.entries() {
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
			// Each is an entry of its own, so the catalogue counts them so.
			o.d.at[fmt.Sprintf("router_settings.%s[%d]", name, len(*to))] = f.at
			*to = append(*to, map[string][]string{from: targets})
		}
	}
}

// aliases reads model_group_alias: a name for a name, or LiteLLM's longer form
// with model and hidden. It returns the names in the order of the file.
func (d *decoder) aliases(o *object, setting string, to *map[string]string) (names []string) {
	n, ok := o.take(setting)
	if !ok {
		return nil
	}
	*to = map[string]string{}
	for _, f := range d.open(n).n.fields {
		name, group := strings.TrimSpace(f.name), ""
		if f.value.kind == mapping {
			long := d.open(f.value)
			long.str("model", &group)
			long.rest(func(f field) bool {
				if f.name == "hidden" && !isOff(f.value) {
					d.warn(f.value, "has no effect: an alias is a name to ask for; /v1/models lists it")
				}
				return f.name == "hidden"
			})
		} else if f.value.kind == scalar {
			if s, ok := d.text(f.value); ok {
				group = strings.TrimSpace(s)
			} else {
				continue
			}
		}
		if name == "" || group == "" {
			d.fail(f.value, "names no model group: write alias: model_name")
			continue
		}
		if _, twice := (*to)[name]; !twice {
			names = append(names, name)
		}
		(*to)[name] = group
	}
	return names
}
