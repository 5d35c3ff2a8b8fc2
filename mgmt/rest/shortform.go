package rest

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// hasShortForm reports whether clients may send a number for a message. A number for the
// budget of a model is its max_budget.
func hasShortForm(m protoreflect.MessageDescriptor) bool { return m == modelBudget() }

func modelBudget() protoreflect.MessageDescriptor {
	return (*gatewayv1.ModelBudget)(nil).ProtoReflect().Descriptor()
}

// widen replaces the short form of messages by the whole form. The members have been
// checked against the message.
func widen(members map[string]jsontext.Value, m protoreflect.MessageDescriptor) error {
	for _, name := range field.SortedNames(members) {
		f := m.Fields().ByName(protoreflect.Name(name))
		if f == nil || f.Message() == nil || members[name].Kind() == 'n' {
			continue
		}
		wide, err := widenField(name, members[name], f)
		if err != nil {
			return err
		}
		members[name] = wide
	}
	return nil
}

// widenField is widen for one member.
func widenField(param string, v jsontext.Value, f protoreflect.FieldDescriptor) (jsontext.Value, error) {
	switch {
	case f.IsMap() && f.MapValue().Message() != nil:
		entries, err := ObjectAt(param, v)
		if err != nil {
			return nil, err
		}
		for name, one := range entries {
			if entries[name], err = widenOne(param, one, f.MapValue().Message()); err != nil {
				return nil, err
			}
		}
		return json.Marshal(entries, json.Deterministic(true))
	case f.IsMap():
		return v, nil
	case f.IsList():
		var items []jsontext.Value
		if err := json.Unmarshal(v, &items); err != nil {
			return nil, field.WrongType(param, "a list")
		}
		for i := range items {
			wide, err := widenOne(param+"["+strconv.Itoa(i)+"]", items[i], f.Message())
			if err != nil {
				return nil, err
			}
			items[i] = wide
		}
		return json.Marshal(items)
	}
	return widenOne(param, v, f.Message())
}

// widenOne is widen for one message.
func widenOne(param string, v jsontext.Value, m protoreflect.MessageDescriptor) (jsontext.Value, error) {
	if hasShortForm(m) && v.Kind() == '0' {
		return json.Marshal(map[string]jsontext.Value{"max_budget": v})
	}
	if field.IsFree(m) {
		return v, nil
	}
	members, err := ObjectAt(param, v)
	if err != nil {
		return nil, err
	}
	if err := widen(members, m); err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}
