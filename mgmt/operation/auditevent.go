package operation

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Audit adds the call to the events that the transaction of its operation recorded. If
// these do not record all that the operation does, it adds one of the operation. A
// transaction that changes nothing has no event.
func (c *Call) Audit(tx *record.Txn, response proto.Message) {
	if tx.Empty() || c.Operation == nil {
		return
	}
	if !tx.Recorded() || !c.Operation.TypedEvents {
		tx.Record(c.changed(response))
	}
	tx.By(c.By(c.Operation.Name, c.Operation.Action, fieldsOf(c.Request)))
}

// By returns the call in the form that events have.
func (c *Call) By(operation, action string, fields []string) event.Request {
	out := event.Request{Operation: operation, Action: action, Actor: c.Principal.Actor(), Fields: fields}
	if !c.Principal.Master { // the master key is in the configuration
		out.ActorKey = c.Principal.Hash.String()
	}
	return out
}

// changed returns the event of an operation that changed things of its service: those
// that the request or the response names.
func (c *Call) changed(response proto.Message) event.Event {
	of := c.Operation.Service
	var ids []string
	if !of.IDsInResponsesOnly {
		ids = idsIn(c.Request, of.IDFields, nil)
	}
	ids = idsIn(response, of.IDFields, ids)
	e := event.ManagementChanged(of.Resource, ids)
	e.Organization = id.Organization(only(idsIn(response, []string{"organization_id", "org"}, nil)))
	e.Team = id.Team(only(idsIn(response, []string{"team_id"}, nil)))
	switch of.Resource {
	case event.ResourceKey:
		for i, text := range ids {
			if h, ok := id.ParseKeyHash(text); ok {
				ids[i] = h.String()
			}
		}
		if h, ok := id.ParseKeyHash(only(ids)); ok {
			e.Key = &h
		}
	case event.ResourceOrganization:
		e.Organization = id.Organization(only(ids))
	case event.ResourceTeam:
		e.Team = id.Team(only(ids))
	case event.ResourceCustomer:
		e.Customer = id.Customer(only(ids))
	}
	return e
}

// only returns the one entry of a list; empty if there are more or none.
func only(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
}

// idsIn adds to a list the values of the named fields of a message and of the records in it.
func idsIn(m proto.Message, names, to []string) []string {
	add := func(text string) {
		if text != "" && !slices.Contains(to, text) {
			to = append(to, text)
		}
	}
	eachMessage(m.ProtoReflect(), 2, func(m proto.Message) {
		r := m.ProtoReflect()
		for _, name := range names {
			f := r.Descriptor().Fields().ByName(protoreflect.Name(name))
			switch {
			case f == nil || f.IsMap():
			case f.IsList() && f.Kind() == protoreflect.StringKind:
				for i := range r.Get(f).List().Len() {
					add(r.Get(f).List().Get(i).String())
				}
			case f.Kind() == protoreflect.StringKind:
				add(r.Get(f).String())
			case f.Message() != nil && f.Message().FullName() == "google.protobuf.StringValue" && r.Has(f):
				add(r.Get(f).Message().Get(f.Message().Fields().ByName("value")).String())
			}
		}
	})
	return to
}

// eachMessage calls fn for a message and for those in its fields that are of this API,
// so many levels deep.
func eachMessage(m protoreflect.Message, depth int, fn func(proto.Message)) {
	fn(m.Interface())
	if depth == 0 {
		return
	}
	for _, one := range field.Messages("", m) {
		if !field.IsFree(one.Descriptor()) {
			eachMessage(one, depth-1, fn)
		}
	}
}

// fieldsOf returns the sorted names of the fields that a request sets or clears, without
// those that only name the record.
func fieldsOf(m proto.Message) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	var walk func(at string, m protoreflect.Message)
	walk = func(at string, m protoreflect.Message) {
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			name := string(f.Name())
			switch {
			case at == "" && (name == field.IfRevision || name == "key" || name == "new_key"):
			case at == "" && name == field.Clear:
				for i := range v.List().Len() {
					add(v.List().Get(i).String())
				}
			case f.Message() != nil && !f.IsList() && !f.IsMap() && !field.IsFree(f.Message()):
				walk(at+name+".", v.Message())
			default:
				add(at + name)
			}
			return true
		})
	}
	walk("", m.ProtoReflect())
	slices.Sort(out)
	if _, bulk := m.(*gatewayv1.BulkUpdateKeysRequest); bulk {
		return nil // each of them changes something of its own
	}
	return out
}
