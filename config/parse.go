package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// Load reads the configuration file at path. env looks up an environment
// variable, as os.LookupEnv does; accepted is as in Parse. Problems in the file are a
// ProblemsError; a file that cannot be read is a *fault.Error.
func Load(path string, env func(string) (string, bool), accepted ...string) (*Config, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, unreadable(path, err)
	}
	src, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, unreadable(path, err)
	}
	return Parse(path, src, env, accepted...)
}

// unreadable is the error for a file that cannot be read.
func unreadable(path string, err error) error {
	return &fault.Error{
		Op: "load configuration", Kind: fault.Malformed, Code: invalid, Err: err,
		Detail: fmt.Sprintf("%s cannot be read: check that it exists, is a file and may be read by this user", path),
	}
}

// Parse reads a configuration from src; name is the name of the file in problems.
// accepted names the protecting settings of LiteLLM that the operator accepts to
// start without, such as litellm_params.tags. The error, if there is one, is a
// ProblemsError with all that is wrong.
func Parse(name string, src []byte, env func(string) (string, bool), accepted ...string) (*Config, error) {
	d := &decoder{file: name, env: env, at: places{}, tables: litellm.Index{}}
	if len(src) > MaxSize {
		d.report(place{}, "", fmt.Sprintf("the file is larger than %d MiB: split the deployments over several gateways", MaxSize>>20))
		return nil, d.problems
	}
	root := grow(bytes.TrimPrefix(src, []byte("\ufeff")), d.report)
	if root == nil && len(d.problems) > 0 { // an empty file gets as far as its missing admin credential
		return nil, d.problems
	}
	d.accept(accepted)
	c := &Config{origin: origin{file: name, at: d.at}}
	d.root(c, root)
	if len(d.problems) > 0 {
		return nil, ProblemsError(sorted(d.problems))
	}
	d.pointless(accepted)
	c.Warnings = sorted(d.warnings)
	return c, nil
}

// root reads the whole file.
func (d *decoder) root(c *Config, n *node) {
	o := d.open(n)
	o.settings(c.variables())
	d.server(o, c)
	section, _ := o.take("cluster")
	d.cluster(section, c)

	d.audit(o, &c.Audit)

	settings, _ := o.take("general_settings")
	d.general(settings, c)
	d.inflight(c)

	own, _ := o.take("router_settings")
	theirs, _ := o.take("litellm_settings")
	router, dropParams := d.settings(own, theirs, c)
	d.at.note(router, 2)
	d.router(router, c)

	items := o.items("model_list")
	c.Models = make([]Model, 0, len(items))
	for _, item := range items {
		c.Models = append(c.Models, d.model(item, dropParams))
	}
	d.keys(o.items("keys"), c)
	if list, ok := o.take("keys"); ok {
		d.at.note(list, 1)
	}
	if list, ok := o.take("model_list"); ok {
		d.at.note(list, 1)
	}
	known := d.documented(litellm.WholeFile)
	o.also = litellm.WholeFile.Protectors
	o.rest(func(f field) bool { return strings.HasPrefix(f.name, "x-") || known(f) })
}

// note remembers the place of a value and of those down to a depth in it. One
// that was folded in from litellm_settings is remembered as the router's too.
func (ps places) note(n *node, depth int) {
	if n == nil || n.path == "" { // it is not in the file
		return
	}
	ps[n.path] = n.at
	ps[strings.Replace(n.path, "litellm_settings", "router_settings", 1)] = n.at
	if depth == 0 {
		return
	}
	for _, f := range n.fields {
		ps.note(f.value, depth-1)
	}
	for _, item := range n.items {
		ps.note(item, depth-1)
	}
}

// variables returns environment_variables, which are read first and written late.
func (c *Config) variables() []setting {
	return []setting{{"environment_variables", custom{
		func(o *object, name string) { c.Environment = o.d.environment(o, name) },
		func(w *writer, name string) {
			w.optional(name, func() {
				for _, v := range c.Environment {
					w.raw(v.Name, `"`+redacted+`"`)
				}
			})
		}, unset,
	}, "variables for the process, by name; they are set before the rest of the file is read. `os.environ/NAME` and `${NAME}` refer to them"}}
}

// environment reads environment_variables. They come before the process's own,
// as LiteLLM has it, and their own references see the process's alone.
func (d *decoder) environment(o *object, name string) []Variable {
	n, _ := o.take(name)
	section := d.open(n)
	var all []Variable
	for _, f := range section.n.fields {
		switch {
		case !isVariable(f.name):
			d.report(f.at, section.n.path, quote(f.name)+" cannot name an environment variable: use letters, digits and _")
		case f.value.kind == absent:
			d.fail(f.value, "has no value: write one, or remove the line")
		default:
			if s, ok := d.text(f.value); ok {
				all = append(all, Variable{f.name, d.variableValue(f.value, s)})
			}
		}
	}
	d.variables = make(map[string]vault.Secret, len(all))
	for _, v := range all {
		d.variables[v.Name] = v.Value
	}
	return all
}

// variableValue wraps what environment_variables sets. Any of them may be a
// credential, so all of them are treated as one, but they may be empty.
func (d *decoder) variableValue(n *node, s string) vault.Secret {
	if strings.TrimSpace(s) == redacted {
		return d.secret(n) // rejects it with the reason
	}
	return vault.NewSecret(s)
}
