package tenancy

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Bound is what bounds a request at one account. A nil field has no bound there.
type Bound struct {
	Account  id.Account
	Parent   id.KeyHash  // of an account of one of Principal.Parents: that one; else zero
	Model    string      // of an account of a model: its name, which is Account.Part as well
	Max      *money.Pico // the most that may be spent in one window
	Soft     *money.Pico // from this spend on people are warned
	Duration string      // how long a window is, as it was written; empty: for ever
	Resets   time.Time   // when the window that holds now ends; zero: never
	RPM      *uint32     // requests a minute
	TPM      *uint32     // tokens a minute
	TPD      *uint32     // tokens a day
	Parallel *uint32     // requests under way at once
}

// Aliases are the operator's aliases of models. *catalog.Catalog has them.
type Aliases interface {
	// Alias returns the name that an alias stands for; of what is no alias the name itself.
	Alias(name id.ModelName) id.ModelName
	// Serves reports whether a deployment serves a model of that name.
	Serves(name id.ModelName) bool
}

// Bounds appends to dst the bounds of a request of the principal for an end user, who may be
// empty, and a model, by the operator's name. They are the limits of the key, of its parents, the
// team, the user's membership in the team, the organization, the user's membership in it, the
// user and the customer, and their limits for the model. The user is the key's or, for a key
// without one, the user who bounds it.
//
// All bounds hold, so the tightest decides. Each account occurs once, in the order of the kinds'
// numbers. A limit that is not set is that of the named budget and, for a member of a team, the
// team's default for members. Customers without a record have no bounds, and the master key has
// those of the customer alone. If nothing bounds the request, Bounds allocates nothing.
//
// A limit for a model applies under each name by which a request asks for the model. A limit whose
// name resolved to no model when it was written applies to the model that Resolve and then
// aliases, which may be nil, find for that name now.
func (p Principal) Bounds(dst []Bound, c id.Customer, model id.ModelName, now time.Time, aliases Aliases) []Bound {
	if p.set == nil {
		return dst
	}
	b := bounder{set: p.set, model: string(model), now: now, out: dst, principal: p, aliases: aliases}
	key := Limits{}
	if p.key != nil {
		if key = p.set.Terms(nil, p.key.Limits); !key.none() {
			b.whole(id.Account{Kind: id.AccountKey, Owner: p.Account().Hex()}, &key)
		}
	}
	b.inherited(p)
	team, organization, user := b.belonging()
	if c != "" {
		if found, ok := p.set.customers.Get(customerKey(p.EndUser(c))); ok {
			limits := p.set.Terms(nil, found.Limits)
			b.whole(found.EndUser().Account(), &limits)
		}
	}
	if len(key.Models) > 0 {
		b.ofModel(id.Account{Kind: id.AccountKeyModel, Owner: p.Account().Hex()}, &key)
	}
	b.inheritedOfModel(p)
	b.ofModel(id.Account{Kind: id.AccountTeamModel, Owner: string(p.Team)}, &team)
	b.ofModel(id.Account{Kind: id.AccountUserModel, Owner: string(b.principal.User)}, &user)
	b.ofModel(id.Account{Kind: id.AccountOrganizationModel, Owner: string(p.Organization)}, &organization)
	return b.out
}

// bounder collects bounds.
type bounder struct {
	set   *Set
	model string
	now   time.Time
	out   []Bound

	parent    id.KeyHash // whose bounds are being collected; zero: not a parent's
	principal Principal  // whose aliases count
	aliases   Aliases
}

// boundBy puts the user who bounds a key without a user in the place of the key's own.
// If that user has left the team, what the team has for members holds.
func (b *bounder) boundBy() {
	p := &b.principal
	if p.User != "" || p.BoundedBy == "" || p.team == nil {
		return
	}
	p.User = p.BoundedBy
	p.user, _ = b.set.users.Get([]byte(p.User))
	if p.member, _ = b.set.teamMembers.Get(record.Join(string(p.Team), string(p.User))); p.member == nil {
		p.member = &TeamMember{}
	}
}

