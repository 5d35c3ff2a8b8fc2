package guardrails

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of an engine's patterns, in bytes for all of them, and in instructions of the compiled program
// for one and for all. The time that a pattern takes for a text grows with its instructions.
const (
	maxPatterns        = 64 << 10
	maxInstructions    = 5_000
	maxAllInstructions = 50_000
)

// Bounds of banned keywords, in bytes: of one, and of all of an engine together.
const (
	maxKeyword  = 200
	maxKeywords = 256 << 10
)

// maxEntities bounds the entities of an engine.
const maxEntities = 200

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
		errs = append(errs, e.checkSetting(at, kind, given)...)
	}
	errs = append(errs, e.checkService(at, kind)...)
	errs = append(errs, e.checkKeywords(at)...)
	errs = append(errs, e.checkPatterns(at)...)
	for i, r := range e.Recognizers {
		if r.Score != nil && *r.Score > 1000 {
			wrong(fmt.Sprintf("config.recognizers[%d].score", i), "score must be between 0 and 1.")
		}
		if !entityName(r.Entity) {
			wrong(fmt.Sprintf("config.recognizers[%d].entity", i), "An entity is a capital letter, then capital letters, digits and underscores, 64 at most.")
		}
	}
	if len(e.Entities) > maxEntities {
		wrong("config.entities", "An engine can have at most %d entities. Leave entities out to look for all.", maxEntities)
	}
	if e.Threshold != nil && *e.Threshold > 1000 {
		wrong("config.score_threshold", "score_threshold must be between 0 and 1.")
	}
	if e.Reversible && e.Action != "" && e.Action != anonymize {
		wrong("config.reversible", "reversible needs the action anonymize: %s replaces no value that could be restored.", e.Action)
	}
	if e.Name == "tool_permission" && len(e.AllowedTools)+len(e.BlockedTools) == 0 {
		wrong("config", "A tool_permission without allowed_tools and blocked_tools permits every tool. Give some.")
	}
	if e.Name == contentFilter && len(e.BannedKeywords)+len(e.BannedPatterns) == 0 {
		wrong("config", "A content_filter without banned_keywords and banned_patterns finds nothing. Give some.")
	}
	return errs
}

// checkSetting checks that an engine of the kind has the setting, and that it can have its values.
func (e *Engine) checkSetting(at string, kind Kind, given givenSetting) (errs []error) {
	param := at + "config." + given.name
	s, ok := kind.setting(given.name)
	if !ok {
		return []error{fault.Field(param, "invalid_value", "The engine %s has no setting %s; GET /guardrail/engines shows those that it has.", kind.Name, given.name)}
	}
	for i, v := range given.values {
		if s.Values == nil || slices.Contains(s.Values, v) || s.Open && e.hasRecognizer(v) {
			continue
		}
		param := param
		if s.Type == "array" {
			param += fmt.Sprintf("[%d]", i)
		}
		if v == "NRP" && given.name == "entities" {
			errs = append(errs, fault.Field(param, "invalid_value", "NRP (nationality, religious or political group) cannot be found by this engine. Leave it out."))
			continue
		}
		errs = append(errs, fault.Field(param, "invalid_value", "%q is none of the values that %s knows: %s.", short(v), given.name, strings.Join(s.Values, ", ")))
	}
	return errs
}

func (e *Engine) hasRecognizer(entity string) bool {
	return slices.ContainsFunc(e.Recognizers, func(r Recognizer) bool { return r.Entity == entity })
}

