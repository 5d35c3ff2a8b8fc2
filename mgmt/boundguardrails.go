package mgmt

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// guardrailIDs returns the ids of the guardrails that a request names for a key, a team or an
// organization. A guardrail must be one of the organization or one of everybody's. What was there
// before stays, also for a caller who may not see it.
func (c caller) guardrailIDs(before, after []string, of id.Organization) ([]string, error) {
	if slices.Equal(before, after) {
		return after, nil
	}
	var ids []string
	for i, ref := range after {
		found := ref
		if !slices.Contains(before, ref) {
			g, err := c.view.Guardrails.Find(c.tx, field.At(tenancy.FieldGuardrails, i), ref, c.keysOf(of))
			if f := fault.From(err); f != nil && f.Kind == fault.NotFound {
				return nil, &fault.Error{
					Kind: f.Kind, Code: f.Code, Param: f.Param,
					Detail: "There is no guardrail " + fault.Quote(ref) + " in the organization, nor among those of everybody. Create it with POST /guardrail first, or correct the name.",
				}
			}
			if err != nil {
				return nil, err
			}
			found = g.ID
		}
		if !slices.Contains(ids, found) {
			ids = append(ids, found)
		}
	}
	return ids, nil
}

// showGuardrails sets the field of guardrails that always apply.
func showGuardrails(m proto.Message, ids []string) {
	list := m.ProtoReflect().Mutable(m.ProtoReflect().Descriptor().Fields().ByName(tenancy.FieldGuardrails)).List()
	for _, g := range ids {
		list.Append(protoreflect.ValueOfString(g))
	}
}
