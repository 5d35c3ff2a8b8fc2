package config

import "strings"

// callbackLists are the lists of litellm_settings that name callbacks. LiteLLM
// runs a guard from any of them.
func callbackLists() []string {
	return []string{
		"callbacks", "input_callback", "success_callback", "failure_callback", "service_callback", "service_callbacks", "audit_log_callbacks",
	}
}

// callbacks reads the lists of callbacks: each entry has a verdict of its own.
func (d *decoder) callbacks(o *object) {
	for _, name := range callbackLists() {
		if n, ok := o.take(name); ok {
			d.entries(n, callbacks, unknownCallback)
		}
	}
}

// Reasons that are also for names that the tables do not have.
const (
	callbackGuard   = "requests would be served without this guard; run it in front of the gateway, then remove it from the list"
	callbackLimiter = "requests would not be limited by it; set rpm_limit, tpm_limit and max_parallel_requests on keys and teams, then remove it from the list"
	unknownCallback = "the gateway does not run this code, so what it denies would be allowed; if it only records, remove it from the list: the gateway has its own log, metrics and audit log"
	unknownCheck    = "the gateway does not know this check, so what it denies would be allowed; remove it from the list if it may"
)

// entries applies the verdict on each name of a list, and the reason unknown to
// those that the table of the section does not have.
func (d *decoder) entries(n *node, s section, unknown string) {
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
		r, ok := d.find(s, name)
		switch {
		case ok:
			d.apply(item, s, name, r)
		case !isDotted(name):
			d.fail(item, "%s is not supported: %s", quote(name), unknown)
		default:
			d.unprotected(item, s.setting(name), guardReason(s, name, unknown))
		}
	}
}

// guardReason returns the reason for an unknown callback: guards come in
// families whose members change from version to version.
func guardReason(s section, name, unknown string) string {
	if s != callbacks {
		return unknown
	}
	for _, family := range []string{"lakera", "llamaguard", "llmguard", "aporia", "presidio"} {
		if strings.HasPrefix(name, family) {
			return callbackGuard
		}
	}
	if strings.HasPrefix(name, "dynamic_rate_limiter") {
		return callbackLimiter
	}
	return unknown
}

// isDotted reports whether a text is a name or the path of a class, and can be
// shown: credentials have other characters, or are long and have no dot.
func isDotted(s string) bool {
	odd := strings.ContainsFunc(s, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.'
	})
	return s != "" && !odd && (len(s) <= 48 || len(s) <= 128 && strings.Contains(s, "."))
}