// entityName reports whether a name can be that of an entity.
func entityName(name string) bool {
	if name == "" || len(name) > 64 || name[0] < 'A' || name[0] > 'Z' {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// checkKeywords checks the words to look for.
func (e *Engine) checkKeywords(at string) (errs []error) {
	size := 0
	for i, word := range e.BannedKeywords {
		size += len(word)
		param := fmt.Sprintf("%sconfig.banned_keywords[%d]", at, i)
		switch {
		case strings.TrimSpace(word) == "":
			errs = append(errs, fault.Field(param, "invalid_value", "A keyword needs a character that is no space. Leave this one out."))
		case len(word) > maxKeyword:
			errs = append(errs, fault.Field(param, "invalid_value", "A keyword can have %d bytes, and this one has %d. Make it shorter.", maxKeyword, len(word)))
		}
	}
	if size > maxKeywords {
		return []error{fault.Field(at+"config.banned_keywords", "invalid_value", "The keywords have %d bytes together, and %d are allowed. Use several guardrails.", size, maxKeywords)}
	}
	return errs
}

// checkPatterns checks the regular expressions of an engine.
func (e *Engine) checkPatterns(at string) (errs []error) {
	type one struct{ param, pattern string }
	var all []one
	list, size := "config.banned_patterns", 0
	for i, p := range e.BannedPatterns {
		all = append(all, one{fmt.Sprintf("%s[%d]", list, i), p})
		size += len(p)
	}
	if len(e.Recognizers) > 0 {
		list = "config.recognizers"
	}
	for i, r := range e.Recognizers {
		all = append(all, one{fmt.Sprintf("%s[%d].pattern", list, i), r.Pattern})
		size += len(r.Pattern)
	}
	if size > maxPatterns { // before anything is compiled
		return []error{fault.Field(at+list, "invalid_value", "The patterns have more than %d bytes together. Make them fewer or shorter.", maxPatterns)}
	}
	instructions := 0
	for _, p := range all {
		n, err := program(p.pattern)
		instructions += n
		if err != nil {
			errs = append(errs, fault.Field(at+p.param, "invalid_value", "This pattern cannot be used: %s.", err))
		}
	}
	if instructions > maxAllInstructions {
		errs = append(errs, fault.Field(at+list, "invalid_value", "The patterns compile to more than %d instructions together. Make them fewer, or their repetitions smaller.", maxAllInstructions))
	}
	return errs
}

// program returns how many instructions a pattern has when it is compiled, and why it cannot be used.
// An error does not repeat the pattern.
func program(pattern string) (instructions int, err error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	if err != nil {
		bad, ok := errors.AsType[*syntax.Error](err)
		switch {
		case ok && (bad.Code == syntax.ErrInvalidPerlOp || bad.Code == syntax.ErrInvalidEscape || strings.HasPrefix(bad.Expr, "(?<=") || strings.HasPrefix(bad.Expr, "(?<!")):
			return 0, fmt.Errorf("it is no regular expression in RE2 syntax (%s), which has neither look-around nor back references; write it without them", bad.Code)
		case ok && bad.Code == syntax.ErrInvalidRepeatSize:
			return 0, errors.New("it repeats something more than 1000 times, also when repetitions within others are multiplied")
		case ok:
			return 0, fmt.Errorf("it is no regular expression in RE2 syntax: %s", bad.Code)
		}
		return 0, errors.New("it is no regular expression in RE2 syntax")
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, errors.New("it is too large")
	}
	instructions = len(compiled.Inst)
	if instructions > maxInstructions {
		return instructions, fmt.Errorf("it compiles to %d instructions, and %d are allowed; make its repetitions smaller", instructions, maxInstructions)
	}
	if matches, err := regexp.MatchString(pattern, ""); err == nil && matches {
		return instructions, errors.New("it matches the empty text, so it would match everywhere; let it need at least one character")
	}
	return instructions, nil
}

// givenSetting is a setting that an engine has.
type givenSetting struct {
	name   string
	values []string // a list's elements, or the one text; nil for what is no text
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
	other := func(name string, has bool) {
		if has {
			out = append(out, givenSetting{name: name})
		}
	}
	text("action", e.Action)
	list("allow_list", e.AllowList)
	list("allowed_tools", e.AllowedTools)
	text("api_base", e.APIBase)
	other("api_key", len(e.SealedKey) > 0)
	list("banned_keywords", e.BannedKeywords)
	list("banned_patterns", e.BannedPatterns)
	list("blocked_tools", e.BlockedTools)
	list("detectors", e.Detectors)
	list("entities", e.Entities)
	text("language", e.Language)
	text("match", e.Match)
	other("max_parallel_requests", e.MaxParallel > 0)
	text("on_error", e.OnError)
	text("on_violation", e.OnViolation)
	other("recognizers", len(e.Recognizers) > 0)
	list("regions", e.Regions)
	other("reversible", e.Reversible)
	other("score_threshold", e.Threshold != nil)
	other("signing_secret", len(e.SealedSecret) > 0)
	other("timeout", e.TimeoutMillis > 0)
	text("unscannable", e.Unscannable)
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
