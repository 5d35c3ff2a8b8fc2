package mgmt

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/resource"
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

// guardDeployment sets the guardrails of a deployment if a request has some. They are everybody's: the deployment
// serves all organizations.
func (c caller) guardDeployment(spec *catalog.DeploymentSpec, before, after []string) error {
	if len(after) > 0 {
		var ids []string
		for i, ref := range after {
			g, err := c.view.Guardrails.Find(c.tx, fieldInfoOfModel+"."+field.At(tenancy.FieldGuardrails, i), ref, resource.Everybodys())
			if f := fault.From(err); f != nil {
				return &fault.Error{
					Kind: f.Kind, Code: f.Code, Param: f.Param,
					Detail: "There is no guardrail " + fault.Quote(ref) + " that belongs to no organization. Create it with POST /guardrail first, or correct the name.",
				}
			}
			if !slices.Contains(ids, g.ID) {
				ids = append(ids, g.ID)
			}
		}
		spec.Guardrails = ids
	}
	c.set.UseGuardrails(c.tx, before, spec.Guardrails)
	return nil
}

// showGuardrails sets the field of guardrails that always apply.
func showGuardrails(m proto.Message, ids []string) {
	list := m.ProtoReflect().Mutable(m.ProtoReflect().Descriptor().Fields().ByName(tenancy.FieldGuardrails)).List()
	for _, g := range ids {
		list.Append(protoreflect.ValueOfString(g))
	}
}
