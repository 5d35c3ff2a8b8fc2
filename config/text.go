package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// wholeValue is LiteLLM's way to name an environment variable as a whole value.
	wholeValue = "os.environ/"
	// redacted is what Effective writes for a credential; it is never one itself.
	redacted = "[redacted]"
)

// text returns what a scalar says, with the environment read into it.
func (d *decoder) text(n *node) (string, bool) {
	if n.kind != scalar {
		d.fail(n, "must be a single value, and is %s", n.kind)
		return "", false
	}
	if name, ok := strings.CutPrefix(n.text, wholeValue); ok {
		return d.variable(n, name)
	}
	if !strings.Contains(n.text, "${") {
		return n.text, true
	}
	return d.interpolate(n)
}

// interpolate replaces each ${NAME} of a scalar; $${ is a literal ${. What is
// put in is not looked at again.
func (d *decoder) interpolate(n *node) (string, bool) {
	var b strings.Builder
	ok := true
	rest := n.text
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			b.WriteString(rest)
			return b.String(), ok
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(literal + "${")
			rest = after
			continue
		}
		b.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			d.fail(n, "${ without }: write ${NAME} for an environment variable, or $${ for a literal ${")
			return "", false
		}
		value, there := d.variable(n, name)
		ok = ok && there
		b.WriteString(value)
		rest = tail
	}
}

// variable returns the value of an environment variable: the one that the
// section environment_variables sets, else the one of the process.
func (d *decoder) variable(n *node, name string) (string, bool) {
	if !isVariable(name) {
		d.fail(n, "names an environment variable in a form that cannot be one: use letters, digits and _, as in ${NAME} or os.environ/NAME")
		return "", false
	}
	if s, ok := d.variables[name]; ok {
		return s.Reveal(), true
	}
	if s, ok := d.env(name); ok {
		return s, true
	}
	d.fail(n, "environment variable %s is not set: export it before the start, or write the value here", name)
	return "", false
}

// isVariable reports whether name may name an environment variable.
func isVariable(name string) bool {
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// secret reads a credential: printable ASCII without spaces at its ends, so
// that a header can carry it.
func (d *decoder) secret(n *node) vault.Secret {
	s, ok := d.text(n)
	if !ok {
		return vault.Secret{}
	}
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == redacted:
		d.fail(n, "%s stands for a credential that was left out when the effective configuration was printed: put the credential here, or os.environ/NAME", redacted)
	case trimmed == "":
		d.fail(n, "is empty: write the credential, or os.environ/NAME of a variable that is not empty, or remove the line")
	case !isPrintable(trimmed):
		d.fail(n, "holds a character that is not printable ASCII: copy the credential again")
	default:
		return vault.NewSecret(trimmed)
	}
	return vault.Secret{}
}

// isPrintable reports whether all of s is printable ASCII.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

// quote returns a text of the file for a problem, in quotes. What is long, has
// unusual characters or begins as a key does might be a credential in the
// wrong place and is not shown.
func quote(s string) string {
	odd := strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("_-.:/*+ []<", c)
	})
	if len(s) > 48 || odd || strings.HasPrefix(s, "sk-") {
		return fmt.Sprintf("(%d characters, not shown)", len([]rune(s)))
	}
	return strconv.Quote(s)
}
