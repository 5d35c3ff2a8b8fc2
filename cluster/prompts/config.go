package prompts

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Config are the parameters that a version sets for requests, in the order of Members.
type Config []Setting

// Setting is one parameter. A request that has it too keeps its own value, unless the setting
// is enforced.
type Setting struct {
	Name     string
	Value    jsontext.Value
	Enforced bool
}

// Bounds of a config.
const (
	maxConfig      = 128 << 10 // bytes
	maxModelName   = 256
	maxStops       = 16
	maxTools       = 128
	maxMetadata    = 16
	maxMetaName    = 64
	maxMetaText    = 512
	maxWord        = 32
	maxTemperature = 2
	maxTopP        = 1
	maxTokens      = 1<<31 - 1
	configModel    = "model"
)

// checker checks the value of a member. It returns what the value must be, or an empty text.
type checker func(jsontext.Value) (must string)

// configMembers returns the members of a config with their checks, in order.
func configMembers() []struct {
	name  string
	check checker
} {
	return []struct {
		name  string
		check checker
	}{
		{configModel, textUpTo(maxModelName)},
		{"temperature", numberUpTo(maxTemperature)},
		{"top_p", numberUpTo(maxTopP)},
		{"max_tokens", tokenLimit},
		{"stop", stops},
		{"response_format", typed},
		{"tools", tools},
		{"tool_choice", toolChoice},
		{"reasoning_effort", word},
		{"metadata", metadata},
	}
}

// ConfigMembers returns the names of the members of a config, in order.
func ConfigMembers() []string {
	var out []string
	for _, m := range configMembers() {
		out = append(out, m.name)
	}
	return out
}

// Get returns a member.
func (c Config) Get(name string) (Setting, bool) {
	for _, s := range c {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// Model returns the model of the config; empty if it names none.
func (c Config) Model() (model string, enforced bool) {
	s, ok := c.Get(configModel)
	if !ok || json.Unmarshal(s.Value, &model) != nil {
		return "", false
	}
	return model, s.Enforced
}

// Object returns the config as one JSON object, without what is enforced; nil for no config.
func (c Config) Object() jsontext.Value {
	if len(c) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, s := range c {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, s.Name), ':'), s.Value...)
	}
	return append(out, '}')
}

// enforced returns the names of the enforced members, sorted.
func (c Config) enforced() []string {
	var out []string
	for _, s := range c {
		if s.Enforced {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// ParseConfig reads a config from a JSON object and the names of the members to enforce. An
// empty object is no config. The error is a *fault.Error of a field below param.
func ParseConfig(param string, object jsontext.Value, enforce []string) (Config, error) {
	if len(object) > maxConfig {
		return nil, fault.Field(param, "too_long", "%s is longer than %d bytes. Make its tools or its response_format shorter.", param, maxConfig)
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil || members == nil {
		return nil, fault.Field(param, "invalid_type", "%s must be an object.", param)
	}
	var out Config
	for _, m := range configMembers() {
		v, ok := members[m.name]
		if !ok {
			continue
		}
		delete(members, m.name)
		at := param + "." + m.name
		if must := m.check(v); must != "" {
			return nil, fault.Field(at, "invalid_value", "%s must be %s.", at, must)
		}
		if err := v.Compact(); err != nil {
			return nil, fault.Field(at, "invalid_value", "%s is not valid JSON.", at)
		}
		out = append(out, Setting{Name: m.name, Value: v, Enforced: slices.Contains(enforce, m.name)})
	}
	if unknown := slices.Sorted(maps.Keys(members)); len(unknown) > 0 {
		return nil, fault.Field(param, "unknown_field", "There is no field %s in %s. It may have %s.", fault.Quote(unknown[0]), param, strings.Join(ConfigMembers(), ", "))
	}
	for i, name := range enforce {
		if _, ok := out.Get(name); !ok {
			return nil, fault.Field(param+".enforce["+strconv.Itoa(i)+"]", "invalid_value", "%s.enforce names %s, which the config does not set. Set it there, or remove it from enforce.", param, fault.Quote(name))
		}
	}
	return out, nil
}

func textOf(v jsontext.Value) (text string, ok bool) {
	return text, v.Kind() == '"' && json.Unmarshal(v, &text) == nil
}

func textUpTo(most int) checker {
	return func(v jsontext.Value) string {
		if text, ok := textOf(v); !ok || text == "" || len(text) > most {
			return "a string of 1 to " + strconv.Itoa(most) + " bytes"
		}
		return ""
	}
}

func numberUpTo(most float64) checker {
	return func(v jsontext.Value) string {
		n, err := strconv.ParseFloat(string(v), 64)
		if v.Kind() != '0' || err != nil || n < 0 || n > most {
			return "a number from 0 to " + strconv.FormatFloat(most, 'g', -1, 64)
		}
		return ""
	}
}

func tokenLimit(v jsontext.Value) string {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if v.Kind() != '0' || err != nil || n < 1 || n > maxTokens {
		return "a whole number from 1 to " + strconv.Itoa(maxTokens)
	}
	return ""
}

func stops(v jsontext.Value) string {
	list := []string{""}
	valid := false
	if list[0], valid = textOf(v); !valid {
		valid = v.Kind() == '[' && json.Unmarshal(v, &list) == nil
	}
	if !valid || len(list) == 0 || len(list) > maxStops || slices.Contains(list, "") {
		return "a string, or a list of 1 to " + strconv.Itoa(maxStops) + " strings, that are not empty"
	}
	return ""
}

// typed checks for an object with a type.
func typed(v jsontext.Value) string {
	var object struct {
		Type string `json:"type"`
	}
	if v.Kind() != '{' || json.Unmarshal(v, &object) != nil || object.Type == "" {
		return "an object with a type"
	}
	return ""
}

func tools(v jsontext.Value) string {
	var list []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &list) != nil || len(list) == 0 || len(list) > maxTools ||
		slices.ContainsFunc(list, func(one jsontext.Value) bool { return typed(one) != "" }) {
		return "a list of 1 to " + strconv.Itoa(maxTools) + " objects with a type"
	}
	return ""
}

func toolChoice(v jsontext.Value) string {
	if word(v) != "" && typed(v) != "" {
		return `a word such as "auto", or an object with a type`
	}
	return ""
}

func word(v jsontext.Value) string {
	if text, ok := textOf(v); !ok || text == "" || len(text) > maxWord || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") != "" {
		return `a word such as "low"`
	}
	return ""
}

func metadata(v jsontext.Value) string {
	var object map[string]string
	valid := v.Kind() == '{' && json.Unmarshal(v, &object) == nil && len(object) <= maxMetadata
	for name, text := range object {
		valid = valid && len(name) <= maxMetaName && len(text) <= maxMetaText
	}
	if !valid {
		return "an object of at most " + strconv.Itoa(maxMetadata) + " strings, with names of at most " + strconv.Itoa(maxMetaName) + " bytes and texts of at most " + strconv.Itoa(maxMetaText)
	}
	return ""
}
