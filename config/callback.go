package config

import (
	"strings"

	"github.com/modelgateway/modelgateway/config/litellm"
)

// callbacks reads the lists of callbacks: each entry has a verdict of its own.
func (d *decoder) callbacks(o *object) {
	for _, name := range litellm.CallbackLists() {
		if n, ok := o.take(name); ok {
			d.entries(n, litellm.Callbacks)
		}
	}
}

// entries applies the verdict on each name of a list of callbacks or checks.
func (d *decoder) entries(n *node, s litellm.Section) {
	if isOff(n) {
		return
	}
	for _, item := range n.entries() {
		if item.kind != scalar {
			d.fail(item, "must be a name, and is %s: write one name for each entry", item.kind)
			continue
		}
		// A reference to the environment is not followed: its value could be a
		// credential, and the message shows the name.
		name := strings.TrimSpace(item.text)
		r, ok := d.tables.Find(s, name)
		switch {
		case ok:
			d.apply(item, s, name, r)
		case !isDotted(name):
			d.fail(item, "%s is not supported: %s", quote(name), s.Unknown(""))
		default:
			d.unprotected(item, s.Setting(name), s.Unknown(name))
		}
	}
}

// isDotted reports whether a text is a name or the path of a class, and can be
// shown: credentials have other characters, or are long and have no dot.
func isDotted(s string) bool {
	odd := strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.'
	})
	return s != "" && !odd && (len(s) <= 48 || len(s) <= 128 && strings.Contains(s, "."))
}
