package main

import (
	"fmt"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// side is the direction of a message. A request may omit members, and has no undescribed ones;
// a response has all of its members.
type side uint8

const (
	request side = iota
	response
)

// Names of fields with the same meaning everywhere.
const (
	fieldClear    = "clear"
	fieldRevision = "revision"
	fieldExpected = "if_revision"
)

// schemas generates the components of messages.
type schemas struct {
	defs     *object
	kept     []any                          // fields that an update does not clear: message.field
	answered map[protoreflect.FullName]bool // messages in responses
}

func newSchemas(defs *object, kept []any, calls []call) *schemas {
	s := &schemas{defs: defs, kept: kept, answered: map[protoreflect.FullName]bool{}}
	for _, c := range calls {
		s.mark(c.method.Output())
	}
	return s
}

// mark records a message of a response and its nested messages.
func (s *schemas) mark(m protoreflect.MessageDescriptor) {
	if s.answered[m.FullName()] {
		return
	}
	s.answered[m.FullName()] = true
	for i := range m.Fields().Len() {
		if inner := m.Fields().Get(i).Message(); inner != nil {
			s.mark(inner)
		}
	}
}

// name returns the name of a message's component. A message in both directions has two
// components.
func (s *schemas) name(m protoreflect.MessageDescriptor, way side) string {
	name := strings.ReplaceAll(strings.TrimPrefix(string(m.FullName()), string(m.ParentFile().Package())+"."), ".", "_")
	if way == request && s.answered[m.FullName()] {
		return name + "Input"
	}
	return name
}

// ref generates a message's component, unless it exists, and refers to it.
func (s *schemas) ref(m protoreflect.MessageDescriptor, way side) (*object, error) {
	name := s.name(m, way)
	if s.defs.get(name) == nil {
		s.defs.set(name, obj()) // a message may contain itself
		made, err := s.message(m, way, nil)
		if err != nil {
			return nil, err
		}
		s.defs.set(name, made)
	}
	return obj("$ref", "#/components/schemas/"+name), nil
}

// without refers to the component of a request without the fields in its path.
func (s *schemas) without(m protoreflect.MessageDescriptor, params []string) (*object, error) {
	if len(params) == 0 {
		return s.ref(m, request)
	}
	var words []string
	for word := range strings.SplitSeq(strings.Join(params, "_"), "_") {
		words = append(words, capital(word))
	}
	name := strings.TrimSuffix(s.name(m, request), "Request") + "By" + strings.Join(words, "")
	if s.defs.get(name) == nil {
		made, err := s.message(m, request, params)
		if err != nil {
			return nil, err
		}
		s.defs.set(name, made)
	}
	return obj("$ref", "#/components/schemas/"+name), nil
}

// message generates an object with a message's fields, except those with the given names.
func (s *schemas) message(m protoreflect.MessageDescriptor, way side, except []string) (*object, error) {
	out := obj("type", "object", "description", described(about(m), messageRules(m)))
	properties, required := obj(), []string{}
	clears := way == request && m.Fields().ByName(fieldClear) != nil
	if clears {
		out.set("description", described(about(m), "A member that is not given stays as it is. One that is null, or an empty list or object, is cleared."))
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		name := string(f.Name())
		if slices.Contains(except, name) {
			continue
		}
		one, err := s.field(f, way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.FullName(), err)
		}
		must, err := isRequired(f, way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.FullName(), err)
		}
		if must {
			required = append(required, name)
		}
		stays := must || clears && s.keeps(f, "")
		if way == request && !stays || way == response && f.HasPresence() {
			one = nullable(one)
		}
		if clears && !stays {
			one.drop("minItems")
			one.drop("minProperties")
		}
		if clears && name == fieldClear {
			if one, err = s.clearable(one, m); err != nil {
				return nil, err
			}
		}
		if text := described(comment(f), fieldRules(f)); text != "" {
			one.set("description", text)
		}
		properties.set(name, one)
	}
	out.set("properties", properties)
	if len(required) > 0 {
		out.set("required", required)
	}
	if way == request {
		out.set("additionalProperties", false)
	}
	return out, nil
}

// isRequired reports whether an object without the field is invalid. Responses omit only
// scalars with presence that are not set.
func isRequired(f protoreflect.FieldDescriptor, way side) (bool, error) {
	if way == request {
		return mustBeGiven(f)
	}
	return f.ContainingOneof() == nil, nil
}

// keeps reports whether an update cannot clear a field. at is the path of a nested message,
// such as gateway_params.
func (s *schemas) keeps(f protoreflect.FieldDescriptor, at string) bool {
	return at == "" && f.Kind() == protoreflect.BoolKind || slices.Contains(s.kept, any(string(f.Parent().Name())+"."+string(f.Name())))
}

// clearable lists the names that the field clear accepts.
func (s *schemas) clearable(one *object, m protoreflect.MessageDescriptor) (*object, error) {
	names, err := s.clearNames(m, "")
	if err != nil {
		return nil, err
	}
	return one.set("items", obj("type", "string", "enum", names)), nil
}

// clearNames returns the names of a message's optional fields, and of nested ones, such as
// gateway_params.rpm.
func (s *schemas) clearNames(m protoreflect.MessageDescriptor, at string) ([]any, error) {
	var names []any
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		must, err := mustBeGiven(f)
		if err != nil {
			return nil, err
		}
		if name := string(f.Name()); must || name == fieldClear || name == fieldExpected {
			continue
		}
		name := at + string(f.Name())
		if !s.keeps(f, at) {
			names = append(names, name)
		}
		if inner := f.Message(); inner != nil && at == "" && !f.IsMap() && !f.IsList() && wellKnown(inner.FullName()) == nil {
			within, err := s.clearNames(inner, name+".")
			if err != nil {
				return nil, err
			}
			names = append(names, within...)
		}
	}
	return names, nil
}

