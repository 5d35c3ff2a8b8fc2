package cli

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// field is a field of a request that has a flag.
type field struct {
	flag string
	path []protoreflect.Name // one name, or two for a field of a message within the message
	desc protoreflect.FieldDescriptor
}

// fieldsOf returns the fields of a request's message. Those of a message within it
// have flags of their own, by their names where no other has them; a message that
// stands in a list or a map is one value.
func fieldsOf(m protoreflect.MessageDescriptor) []field {
	var out []field
	taken := map[string]bool{}
	for i := range m.Fields().Len() {
		if f := m.Fields().Get(i); !nested(f) {
			taken[kebab(f.Name())] = true
		}
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if !nested(f) {
			out = append(out, field{kebab(f.Name()), []protoreflect.Name{f.Name()}, f})
			continue
		}
		for j := range f.Message().Fields().Len() {
			inner := f.Message().Fields().Get(j)
			flag := kebab(inner.Name())
			if taken[flag] {
				flag = kebab(f.Name()) + "." + flag
			}
			taken[flag] = true
			out = append(out, field{flag, []protoreflect.Name{f.Name(), inner.Name()}, inner})
		}
	}
	return out
}

// nested reports whether a field's message is taken apart into flags.
func nested(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap() && !strings.HasPrefix(string(f.Message().FullName()), "google.protobuf.") && !anyJSON(f)
}

// anyJSON reports whether a field takes any JSON value.
func anyJSON(f protoreflect.FieldDescriptor) bool {
	name := f.Message().FullName()
	return name == "google.protobuf.Value" || name == "gateway.v1.Json"
}

// kebab is the flag of a field. The names of flags that every command has are not
// theirs to have.
func kebab(name protoreflect.Name) string {
	switch flag := strings.ReplaceAll(string(name), "_", "-"); flag {
	case "key", "url", "output", "body", "help":
		return "request-" + flag
	default:
		return flag
	}
}

// takes says in a word what a flag takes.
func (f field) takes() string {
	switch {
	case f.desc.IsMap() && f.desc.MapValue().Kind() == protoreflect.MessageKind:
		return "name=JSON"
	case f.desc.IsMap():
		return "name=value"
	case f.desc.IsList() && f.desc.Kind() == protoreflect.MessageKind, f.desc.Kind() == protoreflect.MessageKind:
		return "JSON"
	case f.desc.IsList():
		return "list"
	case f.desc.Kind() == protoreflect.BoolKind:
		return "bool"
	case f.desc.Kind() == protoreflect.StringKind:
		return "text"
	}
	return "number"
}

// value is a flag that collects what it is given, as JSON.
type value struct {
	field field
	read  func(text string) (string, error) // the value that @file, - and os.environ/NAME mean
	texts []string
}

func (v *value) String() string { return strings.Join(v.texts, ",") }
func (v *value) Type() string   { return v.field.takes() }

// Set takes one more value, or for a field that has one only, another.
func (v *value) Set(text string) error {
	if !v.field.desc.IsList() && !v.field.desc.IsMap() {
		v.texts = nil
	}
	v.texts = append(v.texts, text)
	return nil
}

// IsBoolFlag has --flag without a value mean true.
func (v *value) IsBoolFlag() bool { return v.field.desc.Kind() == protoreflect.BoolKind }

// json is the field's value in a request.
func (v *value) json() (any, error) {
	f := v.field.desc
	switch {
	case f.IsMap():
		out := map[string]any{}
		for _, text := range v.texts {
			name, rest, ok := strings.Cut(text, "=")
			if !ok {
				return nil, fmt.Errorf("--%s takes name=value, not %q", v.field.flag, text)
			}
			one, err := v.one(rest, f.MapValue())
			if err != nil {
				return nil, err
			}
			out[name] = one
		}
		return out, nil
	case f.IsList() && f.Kind() == protoreflect.MessageKind:
		return v.messages()
	case f.IsList():
		out := []any{}
		for _, text := range v.texts {
			for part := range strings.SplitSeq(text, ",") {
				one, err := v.one(part, f)
				if err != nil {
					return nil, err
				}
				out = append(out, one)
			}
		}
		return out, nil
	}
	return v.one(v.texts[0], f)
}

// messages is a list of messages: each flag is one, or a list of them.
func (v *value) messages() (any, error) {
	out := []any{}
	for _, text := range v.texts {
		one, err := v.one(text, v.field.desc)
		if err != nil {
			return nil, err
		}
		if list, ok := one.([]any); ok {
			out = append(out, list...)
			continue
		}
		out = append(out, one)
	}
	return out, nil
}
