package mgmt

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// caller is the caller of an operation, with the state that the operation reads.
type caller struct {
	view   *cluster.View
	set    *tenancy.Set
	tx     *record.Txn // nil for a request that changes nothing
	rights *rights.Rights
}

func callerOf(ctx context.Context, v *cluster.View, tx *record.Txn) caller {
	return caller{view: v, set: v.Keys, tx: tx, rights: rights.Of(v.Keys, tx, operation.Principal(ctx))}
}

// viewer returns the caller of a request that shows the state as this node has it.
func viewer(ctx context.Context) caller { return callerOf(ctx, operation.View(ctx), nil) }

// current returns the caller of a request that shows every acknowledged change.
func current(ctx context.Context, state operation.Changes) (caller, error) {
	v, err := operation.Current(ctx, state)
	if err != nil {
		return caller{}, err
	}
	return callerOf(ctx, v, nil), nil
}

// change runs an operation that changes the state, and returns its response.
func change[R proto.Message](ctx context.Context, state operation.Changes, op func(c caller) (R, error)) (R, error) {
	return operation.Change(ctx, state, func(v *cluster.View, tx *record.Txn) (R, error) { return op(callerOf(ctx, v, tx)) })
}

// changed is change for an operation whose response is the record that it changed.
func changed[T any, R proto.Message](ctx context.Context, state operation.Changes, show func(T) R, op func(c caller) (T, error)) (R, error) {
	return change(ctx, state, func(c caller) (R, error) { return shown(show)(op(c)) })
}

// found returns the record that a request asks for, with every acknowledged change.
func found[T any, R proto.Message](ctx context.Context, state operation.Changes, show func(T) R, find func(c caller) (T, error)) (R, error) {
	c, err := current(ctx, state)
	if err != nil {
		var none R
		return none, err
	}
	return shown(show)(find(c))
}

// shown returns a function that shows a record unless there was an error.
func shown[T any, R proto.Message](show func(T) R) func(found T, err error) (R, error) {
	return func(found T, err error) (R, error) {
		if err != nil {
			var none R
			return none, err
		}
		return show(found), nil
	}
}

// shownAll shows records in order.
func shownAll[T, R any](all iter.Seq[T], show func(T) R) []R {
	var out []R
	for one := range all {
		out = append(out, show(one))
	}
	return out
}

// oversees reports whether the caller may see what everybody in an organization uses: callers
// that see everything, and its org_admins.
func (c caller) oversees(o id.Organization) bool {
	if c.rights.SeesAll() {
		return true
	}
	if o == "" || c.rights.User() == "" {
		return false
	}
	m, ok := c.set.OrganizationMember(nil, o, c.rights.User())
	return ok && m.Role == tenancy.RoleOrgAdmin
}

// overseesTeam reports whether the caller may see what everybody in a team uses: callers that
// oversee its organization, and its admins. It does not matter whether the role of the key
// only reads.
func (c caller) overseesTeam(t *tenancy.Team) bool {
	if c.oversees(t.Organization) {
		return true
	}
	m, ok := c.set.TeamMember(nil, t.ID, c.rights.User())
	return ok && c.rights.User() != "" && m.Role == tenancy.TeamAdmin
}

// overseen returns the organizations whose org_admin the caller is.
func (c caller) overseen() []string {
	var out []string
	if c.rights.User() == "" {
		return nil
	}
	for m := range c.set.OrganizationsOf(c.rights.User()) {
		if m.Role == tenancy.RoleOrgAdmin {
			out = append(out, string(m.Organization))
		}
	}
	return out
}

// reader returns the caller as the tables of named resources know it.
func (c caller) reader() resource.Who {
	return resource.Who{Organization: c.rights.Organization(), MaySee: c.rights.MayUseResource, MayChange: c.rights.MayChangeResource}
}

// ownerFor returns the organization that owns a new resource: the one in the request, or else
// the caller's. An admin without an organization creates a resource without one, which every
// organization may use.
func (c caller) ownerFor(requested *string) (id.Organization, error) {
	org := c.rights.Organization()
	if requested != nil {
		org = id.Organization(*requested)
	}
	if err := c.rights.MayChangeResource(org); err != nil {
		return "", err
	}
	if org != "" {
		if err := c.set.JoinOrganization(c.tx, "organization_id", org); err != nil {
			return "", err
		}
	}
	return org, nil
}

// Codes of errors.
const (
	codeNoRight        = "insufficient_permissions"
	codeNoOrganization = "organization_not_found"
	codeNoUser         = "user_not_found"
	codeNoTeam         = "team_not_found"
	codeNoMember       = "member_not_found"
)

// missing says how errors name a record that the caller does not get.
type missing struct{ code, param, what string }

// visible returns a record, nil if there is none, that the caller may see. Only callers
// that see everything learn whether another one exists.
func visible[T any](r *rights.Rights, found *T, maySee func(*T) bool, or missing) (*T, error) {
	switch {
	case found != nil && maySee(found):
		return found, nil
	case found != nil || !r.SeesAll():
		return nil, notYours(or.param, "This API key may not see that "+or.what+".")
	}
	return nil, &fault.Error{Kind: fault.NotFound, Code: or.code, Param: or.param, Detail: "There is no such " + or.what + "."}
}

func notYours(param, text string) error {
	return &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: param, Detail: text}
}
