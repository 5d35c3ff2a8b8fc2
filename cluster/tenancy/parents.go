package tenancy

import (
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// A key with bounds of its own would multiply them by making keys with the same bounds.
// So a key that it makes is its child for life: a request of the child counts at the
// child's accounts and at those of all keys above it, and is bounded by all of them.
// A link names an account, and so outlives a regeneration of the parent.

// MostParents is how many keys there may be above a key.
const MostParents = 4

// descend looks up the keys above that of a principal. A child is not accepted when a
// key above it is gone, blocked or expired: the bounds would else end with the parent,
// and a key that was stolen would live on in its children.
func (s *Set) descend(p *Principal, now time.Time) error {
	for k := p.key; k.Parent != (id.KeyHash{}); {
		parent, ok := s.OfAccount(k.Parent)
		switch {
		case !ok || len(p.parents) == MostParents || slices.Contains(p.Parents, k.Parent):
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
		limits := b.set.Terms(nil, k.Limits)
		b.whole(id.Account{Kind: id.AccountKey, Owner: b.parent.Hex()}, &limits)
	}
	b.parent = id.KeyHash{}
}

// inheritedOfModel adds the bounds that those keys have for the model.
func (b *bounder) inheritedOfModel(p Principal) {
	for i, k := range p.parents {
		b.parent = p.Parents[i]
		limits := b.set.Terms(nil, k.Limits)
		b.ofModel(id.Account{Kind: id.AccountKeyModel, Owner: b.parent.Hex()}, &limits)
	}
	b.parent = id.KeyHash{}
}
