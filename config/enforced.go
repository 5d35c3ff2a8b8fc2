package config

import (
	"slices"
	"strings"
)

func (e *Enforced) settings() []setting {
	return []setting{
		{"enforced_params", own(&e.Params, (*decoder).parameters, (*writer).some, unset), "parameters that each request must have, such as `user` or `metadata.project`; without them 400 `missing_required_parameter`"},
		{"enforce_user_param", custom{e.user, nil, "`false`"}, "the same as `user` among `enforced_params`"},
		{"service_account_settings", custom{e.serviceAccounts, func(w *writer, name string) {
			w.optional(name, func() { w.some("enforced_params", e.ServiceParams) })
		}, unset}, "its `enforced_params` are the same for requests with keys that belong to a team and to no user"},
	}
}

// user reads enforce_user_param.
func (e *Enforced) user(o *object, name string) {
	var user bool
	if o.boolean(name, &user); user && !slices.Contains(e.Params, "user") {
		e.Params = append(e.Params, "user")
	}
}

// serviceAccounts reads service_account_settings.
func (e *Enforced) serviceAccounts(o *object, name string) {
	n, ok := o.take(name)
	if !ok || isOff(n) {
		return
	}
	for _, entry := range n.entries() {
		service := o.d.open(entry)
		o.d.parameters(service, "enforced_params", &e.ServiceParams)
		service.close()
	}
}

// parameters reads names of parameters, and adds them.
func (d *decoder) parameters(o *object, name string, to *[]string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	for _, param := range d.strings(n) {
		if slices.Contains(strings.Split(param, "."), "") || len(param) > 128 {
			d.fail(n, "%s names no parameter: write its name, such as user, or metadata.project for a member of an object", quote(param))
			continue
		}
		if !slices.Contains(*to, param) {
			*to = append(*to, param)
		}
	}
}