// field generates the schema of a field's value.
func (s *schemas) field(f protoreflect.FieldDescriptor, way side) (*object, error) {
	rules := rulesOf(f)
	switch {
	case f.IsMap():
		return s.mapping(f, rules.GetMap(), way)
	case f.IsList():
		return s.sequence(f, rules, way)
	}
	one, err := s.value(f, rules, way)
	if err != nil || way == response {
		return one, err
	}
	if rules.GetRequired() && f.Kind() == protoreflect.StringKind && one.get("minLength") == nil {
		one.set("minLength", uint64(1))
	}
	if rules.GetIgnore() == validate.Ignore_IGNORE_IF_ZERO_VALUE && f.Kind() == protoreflect.StringKind && refusesZero(one, f.Kind()) {
		one = orEmpty(one)
	}
	return one, nil
}

// orEmpty returns a schema that also allows the empty string, for a field that is not given.
func orEmpty(one *object) *object {
	out, given := obj("type", "string"), one.copyOf()
	given.drop("type")
	if examples := given.get("examples"); examples != nil {
		given.drop("examples")
		out.set("examples", examples)
	}
	return out.set("anyOf", []any{given, obj("const", "")})
}

func (s *schemas) mapping(f protoreflect.FieldDescriptor, r *validate.MapRules, way side) (*object, error) {
	out := obj("type", "object")
	value, err := s.value(f.MapValue(), notNil(r.GetValues()), way)
	if err != nil {
		return nil, err
	}
	if way == request {
		bound(out, "Properties", r.GetMinPairs(), r.GetMaxPairs())
		names := obj()
		if err := constrain(names, f.MapKey(), notNil(r.GetKeys())); err != nil {
			return nil, err
		}
		if len(names.names) > 0 {
			out.set("propertyNames", names)
		}
	}
	return out.set("additionalProperties", value), nil
}

func (s *schemas) sequence(f protoreflect.FieldDescriptor, rules *validate.FieldRules, way side) (*object, error) {
	r := rules.GetRepeated()
	out := obj("type", "array")
	items, err := s.value(f, notNil(r.GetItems()), way)
	if err != nil {
		return nil, err
	}
	out.set("items", items)
	if way == request {
		least := r.GetMinItems()
		if rules.GetRequired() {
			least = max(least, 1)
		}
		bound(out, "Items", least, r.GetMaxItems())
		if r.GetUnique() {
			out.set("uniqueItems", true)
		}
	}
	return out, nil
}

// bound limits a number of items. Without rules there is no limit.
func bound(s *object, what string, least, most uint64) {
	if least > 0 {
		s.set("min"+what, least)
	}
	if most > 0 {
		s.set("max"+what, most)
	}
}

func notNil(r *validate.FieldRules) *validate.FieldRules {
	if r == nil {
		return &validate.FieldRules{}
	}
	return r
}

// value generates the schema of one value, in the form of protojson.
func (s *schemas) value(f protoreflect.FieldDescriptor, rules *validate.FieldRules, way side) (*object, error) {
	if m := f.Message(); m != nil {
		if known := wellKnown(m.FullName()); known != nil {
			return known, nil
		}
		return s.within(m, way)
	}
	out, err := scalar(f)
	if err != nil || way == response {
		return out, err
	}
	if err := constrain(out, f, rules); err != nil {
		return nil, err
	}
	if given := givenExample(rules); given != nil {
		out.set("examples", []any{given})
	}
	return out, nil
}

// within refers to a message's component, and in a request also to its short form.
func (s *schemas) within(m protoreflect.MessageDescriptor, way side) (*object, error) {
	whole, err := s.ref(m, way)
	alone := short(m)
	if err != nil || alone == nil || way == response {
		return whole, err
	}
	value, err := s.field(alone, way)
	return obj("anyOf", []any{whole, value}), err
}

// about returns a message's comment without its name.
func about(m protoreflect.MessageDescriptor) string {
	text := comment(m)
	rest, ok := strings.CutPrefix(text, string(m.Name())+" ")
	if !ok {
		return text
	}
	for _, verb := range []string{"is ", "are ", "has ", "says ", "carries ", "describes "} {
		if what, ok := strings.CutPrefix(rest, verb); ok {
			return capital(what)
		}
	}
	return capital(rest)
}

// described joins the comment and the texts of the rules.
func described(text string, more ...string) string {
	for _, m := range more {
		if m != "" {
			text = strings.TrimSpace(text + " " + m)
		}
	}
	return text
}

// fieldRules returns the messages of rules that a schema cannot express.
func fieldRules(f protoreflect.FieldDescriptor) string {
	var all []string
	for _, r := range rulesOf(f).GetCel() {
		all = append(all, r.GetMessage())
	}
	return strings.Join(all, " ")
}

func messageRules(m protoreflect.MessageDescriptor) string {
	r, _ := proto.GetExtension(m.Options(), validate.E_Message).(*validate.MessageRules)
	var all []string
	for _, c := range r.GetCel() {
		all = append(all, c.GetMessage())
	}
	return strings.Join(all, " ")
}
