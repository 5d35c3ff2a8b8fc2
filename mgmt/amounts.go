package mgmt

import (
	"cmp"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/money"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// amount is what a change makes of one field that bounds what is spent or how fast.
// Records of the audit log have such fields with what they are set to, and no others.
type amount struct {
	Resource string `json:"resource_type"`
	ID       string `json:"resource_id"`
	Field    string `json:"field"`
	Old      any    `json:"old"` // nil: it was not set
	New      any    `json:"new"`
}

// amountsOf are the bounds that a transaction changes, of all that it writes.
func amountsOf(before, after *keys.Set, w cluster.Written) []amount {
	var out []amount
	add := func(resource, name string, bounds func(set *keys.Set) amounts) {
		out = append(out, differing(resource, name, bounds(before), bounds(after))...)
	}
	for _, h := range w.Keys {
		add(resourceKey, h.String(), func(set *keys.Set) amounts { return keyAmounts(set, h) })
	}
	for _, u := range w.Users {
		add(resourceUser, string(u), func(set *keys.Set) amounts {
			found, _ := set.User(nil, u)
			return boundsOf(found, func(u *keys.User) amounts { return amounts{}.limits(u.Limits) })
		})
	}
	for _, o := range w.Organizations {
		add("organization", string(o), func(set *keys.Set) amounts {
			found, _ := set.Organization(nil, o)
			return boundsOf(found, func(o *keys.Organization) amounts { return amounts{}.limits(o.Limits) })
		})
	}
	for _, t := range w.Teams {
		add("team", string(t), func(set *keys.Set) amounts {
			found, _ := set.Team(nil, t)
			return boundsOf(found, teamAmounts)
		})
	}
	for _, c := range w.Customers {
		add("customer", customerName(c), func(set *keys.Set) amounts {
			found, _ := set.Customer(nil, c)
			return boundsOf(found, func(c *keys.Customer) amounts { return amounts{}.limits(c.Limits) })
		})
	}
	for _, b := range w.Budgets {
		add("budget", string(b), func(set *keys.Set) amounts {
			found, _ := set.Budget(nil, b)
			return boundsOf(found, func(b *keys.Budget) amounts { return amounts{}.limits(b.Limits) })
		})
	}
	for _, m := range w.OrganizationMembers {
		add("organization_member", m.Of+"/"+string(m.User), func(set *keys.Set) amounts {
			found, _ := set.OrganizationMember(nil, id.Organization(m.Of), m.User)
			return boundsOf(found, func(m *keys.OrganizationMember) amounts {
				return amounts{}.money(fieldOrganizationBudget, m.MaxBudget)
			})
		})
	}
	for _, m := range w.TeamMembers {
		add("team_member", m.Of+"/"+string(m.User), func(set *keys.Set) amounts {
			found, _ := set.TeamMember(nil, id.Team(m.Of), m.User)
			return boundsOf(found, memberAmounts)
		})
	}
	return out
}

// resetOf is what a key had spent and is said to have spent from now on.
func resetOf(answer proto.Message) []amount {
	r, ok := answer.(*gatewayv1.ResetKeySpendResponse)
	if !ok {
		return nil
	}
	return []amount{{resourceKey, keyID(r.GetKeyHash()), fieldSpend, r.GetPreviousSpend(), r.GetSpend()}}
}

// customerName is what the audit log calls an end user: one of an organization has the
// organization and a slash before its id.
func customerName(u id.EndUser) string {
	if u.Organization == "" {
		return string(u.ID)
	}
	return string(u.Organization) + "/" + string(u.ID)
}

// keyID is a key's hash as the audit log has it.
func keyID(text string) string {
	h, ok := id.ParseKeyHash(text)
	if !ok {
		return text
	}
	return h.String()
}

// boundsOf are the amounts of what is there; none of what is not.
func boundsOf[T any](found *T, of func(*T) amounts) amounts {
	if found == nil {
		return nil
	}
	return of(found)
}

// amounts are bounds by the names of their fields.
type amounts map[string]any

func (a amounts) money(field string, v *money.Pico) amounts {
	if v != nil {
		a[field] = inDollars(*v)
	}
	return a
}

func (a amounts) count(field string, v *uint32) amounts {
	if v != nil {
		a[field] = *v
	}
	return a
}

func (a amounts) text(field, v string) amounts {
	if v != "" {
		a[field] = v
	}
	return a
}

func (a amounts) limits(l keys.Limits) amounts {
	a.money(fieldMaxBudget, l.MaxBudget).money(fieldSoftBudget, l.SoftBudget).text(fieldBudgetDuration, l.BudgetDuration).
		count(fieldMaxParallel, l.MaxParallel).count(fieldTPM, l.TPM).count(fieldRPM, l.RPM).count(fieldTPD, l.TPD).
		text(fieldBudgetID, string(l.Budget))
	for _, m := range l.Models {
		at := fieldModelBudget + "." + m.Model + "."
		a.money(at+fieldMaxBudget, m.MaxBudget).text(at+fieldBudgetDuration, m.BudgetDuration).
			count(at+fieldTPM, m.TPM).count(at+fieldRPM, m.RPM).
			count(fieldModelTPM+"."+m.Model, m.ModelTPM).count(fieldModelRPM+"."+m.Model, m.ModelRPM)
	}
	return a
}

func keyAmounts(set *keys.Set, h id.KeyHash) amounts {
	found, _ := set.Key(nil, h)
	return boundsOf(found, func(k *keys.Key) amounts { return amounts{}.limits(k.Limits) })
}

func teamAmounts(t *keys.Team) amounts {
	return amounts{}.limits(t.Limits).
		money(fieldMemberBudget, t.MemberBudget).text(fieldMemberBudgetDuration, t.MemberBudgetDuration).
		count(fieldMemberRPM, t.MemberRPM).count(fieldMemberTPM, t.MemberTPM)
}

func memberAmounts(m *keys.TeamMember) amounts {
	return amounts{}.money(fieldTeamBudget, m.MaxBudget).text(fieldBudgetDuration, m.BudgetDuration).
		count(fieldTPM, m.TPM).count(fieldRPM, m.RPM)
}

// differing are the fields of a thing that are not as they were, in their order.
func differing(resource, name string, before, after amounts) []amount {
	var out []amount
	for field, v := range after {
		if before[field] != v {
			out = append(out, amount{resource, name, field, before[field], v})
		}
	}
	for field := range maps.Keys(before) {
		if _, still := after[field]; !still {
			out = append(out, amount{resource, name, field, before[field], nil})
		}
	}
	slices.SortFunc(out, func(a, b amount) int { return cmp.Compare(a.Field, b.Field) })
	return out
}
