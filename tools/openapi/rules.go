package main

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rulesOf returns the validation rules of a field; never nil.
func rulesOf(f protoreflect.FieldDescriptor) *validate.FieldRules {
	if r, ok := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules); ok && r != nil {
		return r
	}
	return &validate.FieldRules{}
}

// mustBeGiven reports whether a request without the field is rejected. For a field without
// presence, rules also apply to its zero value.
func mustBeGiven(f protoreflect.FieldDescriptor) (bool, error) {
	r := rulesOf(f)
	switch {
	case r.GetRequired():
		return true, nil
	case f.HasPresence(), r.GetIgnore() != validate.Ignore_IGNORE_UNSPECIFIED:
		return false, nil
	case f.IsList():
		return r.GetRepeated().GetMinItems() > 0, nil
	case f.IsMap():
		return r.GetMap().GetMinPairs() > 0, nil
	}
	s := obj()
	if err := constrain(s, f, r); err != nil {
		return false, err
	}
	return refusesZero(s, f.Kind()), nil
}

// constrain adds the rules for one value to its schema.
func constrain(s *object, f protoreflect.FieldDescriptor, r *validate.FieldRules) error {
	if f.Kind() == protoreflect.StringKind {
		return constrainString(s, r.GetString())
	}
	constrainNumber(s, numberRules(r))
	if r.GetBool().HasConst() {
		s.set("const", r.GetBool().GetConst())
	}
	return nil // other kinds have no rules that a schema can express
}

// format returns the JSON Schema format of a string rule.
func format(r *validate.StringRules) string {
	switch {
	case r.GetEmail():
		return "email"
	case r.GetHostname():
		return "hostname"
	case r.GetIpv4():
		return "ipv4"
	case r.GetIpv6():
		return "ipv6"
	case r.GetUri():
		return "uri"
	case r.GetUriRef():
		return "uri-reference"
	case r.GetUuid():
		return "uuid"
	}
	return ""
}

func constrainString(s *object, r *validate.StringRules) error {
	if r == nil {
		return nil
	}
	least, most := max(r.GetMinLen(), r.GetLen()), max(r.GetMaxLen(), r.GetLen())
	if least > 0 || r.GetMinBytes() > 0 {
		s.set("minLength", max(least, min(r.GetMinBytes(), 1)))
	}
	if most == 0 || r.HasMaxBytes() && r.GetMaxBytes() < most {
		most = max(r.GetMaxBytes(), r.GetLenBytes()) // a character has at least one byte
	}
	if most > 0 {
		s.set("maxLength", most)
	}
	pattern := r.GetPattern()
	if pattern == "" {
		pattern = affixes(r)
	}
	if pattern != "" {
		if err := portable(pattern); err != nil {
			return err
		}
		s.set("pattern", pattern)
	}
	if name := format(r); name != "" {
		s.set("format", name)
	}
	if r.HasConst() {
		s.set("const", r.GetConst())
	}
	if len(r.GetIn()) > 0 {
		s.set("enum", list(r.GetIn()))
	}
	if len(r.GetNotIn()) > 0 {
		s.set("not", obj("enum", list(r.GetNotIn())))
	}
	return nil
}

// affixes returns a pattern equivalent to prefix, suffix and similar rules.
func affixes(r *validate.StringRules) string {
	switch {
	case r.HasPrefix() && r.HasSuffix():
		return "^" + regexp.QuoteMeta(r.GetPrefix()) + ".*" + regexp.QuoteMeta(r.GetSuffix()) + "$"
	case r.HasPrefix():
		return "^" + regexp.QuoteMeta(r.GetPrefix())
	case r.HasSuffix():
		return regexp.QuoteMeta(r.GetSuffix()) + "$"
	case r.HasContains():
		return regexp.QuoteMeta(r.GetContains())
	}
	return ""
}

// portable returns an error for a pattern that other engines would reject or interpret
// differently: patterns in a document are ECMAScript's.
func portable(pattern string) error {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	for _, no := range []string{"(?i", "(?s", "(?m", "(?U", "(?P<", "[[:", `\A`, `\z`, `\Q`, `\C`, `\p`, `\P`, `\x{`, `\a`} {
		if strings.Contains(pattern, no) {
			return fmt.Errorf("pattern %q has %s, which ECMAScript does not support; rewrite it", pattern, no)
		}
	}
	return nil
}

