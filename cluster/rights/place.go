package rights

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// checkPlace denies access to a key outside the place of the API key that makes the
// request. The place of a key is its team, or else its organization; a key with
// neither has no such bound. Without this check a key could spend past the budget of
// its team or organization: it would make a key elsewhere and use that one.
//
// Rights above the place widen it. An org_admin's key in a team reaches the whole
// organization of that team; only a proxy_admin reaches everything.
func (r *Rights) checkPlace(k *tenancy.Key) error {
	if r.key == nil {
		return nil
	}
	switch {
	case r.key.Team != "" && !r.runs(r.org):
		if k.Team == r.key.Team {
			return nil
		}
		return denied("team_id", "This API key belongs to the team %s, and makes and changes keys of that team only. Send that team_id, or use an API key that belongs to no team.", fault.Short(string(r.key.Team)))
	case r.org != "" && r.organizationOf(k) != r.org:
		return denied("organization_id", "This API key belongs to the organization %s, and makes and changes keys of that organization only. Send that organization_id, or use an API key that belongs to no organization.", fault.Short(string(r.org)))
	}
	return nil
}

// checkMove denies a change that takes a key out of its team or organization, whose
// budget would then no longer bound the key. An org_admin may move keys within the
// organization. It also denies a move into a team by a member who may not make keys
// there.
func (r *Rights) checkMove(before, after *tenancy.Key) error {
	if before.Team == after.Team && before.Organization == after.Organization {
		return nil
	}
	from := r.organizationOf(before)
	switch {
	case from != "" && r.organizationOf(after) != from:
		return denied("organization_id", "Only a proxy_admin may move a key out of its organization. Make a new key instead.")
	case before.Team != "" && before.Team != after.Team && !r.runs(from):
		return denied("team_id", "Only an org_admin of the team's organization, or a proxy_admin, may move a key out of its team. Make a new key instead.")
	case after.Team != "" && before.Team != after.Team:
		return r.MayChangeKey(surface.PermitGenerateKey, after)
	}
	return nil
}

// reaches reports whether the API key that makes the request may change anything in an
// organization. A key of an organization acts there only, even if its user runs others as
// well: otherwise a stolen key of one organization would reach the others. Empty is what
// belongs to no organization.
func (r *Rights) reaches(o id.Organization) bool { return r.org == "" || r.org == o || r.Admin() }

// checkReach denies changes in an organization that the API key does not reach.
func (r *Rights) checkReach(o id.Organization) error {
	if r.reaches(o) {
		return nil
	}
	return denied("organization_id", "This API key belongs to the organization %s, and makes changes there only. Name what belongs to that organization, or use an API key that belongs to no organization.", fault.Short(string(r.org)))
}
