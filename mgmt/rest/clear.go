package rest

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// gatherClears adds the names of fields that a request clears to the field clear of its
// message: members that are null, empty lists and empty objects. For protobuf these are
// the same as missing ones. The members have been checked against the message.
func gatherClears(members map[string]jsontext.Value, m protoreflect.MessageDescriptor) error {
	clears := field.ClearList(m) != nil
	var names []string
	if clears {
		if v, ok := members[field.Clear]; ok && v.Kind() != 'n' {
			if err := json.Unmarshal(v, &names); err != nil {
				return field.WrongType(field.Clear, "a list of strings")
			}
		}
	}
	c := clearing{names: names, on: clears}
	if err := c.members("", members, m); err != nil {
		return err
	}
	if len(c.names) == 0 {
		return nil
	}
	text, err := json.Marshal(c.names)
	members[field.Clear] = text
	return err
}

// clearing collects what one message clears.
type clearing struct {
	names []string
	on    bool // whether the message has the field clear
}

func (c *clearing) members(at string, members map[string]jsontext.Value, m protoreflect.MessageDescriptor) error {
	for _, name := range field.SortedNames(members) {
		f, v := m.Fields().ByName(protoreflect.Name(name)), members[name]
		switch {
		case f == nil:
		case at == "" && (name == field.Clear || name == field.IfRevision):
		case c.on && isNothing(v, f):
			c.names = append(c.names, at+name)
			delete(members, name)
		case f.Message() == nil || f.IsMap() || field.IsFree(f.Message()) || v.Kind() == 'n':
		default:
			next, err := c.within(at+name, v, f)
			if err != nil {
				return err
			}
			members[name] = next
		}
	}
	return nil
}

// isNothing reports whether a member clears its field.
func isNothing(v jsontext.Value, f protoreflect.FieldDescriptor) bool {
	var name protoreflect.FullName
	if f.Message() != nil && !f.IsList() && !f.IsMap() {
		name = f.Message().FullName()
	}
	if v.Kind() == 'n' {
		return name != "google.protobuf.Value"
	}
	if v.Kind() == '[' {
		var items []jsontext.Value
		return (f.IsList() || name == "google.protobuf.ListValue") && json.Unmarshal(v, &items) == nil && len(items) == 0
	}
	if v.Kind() == '{' {
		entries, err := ObjectAt("", v)
		return (f.IsMap() || name == "google.protobuf.Struct") && err == nil && len(entries) == 0
	}
	return false
}

// within collects from the messages of a field. A message with its own field clear, and a
// message in a list, collects for itself.
func (c *clearing) within(at string, v jsontext.Value, f protoreflect.FieldDescriptor) (jsontext.Value, error) {
	if f.IsList() {
		var items []jsontext.Value
		if err := json.Unmarshal(v, &items); err != nil {
			return nil, field.WrongType(at, "a list")
		}
		for i := range items {
			entry, err := ObjectAt(at+"["+strconv.Itoa(i)+"]", items[i])
			if err != nil {
				return nil, err
			}
			if err := gatherClears(entry, f.Message()); err != nil {
				return nil, err
			}
			if items[i], err = json.Marshal(entry, json.Deterministic(true)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	}
	entry, err := ObjectAt(at, v)
	if err != nil {
		return nil, err
	}
	if !c.on || field.ClearList(f.Message()) != nil {
		err = gatherClears(entry, f.Message())
	} else {
		err = c.members(at+".", entry, f.Message())
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(entry, json.Deterministic(true))
}

// hasShortForm reports whether clients may send a number for a message. A number for the
// budget of a model is its max_budget.
func hasShortForm(m protoreflect.MessageDescriptor) bool { return m == modelBudget() }

func modelBudget() protoreflect.MessageDescriptor {
	return (*gatewayv1.ModelBudget)(nil).ProtoReflect().Descriptor()
}

// widen replaces the short form of messages, and values of ordered JSON, by the whole form. The members have been
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
	if field.IsJSON(m) {
		return json.Marshal(map[string]string{orderedText: string(v)})
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
