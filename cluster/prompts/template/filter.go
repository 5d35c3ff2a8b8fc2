package template

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// filter is the function after a bar. It gets the value, absent if it was not
// supplied, and least to most arguments.
type filter struct {
	name        string
	least, most int
	apply       func(v any, args []any) any
}

// filters are all filters, in alphabetical order.
func filters() []filter {
	return []filter{
		{"capitalize", 0, 0, func(v any, _ []any) any { return capitalized(textOf(v)) }},
		{"default", 1, 2, withDefault},
		{"first", 0, 0, func(v any, _ []any) any { return end(v, 0) }},
		{"float", 0, 0, func(v any, _ []any) any { return toNumber(v) }},
		{"int", 0, 0, func(v any, _ []any) any { return math.Trunc(toNumber(v)) }},
		{"join", 0, 1, joined},
		{"last", 0, 0, func(v any, _ []any) any { return end(v, -1) }},
		{"length", 0, 0, func(v any, _ []any) any { return length(v) }},
		{"lower", 0, 0, func(v any, _ []any) any { return strings.ToLower(textOf(v)) }},
		{"replace", 2, 2, func(v any, a []any) any { return strings.ReplaceAll(textOf(v), textOf(a[0]), textOf(a[1])) }},
		{"round", 0, 1, rounded},
		{"title", 0, 0, func(v any, _ []any) any { return titled(textOf(v)) }},
		{"tojson", 0, 0, func(v any, _ []any) any { return toJSON(v) }},
		{"trim", 0, 0, func(v any, _ []any) any { return strings.TrimSpace(textOf(v)) }},
		{"truncate", 1, 1, truncated},
		{"upper", 0, 0, func(v any, _ []any) any { return strings.ToUpper(textOf(v)) }},
	}
}

func filterOf(name string) (filter, bool) {
	for _, f := range filters() {
		if f.name == name {
			return f, true
		}
	}
	return filter{}, false
}

func filterNames() string {
	var names []string
	for _, f := range filters() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// withDefault returns the first argument if there is no value, or, if the second
// argument is true, if the value is empty.
func withDefault(v any, args []any) any {
	if v == any(absent{}) || len(args) == 2 && truth(args[1]) && !truth(v) {
		return args[0]
	}
	return v
}

func end(v any, at float64) any {
	if s, ok := v.(string); ok && s != "" {
		if at == 0 {
			_, n := utf8.DecodeRuneInString(s)
			return s[:n]
		}
		_, n := utf8.DecodeLastRuneInString(s)
		return s[len(s)-n:]
	}
	return memberOf(v, at)
}

func length(v any) any {
	switch v := v.(type) {
	case string:
		return float64(utf8.RuneCountInString(v))
	case []any:
		return float64(len(v))
	case map[string]any:
		return float64(len(v))
	}
	return float64(0)
}

func joined(v any, args []any) any {
	list, ok := v.([]any)
	if !ok {
		return textOf(v)
	}
	between := ""
	if len(args) == 1 {
		between = textOf(args[0])
	}
	var out []byte
	for i, e := range list {
		if i > 0 {
			out = append(out, between...)
		}
		if out = appendText(out, e); len(out) > MaxOutput {
			break // the rendering is rejected for its size
		}
	}
	return string(out)
}

func toNumber(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
	case string:
		if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
			return n
		}
	}
	return 0
}

func rounded(v any, args []any) any {
	places := 0.0
	if len(args) == 1 {
		places = max(0, min(15, toNumber(args[0])))
	}
	scale := math.Pow(10, math.Trunc(places))
	return math.Round(toNumber(v)*scale) / scale
}

func capitalized(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + strings.ToLower(s[n:])
}

func titled(s string) string {
	start := true
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' {
			start = true
			return r
		}
		if start {
			start = false
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

// truncated cuts text to a number of characters, three of which are dots.
func truncated(v any, args []any) any {
	s, most := textOf(v), int(max(0, min(MaxOutput, toNumber(args[0]))))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	const points = "..."
	keep := max(0, most-len(points))
	at := 0
	for range keep {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return s[:at] + points[:min(most, len(points))]
}

func toJSON(v any) any {
	if v == any(absent{}) {
		v = nil
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "null"
	}
	return string(text)
}
