package tenancy

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Principal is the caller of a request: a key and its owners, as they were at the look-up. It is
// a plain value and needs no allocation.
type Principal struct {
	Hash         id.KeyHash
	Origin       id.KeyHash   // of a key that comes of another one by regeneration: the first of them; see Account
	Parents      []id.KeyHash // accounts of the keys by which the key was made and whose bounds hold for it, the nearest first
	Alias        string
	Master       bool
	Cluster      bool // the key comes from the replicated state, whose deletion this node may not have heard of
	User         id.User
	Team         id.Team
	Organization id.Organization // of the team, or of a key without one
	BoundedBy    id.User         // of a key without a user: the user whose bounds hold for it
	Type         string          // one of the types of keys

	key          *Key   // nil for the master key
	parents      []*Key // of Parents
	user         *User
	team         *Team
	member       *TeamMember // of the user in the team
	organization *Organization
	set          *Set // by which it was looked up; nil for one that no set returned
}

// Role is the caller's role: RoleProxyAdmin for the master key, RoleNone for a key without a user
// or for inference only, and else the user's role. For a key of type read_only it is the part of
// that role that changes nothing.
func (p Principal) Role() Role {
	switch {
	case p.Master:
		return RoleProxyAdmin
	case p.user != nil:
		return p.user.Role.For(p.Type)
	}
	return RoleNone
}

// EndUser returns the end user that a request of the principal names by an id: one of the
// principal's organization, or else one that all keys without an organization share.
func (p Principal) EndUser(c id.Customer) id.EndUser {
	return id.EndUser{Organization: p.Organization, ID: c}
}

// ServiceAccount reports whether the key belongs to a team and to no user, as those of
// /key/service-account/generate do.
func (p Principal) ServiceAccount() bool { return p.key != nil && p.Team != "" && p.User == "" }

// Resolve returns the model that a name stands for: an alias of the key's or else
// one of its team's, or the name itself. What an alias stands for is not looked up
// again.
func (p Principal) Resolve(model id.ModelName) id.ModelName {
	if p.key != nil {
		if real, ok := p.key.Aliases[string(model)]; ok {
			return id.ModelName(real)
		}
	}
	if p.team != nil {
		if real, ok := p.team.ModelAliases[string(model)]; ok {
			return id.ModelName(real)
		}
	}
	return model
}

// Allows reports whether the principal may ask for a model, by the name that
// Resolve returns: whether the lists of the key, of its user, of the user's place in
// the team, of the team and of the organization all have it. An empty list has
// everything, as does `all-proxy-models`; `openai/*` has every name of that form; a
// key's `all-team-models` has what its team may use. A user's `no-default-models`
// bounds the user's own keys and not those in teams.
func (p Principal) Allows(model id.ModelName) bool {
	if p.key == nil {
		return p.Master
	}
	m := string(model)
	switch {
	case !p.team.ModelsOf(p.key.allowed).Has(m):
		return false
	case p.user != nil && !p.team.ModelsOfUser(p.user.allowed).Has(m):
		return false
	}
	return (p.member == nil || p.team.ModelsOf(p.member.allowed).Has(m)) && (p.team == nil || p.team.allowed.Has(m)) &&
		(p.organization == nil || p.organization.allowed.Has(m))
}

// MayUse refuses what the key's type or its allowed routes do not include: 403 with
// route_not_allowed. What a role may do is another matter.
func (p Principal) MayUse(method, path string) error {
	if p.key == nil || p.key.Routes().Has(method, path) {
		return nil
	}
	return &fault.Error{Kind: fault.Denied, Code: "route_not_allowed", Detail: "This API key is not for that route. Use another one, or ask the gateway's administrator."}
}

// Passes reports whether the key may use a path of a provider that the gateway does not serve itself. Only a key whose
// allowed routes say so may.
func (p Principal) Passes(path string) bool { return p.key != nil && p.key.Routes().Passes(path) }

// PassesAny reports whether the key may use any such path.
func (p Principal) PassesAny() bool { return p.key != nil && p.key.Routes().PassesAny() }

// Tags returns the tags of the key and of its team, each once. It is nil for none.
func (p Principal) Tags() []string {
	switch {
	case p.key == nil:
		return nil
	case p.team == nil || len(p.team.Tags) == 0:
		return p.key.Tags
	case len(p.key.Tags) == 0:
		return p.team.Tags
	}
	out := slices.Clone(p.key.Tags)
	for _, tag := range p.team.Tags {
		if !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out
}
