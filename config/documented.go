package config

import (
	"fmt"
	"slices"
	"strings"
)

// verdict says what the gateway does with a setting that LiteLLM documents and the
// decoder does not read.
type verdict uint8

const (
	harmless   verdict = iota // a warning: without it, nothing is less safe
	protecting                // rejected: without it the gateway would allow what the file forbids, or bill what it does not say
)

// documented is the verdict on some settings of a section, and its reason.
type documented struct {
	verdict verdict
	why     string // completes "has no effect: …" or "is not supported: …"
	names   string // separated by spaces
}

// section is a part of a LiteLLM file that has a table of its own. Its text is
// the prefix of names for --accept-unprotected.
type section string

// The sections. The settings of a whole file have no prefix.
const (
	wholeFile     section = ""
	general       section = "general_settings"
	foreign       section = "litellm_settings"
	routing       section = "router_settings"
	deployment    section = "model_list"
	params        section = "litellm_params"
	modelInfo     section = "model_info"
	callbacks     section = "callbacks"
	preCallChecks section = "optional_pre_call_checks"
)

// sections returns every section, in the order of the documentation.
func sections() []section {
	return []section{wholeFile, general, foreign, routing, deployment, params, modelInfo, callbacks, preCallChecks}
}

// table returns what LiteLLM documents of the section, without what the decoder reads.
func (s section) table() []documented {
	switch s {
	case wholeFile:
		return sectionTable()
	case general:
		return slices.Concat(generalGuards(), generalRest())
	case foreign:
		return slices.Concat(settingsGuards(), settingsRest())
	case routing:
		return routerTable()
	case deployment:
		return deploymentTable()
	case params:
		return paramsTable()
	case modelInfo:
		return infoTable()
	case callbacks:
		return callbackTable()
	case preCallChecks:
		return precheckTable()
	}
	return nil
}

// setting returns the name of a setting for --accept-unprotected.
func (s section) setting(name string) string {
	if s == wholeFile {
		return name
	}
	return string(s) + "." + name
}

// find returns the verdict on a setting. The tables are indexed once for each file:
// 10,000 deployments may have thousands of such settings.
func (d *decoder) find(s section, name string) (documented, bool) {
	index, ok := d.tables[s]
	if !ok {
		index = make(map[string]documented)
		for _, r := range s.table() {
			for name := range strings.FieldsSeq(r.names) {
				index[name] = r
			}
		}
		if d.tables == nil {
			d.tables = make(map[section]map[string]documented)
		}
		d.tables[s] = index
	}
	r, ok := index[name]
	return r, ok
}

// documented returns what handles the fields of a section that the decoder does
// not read: it reports whether the field is one that LiteLLM documents.
func (d *decoder) documented(s section) func(f field) bool {
	return func(f field) bool {
		r, ok := d.find(s, f.name)
		if ok {
			d.apply(f.value, s, f.name, r)
		}
		return ok
	}
}

// protectors returns the settings of the section that protect. A misspelled key may
// mean one of them, and then its removal would be the wrong remedy.
func (s section) protectors() []string {
	var names []string
	for _, r := range s.table() {
		if r.verdict == protecting {
			names = append(names, strings.Fields(r.names)...)
		}
	}
	return names
}

// apply applies the verdict on a setting that is in the file.
func (d *decoder) apply(n *node, s section, name string, r documented) {
	switch {
	case isOff(n): // it sets nothing
	case r.verdict == harmless:
		d.warn(n, "has no effect: %s", r.why)
	default:
		d.unprotected(n, s.setting(name), r.why)
	}
}

// unprotected rejects a setting that protects, unless the operator has accepted
// it by its name. Then it is a warning at every start.
func (d *decoder) unprotected(n *node, name, why string) {
	if _, ok := d.accepted[name]; ok {
		d.accepted[name] = true
		d.warn(n, "is not enforced, as --accept-unprotected %s accepts: %s", name, why)
		return
	}
	d.fail(n, "is not supported: %s (to start without it: --accept-unprotected %s)", why, name)
}

// isOff reports whether a value says no.
func isOff(n *node) bool {
	switch n.kind {
	case scalar:
		s := strings.ToLower(n.text)
		return s == "false" || s == "no" || s == "off"
	case list:
		return len(n.items) == 0
	case mapping:
		return len(n.fields) == 0
	case absent:
	}
	return true
}

const acceptFlag = "--accept-unprotected"

// accept takes the names that the operator accepts, and rejects those that no
// setting has: a typing error must not look like a decision.
func (d *decoder) accept(names []string) {
	d.accepted = make(map[string]bool, len(names))
	var known []string
	for _, s := range sections() {
		for _, name := range s.protectors() {
			known = append(known, s.setting(name))
		}
	}
	for _, name := range names {
		_, callback := strings.CutPrefix(name, callbacks.setting(""))
		_, check := strings.CutPrefix(name, preCallChecks.setting(""))
		if callback || check || slices.Contains(known, name) {
			d.accepted[name] = false
			continue
		}
		detail := quote(name) + " names no setting that protects"
		if near := suggest(name, known); near != "" {
			detail += fmt.Sprintf("; did you mean %q?", near)
		} else {
			detail += ": write the name that the rejection of the file shows, such as general_settings.allowed_ips"
		}
		d.problems = append(d.problems, Problem{File: acceptFlag, Detail: detail})
	}
}

// pointless warns of accepted names that nothing in the file has: they would
// accept a guard that somebody adds later.
func (d *decoder) pointless(names []string) {
	for _, name := range names {
		if !d.accepted[name] {
			d.warnings = append(d.warnings, Problem{File: acceptFlag, Detail: quote(name) + " accepts nothing that is in this file: remove it"})
		}
	}
}
