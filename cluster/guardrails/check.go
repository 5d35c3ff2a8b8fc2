package guardrails

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxPatterns bounds the total size of an engine's patterns, in bytes.
const maxPatterns = 64 << 10

// check returns every problem of engines, each as a *fault.Error whose Param is the field of
// the request.
func check(engines []Engine) error {
	var errs []error
	for i := range engines {
		errs = append(errs, checkEngine(fmt.Sprintf("engines[%d].", i), &engines[i])...)
	}
	return errors.Join(errs...)
}

func checkEngine(at string, e *Engine) (errs []error) {
	wrong := func(param, format string, args ...any) {
		errs = append(errs, fault.Field(at+param, "invalid_value", format, args...))
	}
	kind, ok := kindOf(e.Name)
	if !ok {
		wrong("engine_name", "There is no engine %q; GET /guardrail/engines lists those that there are.", short(e.Name))
		return errs
	}
	if len(e.Hooks) == 0 {
		wrong("event_hooks", "An engine needs at least one of event_hooks: %s.", strings.Join(kind.Hooks, ", "))
	}
	for i, h := range e.Hooks {
		if !slices.Contains(kind.Hooks, h) {
			wrong(fmt.Sprintf("event_hooks[%d]", i), "%s can look at %s only.", kind.Name, strings.Join(kind.Hooks, ", "))
		}
	}
	for _, given := range e.given() {
		s, ok := kind.setting(given.name)
		if !ok {
			wrong("config."+given.name, "The engine %s has no setting %s; GET /guardrail/engines shows those that it has.", kind.Name, given.name)
			continue
		}
		for i, v := range given.values {
			if s.Values == nil || slices.Contains(s.Values, v) {
				continue
			}
			param := "config." + given.name
			if s.Type == "array" {
				param += fmt.Sprintf("[%d]", i)
			}
			wrong(param, "%q is none of the values that %s knows: %s.", short(v), given.name, strings.Join(s.Values, ", "))
		}
	}
	size := 0
	for i, p := range e.BannedPatterns {
		size += len(p)
		if _, err := regexp.Compile("(?i)" + p); err != nil {
			wrong(fmt.Sprintf("config.banned_patterns[%d]", i), "This is no regular expression in RE2 syntax: %s.", reason(err))
		}
	}
	if size > maxPatterns {
		wrong("config.banned_patterns", "The patterns come to more than %d bytes. Make them fewer or shorter.", maxPatterns)
	}
	if e.Threshold != nil && *e.Threshold > 1000 {
		wrong("config.score_threshold", "score_threshold must be between 0 and 1.")
	}
	if e.Name == "content_filter" && len(e.BannedKeywords)+len(e.BannedPatterns) == 0 {
		wrong("config", "A content_filter without banned_keywords and banned_patterns finds nothing. Give some.")
	}
	return errs
}

// reason returns why a pattern does not compile, without the pattern.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	text, _, _ = strings.Cut(text, ": `")
	return text
}

// givenSetting is a setting that an engine has.
type givenSetting struct {
	name   string
	values []string // a list's elements, or the one text; nil for a number
}

// given returns the settings that an engine has.
func (e *Engine) given() []givenSetting {
	var out []givenSetting
	list := func(name string, values []string) {
		if len(values) > 0 {
			out = append(out, givenSetting{name, values})
		}
	}
	text := func(name, value string) {
		if value != "" {
			out = append(out, givenSetting{name, []string{value}})
		}
	}
	text("action", e.Action)
	list("allowed_tools", e.AllowedTools)
	list("banned_keywords", e.BannedKeywords)
	list("banned_patterns", e.BannedPatterns)
	list("blocked_tools", e.BlockedTools)
	list("detectors", e.Detectors)
	list("entities", e.Entities)
	text("language", e.Language)
	text("on_violation", e.OnViolation)
	if e.Threshold != nil {
		out = append(out, givenSetting{name: "score_threshold"})
	}
	text("violation_message", e.ViolationMessage)
	return out
}

// short truncates a value of a request for a response.
func short(s string) string {
	const most = 64
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
