package main

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// rule is one entry of the page: an operation, a route to it, and further ones.
type rule struct {
	Selector string `yaml:"selector"`
	Binding  `yaml:",inline"`
	Further  []Binding `yaml:"additional_bindings"`
}

// Binding is one route: one of the methods has its path.
type Binding struct {
	Get          string `yaml:"get"`
	Post         string `yaml:"post"`
	Put          string `yaml:"put"`
	Patch        string `yaml:"patch"`
	Delete       string `yaml:"delete"`
	Body         string `yaml:"body"`
	ResponseBody string `yaml:"response_body"`
}

// route is a row of the table.
type route struct {
	Method, Path, RPC string
	Body              bool
}

// parse reads the page. A name that it does not know is an error: it would be a
// route that is silently not there.
func parse(text []byte) ([]rule, error) {
	var page struct {
		Type    string `yaml:"type"`
		Version int    `yaml:"config_version"`
		HTTP    struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"http"`
	}
	if err := yaml.UnmarshalWithOptions(text, &page, yaml.Strict()); err != nil {
		return nil, err
	}
	return page.HTTP.Rules, nil
}

// routesOf makes the table. methods has the operations' full names, by which the
// page selects them, and what gRPC calls them.
func routesOf(rules []rule, methods map[string]string) ([]route, error) {
	var out []route
	seen := map[string]string{}
	bound := map[string]bool{}
	for _, r := range rules {
		rpc, ok := methods[r.Selector]
		if !ok {
			return nil, fmt.Errorf("%s: there is no such operation", r.Selector)
		}
		if bound[rpc] {
			return nil, fmt.Errorf("%s: it has two entries; put its routes into one", r.Selector)
		}
		bound[rpc] = true
		for _, b := range append([]Binding{r.Binding}, r.Further...) {
			one, err := b.route(rpc)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Selector, err)
			}
			if other, twice := seen[one.Method+" "+one.Path]; twice {
				return nil, fmt.Errorf("%s %s leads to %s and to %s", one.Method, one.Path, other, rpc)
			}
			seen[one.Method+" "+one.Path] = rpc
			out = append(out, one)
		}
	}
	for name, rpc := range methods {
		if !bound[rpc] {
			return nil, fmt.Errorf("%s: it has no route", name)
		}
	}
	return out, nil
}

func (b Binding) route(rpc string) (route, error) {
	var found []route
	for _, m := range [][2]string{{"GET", b.Get}, {"POST", b.Post}, {"PUT", b.Put}, {"PATCH", b.Patch}, {"DELETE", b.Delete}} {
		if m[1] != "" {
			found = append(found, route{Method: m[0], Path: m[1], RPC: rpc, Body: b.Body != ""})
		}
	}
	switch {
	case len(found) != 1:
		return route{}, fmt.Errorf("an entry has %d methods; it needs one", len(found))
	case b.Body != "" && b.Body != "*":
		return route{}, fmt.Errorf("%s: the body is %q; only * is served", found[0].Path, b.Body)
	}
	return found[0], nil
}
