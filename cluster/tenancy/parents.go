package tenancy

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// A key with bounds of its own would multiply them by making keys with the same bounds.
// So a key that it makes is its child for life: a request of the child counts at the
// child's accounts and at those of all keys above it, and is bounded by all of them.
// A link names an account, and so outlives a regeneration of the parent.

// mostParents is how many keys there may be above a key.
const mostParents = 4

// descend looks up the keys above that of a principal. A child is not accepted when a
// key above it is gone, blocked or expired: the bounds would else end with the parent,
// and a key that was stolen would live on in its children.
func (s *Set) descend(p *Principal, now time.Time) error {
	for k := p.key; k.Parent != (id.KeyHash{}); {
		parent, ok := s.OfAccount(k.Parent)
		switch {
		case !ok || len(p.parents) == mostParents || slices.Contains(p.Parents, k.Parent):
			return credential.Invalid()
		case parent.Blocked:
			return blocked("The API key that made this one is blocked. Ask the gateway's administrator.")
		case !parent.Expires.IsZero() && !now.Before(parent.Expires):
			return expired("The API key that made this one has expired. Ask the gateway's administrator for a new one.")
		}
		p.Parents, p.parents = append(p.Parents, k.Parent), append(p.parents, parent)
		k = parent
	}
	return nil
}

// inherited adds the bounds of the keys above the principal's.
func (b *bounder) inherited(p Principal) {
	for i, k := range p.parents {
		b.parent = p.Parents[i]
		limits := b.set.terms(nil, k.Limits)
		b.whole(id.Account{Kind: id.AccountKey, Owner: b.parent.Hex()}, &limits)
	}
	b.parent = id.KeyHash{}
}

// inheritedOfModel adds the bounds that those keys have for the model.
func (b *bounder) inheritedOfModel(p Principal) {
	for i, k := range p.parents {
		b.parent = p.Parents[i]
		limits := b.set.terms(nil, k.Limits)
		b.ofModel(id.Account{Kind: id.AccountKeyModel, Owner: b.parent.Hex()}, &limits)
	}
	b.parent = id.KeyHash{}
}

// SetParent links a new key to the key that makes it, if that one, or one above it, has
// bounds. A proxy_admin's keys have no children: a proxy_admin may set every bound, so
// none would bound it. It denies a child of a key that has mostParents above it.
func (r *Rights) SetParent(k *Key) error {
	k.Parent = id.KeyHash{}
	if r.Admin() || r.key == nil || !r.bounded() {
		return nil
	}
	if depth := r.set.depth(r.tx, r.key); depth >= mostParents {
		return denied("", "This API key was made by a key that was made by another, %d in a row, and must not make more. Use the first of them, or one without bounds of its own.", depth)
	}
	k.Parent = r.key.Account()
	return nil
}

// SetBoundedBy sets the user whose bounds hold for a key, as the operation would leave it, that
// belongs to a team and to no user. It is the admin or member of the team who makes the key, so
// all such keys together spend what that user may. The user stays until another admin of the team
// regenerates the key and thereby gets it. An org_admin and a proxy_admin may set every bound
// there, so their keys name no user.
func (r *Rights) SetBoundedBy(op string, before, k *Key) {
	switch free := r.Admin() || r.user == nil || r.runs(r.organizationOf(k)); {
	case k.Team == "" || k.User != "":
		k.BoundedBy = ""
	case before.Team == k.Team && before.User == "" && (free || op != surface.PermitRegenerateKey):
	case free:
		k.BoundedBy = ""
	default:
		k.BoundedBy = r.user.ID
	}
}

// bounded reports whether the key that asks has bounds, or a key above it.
func (r *Rights) bounded() bool {
	if r.key.Parent != (id.KeyHash{}) {
		return true
	}
	l := r.set.terms(r.tx, r.key.Limits)
	return !l.none() || len(l.Models) > 0
}

// depth is how many keys are above a key.
func (s *Set) depth(tx *record.Txn, k *Key) int {
	n := 0
	for ; k.Parent != (id.KeyHash{}) && n < mostParents; n++ {
		parent, ok := s.OfAccount(k.Parent)
		if !ok {
			return mostParents
		}
		if tx != nil { // so that the parent is there when the change is committed
			if parent, ok = s.Key(tx, parent.Hash); !ok {
				return mostParents
			}
		}
		k = parent
	}
	return n
}

// checkRaise denies the key that asks to raise the bounds of a key that is not below it,
// if it has bounds itself: what that key spends does not count at its own account.
func (r *Rights) checkRaise(before *Key, after, was effective) error {
	if r.key == nil || !r.bounded() || before.Account() == r.key.Account() {
		return nil
	}
	for k, n := before, 0; k.Parent != (id.KeyHash{}) && n <= mostParents; n++ {
		if k.Parent == r.key.Account() {
			return nil
		}
		parent, ok := r.set.OfAccount(k.Parent)
		if !ok {
			break
		}
		k = parent
	}
	if what := exceedingLimit(after.limits, was.limits); what != "" {
		return denied(what, "This API key has bounds of its own, and the spend of a key that it has not made does not count there. Use an API key without bounds, or ask an administrator.")
	}
	return nil
}