// belonging adds the bounds of the key's owners and returns their limits.
func (b *bounder) belonging() (team, organization, user Limits) {
	b.boundBy()
	p := b.principal
	if p.team != nil {
		team = p.set.Terms(nil, p.team.Limits)
		b.whole(id.Account{Kind: id.AccountTeam, Owner: string(p.Team)}, &team)
		if p.member != nil {
			member := p.member.LimitsIn(p.team)
			b.whole(id.Account{Kind: id.AccountTeamMember, Owner: string(p.Team), Part: string(p.User)}, &member)
		}
	}
	if p.organization != nil {
		organization = p.set.Terms(nil, p.organization.Limits)
		b.whole(id.Account{Kind: id.AccountOrganization, Owner: string(p.Organization)}, &organization)
		if p.user != nil {
			b.organizationMember(p)
		}
	}
	if p.user != nil {
		user = p.set.Terms(nil, p.user.Limits)
		b.whole(id.Account{Kind: id.AccountUser, Owner: string(p.User)}, &user)
	}
	return team, organization, user
}

func (b *bounder) organizationMember(p Principal) {
	if m, ok := b.set.organizationMembers.Get(record.Join(string(p.Organization), string(p.User))); ok {
		b.whole(id.Account{Kind: id.AccountOrganizationMember, Owner: string(p.Organization), Part: string(p.User)}, &Limits{MaxBudget: m.MaxBudget})
	}
}

// whole adds the bound that limits are at an account, if they are any.
func (b *bounder) whole(a id.Account, l *Limits) {
	if l.none() {
		return
	}
	bound := Bound{
		Account: a, Parent: b.parent, Max: l.MaxBudget, Soft: l.SoftBudget, Duration: l.BudgetDuration,
		RPM: l.RPM, TPM: l.TPM, TPD: l.TPD, Parallel: l.MaxParallel,
	}
	bound.Resets, _ = period.NextReset(bound.Duration, b.now)
	b.out = append(b.out, bound)
}

// ofModel adds the bound that limits are for the model, if they have any.
func (b *bounder) ofModel(a id.Account, l *Limits) {
	m := b.of(l)
	a.Part = b.model
	bound := Bound{
		Account: a, Parent: b.parent, Model: b.model, Max: m.MaxBudget, Duration: m.BudgetDuration,
		RPM: tighter(m.RPM, m.ModelRPM), TPM: tighter(m.TPM, m.ModelTPM),
	}
	if bound.Max == nil && bound.Duration == "" && bound.RPM == nil && bound.TPM == nil {
		return
	}
	bound.Resets, _ = period.NextReset(bound.Duration, b.now)
	b.out = append(b.out, bound)
}

// of puts together the limits of the model under all of its names.
func (b *bounder) of(l *Limits) (out ModelLimits) {
	for i := range l.Models {
		m := &l.Models[i]
		if m.Model == b.model || !m.Resolved && b.standsFor(m.Model) == b.model {
			merge(&out, m)
		}
	}
	return out
}

// standsFor is what a request of the principal would be taken to ask for by a name.
func (b *bounder) standsFor(name string) string {
	model := b.principal.Resolve(id.ModelName(name))
	if b.aliases != nil {
		model = b.aliases.Alias(model)
	}
	return string(model)
}

// none reports whether limits bound nothing but, maybe, single models.
func (l Limits) none() bool {
	return l.MaxBudget == nil && l.SoftBudget == nil && l.BudgetDuration == "" &&
		l.RPM == nil && l.TPM == nil && l.TPD == nil && l.MaxParallel == nil
}

// LimitsIn returns what bounds the user in the team: the user's own limits there, or
// else those that the team has for members.
func (m *TeamMember) LimitsIn(t *Team) Limits {
	l := m.limits()
	if l.BudgetDuration == "" {
		l.BudgetDuration = t.MemberBudgetDuration
	}
	l.MaxBudget, l.RPM, l.TPM = or(l.MaxBudget, t.MemberBudget), or(l.RPM, t.MemberRPM), or(l.TPM, t.MemberTPM)
	return l
}

// Empty reports whether limits bound nothing, single models among it.
func (l Limits) Empty() bool { return l.none() && len(l.Models) == 0 }

// tighter is the smaller of two limits that may not be set.
func tighter(a, b *uint32) *uint32 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
