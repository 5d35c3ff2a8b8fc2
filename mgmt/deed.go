package mgmt

import (
	"slices"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/id"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// What changes are about, as the audit log calls it.
const (
	resourceKey       = "key"
	resourceUser      = "user"
	resourceGuardrail = "guardrail"
	resourcePrompt    = "prompt"
)

// mostNamed bounds how many things a record of the audit log names.
const mostNamed = 100

// deed is what an operation does, as far as its name, its request and its answer say.
type deed struct {
	operation    string // without its service
	action       string // created, updated, deleted, …
	resource     string // of the operation's service
	ids          []string
	fields       []string // names of what the request gives
	organization id.Organization
	team         id.Team
	customer     id.Customer
	replaces     string   // the hash of the key in whose place another one comes
	amounts      []amount // what becomes of bounds
}

// deedOf reads what the call's operation does.
func deedOf(c *call, answer proto.Message) deed {
	op := c.operation
	d := deed{operation: op.Name, action: op.Action, resource: op.of.Resource}
	if !op.of.IDsInResponsesOnly {
		d.ids = idsIn(c.request, op.of.IDFields, nil)
	}
	d.ids = idsIn(answer, op.of.IDFields, d.ids)
	if d.resource == resourceKey {
		for i, text := range d.ids {
			d.ids[i] = keyID(text)
		}
	}
	d.fields = fieldsOf(c.request)
	d.organization = id.Organization(only(idsIn(answer, []string{"organization_id", "org"}, nil)))
	d.team = id.Team(only(idsIn(answer, []string{"team_id"}, nil)))
	switch d.resource {
	case "organization":
		d.organization = id.Organization(only(d.ids))
	case "team":
		d.team = id.Team(only(d.ids))
	case "customer":
		d.customer = id.Customer(only(d.ids))
	}
	return d
}

// only is the one entry of a list; empty where there are more or none.
func only(list []string) string {
	if len(list) != 1 {
		return ""
	}
	return list[0]
}

// key is the key that a change of one key is about.
func (d deed) key() (id.KeyHash, bool) {
	if d.resource != resourceKey || len(d.ids) != 1 {
		return id.KeyHash{}, false
	}
	return id.ParseKeyHash(d.ids[0])
}

// details are a JSON object about what was done to some things. It has the names of
// fields, and what they are set to only where they are bounds.
func (d deed) details(c *call, resource string, ids []string) string {
	out := map[string]any{
		"resource_type": resource, "action": d.action, "operation": d.operation, "changed_by": c.principal.Actor(),
		"changed_by_key": c.principal.Hash.String(),
	}
	if c.principal.Master { // who has the configuration knows it
		delete(out, "changed_by_key")
	}
	switch {
	case len(ids) == 1:
		out["resource_id"] = ids[0]
	case len(ids) > mostNamed:
		out["resource_ids"], out["more"] = ids[:mostNamed], len(ids)-mostNamed
	case len(ids) > 0:
		out["resource_ids"] = ids
	}
	if len(d.fields) > 0 {
		out["fields"] = d.fields
	}
	if d.replaces != "" {
		out["replaced_key_hash"] = d.replaces
	}
	if n := len(d.amounts); n > 0 {
		out["amounts"] = d.amounts[:min(n, mostNamed)]
		if n > mostNamed {
			out["more_amounts"] = n - mostNamed
		}
	}
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil { // a text is not UTF-8, which no message has
		return ""
	}
	return string(text)
}

// idsIn adds the texts of fields of some names to a list, those of a message and
// of the records in it.
func idsIn(m proto.Message, names, to []string) []string {
	add := func(text string) {
		if text != "" && !slices.Contains(to, text) {
			to = append(to, text)
		}
	}
	eachMessage(m.ProtoReflect(), func(m proto.Message) {
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

// eachMessage calls fn for a message and for those in its fields that are of this
// API, two levels deep.
func eachMessage(m protoreflect.Message, fn func(proto.Message)) { eachWithin(m, 2, fn) }

func eachWithin(m protoreflect.Message, depth int, fn func(proto.Message)) {
	fn(m.Interface())
	if depth == 0 {
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() || f.Message() == nil || isFree(f.Message()):
		case f.IsList():
			for i := range v.List().Len() {
				eachWithin(v.List().Get(i).Message(), depth-1, fn)
			}
		default:
			eachWithin(v.Message(), depth-1, fn)
		}
		return true
	})
}

// fieldsOf are the names of what a request changes, sorted: what it gives and what
// it clears, without what only names the record.
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
			case at == "" && (name == fieldIfRevision || name == "key" || name == "new_key"):
			case at == "" && name == fieldClear:
				for i := range v.List().Len() {
					add(v.List().Get(i).String())
				}
			case f.Message() != nil && !f.IsList() && !f.IsMap() && !isFree(f.Message()):
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