// numbers are the rules of all numeric kinds.
type numbers struct {
	above, least, below, most *float64
	in                        []any
	value                     *float64
}

func numberRules(r *validate.FieldRules) numbers {
	switch {
	case r.HasDouble():
		return readNumbers(r.GetDouble().ProtoReflect())
	case r.HasFloat():
		return readNumbers(r.GetFloat().ProtoReflect())
	case r.HasInt32():
		return readNumbers(r.GetInt32().ProtoReflect())
	case r.HasUint32():
		return readNumbers(r.GetUint32().ProtoReflect())
	}
	return numbers{}
}

// readNumbers reads the rules by name, because the names are the same for all kinds.
func readNumbers(m protoreflect.Message) numbers {
	var n numbers
	for _, row := range []struct {
		name protoreflect.Name
		to   **float64
	}{
		{"gt", &n.above},
		{"gte", &n.least},
		{"lt", &n.below},
		{"lte", &n.most},
		{"const", &n.value},
	} {
		if f := m.Descriptor().Fields().ByName(row.name); f != nil && m.Has(f) {
			v := float(m.Get(f))
			*row.to = &v
		}
	}
	if f := m.Descriptor().Fields().ByName("in"); f != nil {
		values := m.Get(f).List()
		for i := range values.Len() {
			n.in = append(n.in, float(values.Get(i)))
		}
	}
	return n
}

// float returns any number as JSON represents it.
func float(v protoreflect.Value) float64 {
	switch x := v.Interface().(type) {
	case float64:
		return x
	case float32:
		return float64(x)
	case int32:
		return float64(x)
	case uint32:
		return float64(x)
	}
	return math.NaN()
}

func constrainNumber(s *object, n numbers) {
	for _, row := range []struct {
		name, over string
		v          *float64
	}{
		{"exclusiveMinimum", "minimum", n.above},
		{"minimum", "", n.least},
		{"exclusiveMaximum", "maximum", n.below},
		{"maximum", "", n.most},
	} {
		if row.v == nil {
			continue
		}
		s.drop(row.over) // the default bound of the kind
		s.set(row.name, *row.v)
	}
	if n.value != nil {
		s.set("const", *n.value)
	}
	if len(n.in) > 0 {
		s.set("enum", n.in)
	}
}

// refusesZero reports whether the zero value of a kind is invalid for a schema.
func refusesZero(s *object, kind protoreflect.Kind) bool {
	if kind == protoreflect.StringKind {
		return refuses(s, "")
	}
	if kind == protoreflect.BoolKind {
		return s.get("const") == true
	}
	at := func(name string, otherwise float64) float64 {
		if v, ok := s.get(name).(float64); ok {
			return v
		}
		return otherwise
	}
	none := math.Inf(1)
	return at("minimum", -none) > 0 || at("exclusiveMinimum", -none) >= 0 || at("maximum", none) < 0 || at("exclusiveMaximum", none) <= 0 || refuses(s, 0.0)
}

// refuses reports whether a value violates the rules of all kinds, or those of strings.
func refuses(s *object, v any) bool {
	if c := s.get("const"); c != nil && c != v {
		return true
	}
	if enum, ok := s.get("enum").([]any); ok && !slices.Contains(enum, v) {
		return true
	}
	if not, ok := s.get("not").(*object); ok {
		if enum, ok := not.get("enum").([]any); ok && slices.Contains(enum, v) {
			return true
		}
	}
	text, ok := v.(string)
	if !ok {
		return false
	}
	least, _ := s.get("minLength").(uint64)
	pattern, _ := s.get("pattern").(string)
	matched, err := regexp.MatchString(pattern, text)
	return uint64(len(text)) < least || err != nil || !matched || s.get("format") != nil
}

func list(names []string) []any {
	out := make([]any, len(names))
	for i := range names {
		out[i] = names[i]
	}
	return out
}
