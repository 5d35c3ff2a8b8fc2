package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/config/litellm"
)

// documented returns what handles the fields of a section that the decoder does
// not read: it reports whether the field is one that LiteLLM documents.
func (d *decoder) documented(s litellm.Section) func(f field) bool {
	return func(f field) bool {
		r, ok := d.tables.Find(s, f.name)
		if ok {
			d.apply(f.value, s, f.name, r)
		}
		return ok
	}
}

// apply applies the verdict on a setting that is in the file.
func (d *decoder) apply(n *node, s litellm.Section, name string, r litellm.Entry) {
	switch {
	case isOff(n): // it sets nothing
	case r.Verdict == litellm.Harmless:
		d.warn(n, "has no effect: %s", r.Why)
	default:
		d.unprotected(n, s.Setting(name), r.Why)
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
	for _, s := range litellm.Sections() {
		for _, name := range s.Protectors() {
			known = append(known, s.Setting(name))
		}
	}
	for _, name := range names {
		_, callback := strings.CutPrefix(name, litellm.Callbacks.Setting(""))
		_, check := strings.CutPrefix(name, litellm.PreCallChecks.Setting(""))
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
