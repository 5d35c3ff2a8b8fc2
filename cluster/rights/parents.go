package rights

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// SetParent links a new key to the key that makes it, if that one, or one above it, has
// bounds. A proxy_admin's keys have no children: a proxy_admin may set every bound, so
// none would bound it. It denies a child of a key that has MostParents above it.
func (r *Rights) SetParent(k *tenancy.Key) error {
	k.Parent = id.KeyHash{}
	if r.Admin() || r.key == nil || !r.bounded() {
		return nil
	}
	if above := keysAbove(r.set, r.tx, r.key); above >= tenancy.MostParents {
		return denied("", "This API key was made by a key that was made by another, %d in a row, and must not make more. Use the first of them, or one without bounds of its own.", above)
	}
	k.Parent = r.key.Account()
	return nil
}

// SetBoundedBy sets the user whose bounds hold for a key, as the operation would leave it, that
// belongs to a team and to no user. It is the admin or member of the team who makes the key, so
// all such keys together spend what that user may. The user stays until another admin of the team
// regenerates the key and thereby gets it. An org_admin and a proxy_admin may set every bound
// there, so their keys name no user.
func (r *Rights) SetBoundedBy(op string, before, k *tenancy.Key) {
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
	l := r.set.Terms(r.tx, r.key.Limits)
	return !l.Empty()
}

// keysAbove is how many keys are above a key.
func keysAbove(s *tenancy.Set, tx *record.Txn, k *tenancy.Key) int {
	n := 0
	for ; k.Parent != (id.KeyHash{}) && n < tenancy.MostParents; n++ {
		parent, ok := s.OfAccount(k.Parent)
		if !ok {
			return tenancy.MostParents
		}
		if tx != nil { // so that the parent is there when the change is committed
			if parent, ok = s.Key(tx, parent.Hash); !ok {
				return tenancy.MostParents
			}
		}
		k = parent
	}
	return n
}

// checkRaise denies the key that asks to raise the bounds of a key that is not below it,
// if it has bounds itself: what that key spends does not count at its own account.
func (r *Rights) checkRaise(before *tenancy.Key, after, was effective) error {
	if r.key == nil || !r.bounded() || before.Account() == r.key.Account() {
		return nil
	}
	for k, n := before, 0; k.Parent != (id.KeyHash{}) && n <= tenancy.MostParents; n++ {
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
