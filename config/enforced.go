package config

import (
	"slices"
	"strings"
)

// enforced reads enforced_params, enforce_user_param and service_account_settings.
func (d *decoder) enforced(o *object, to *Enforced) {
	d.parameters(o, "enforced_params", &to.Params)
	var user bool
	if o.boolean("enforce_user_param", &user); user && !slices.Contains(to.Params, "user") {
		to.Params = append(to.Params, "user")
	}
	n, ok := o.take("service_account_settings")
	if !ok || isOff(n) {
		return
	}
	entries := []*node{n}
	if n.kind == list {
		entries = n.items
	}
	for _, entry := range entries {
		service := d.open(entry)
		d.parameters(service, "enforced_params", &to.ServiceParams)
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
