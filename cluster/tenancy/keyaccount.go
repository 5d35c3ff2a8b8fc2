package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// A key has one account for life: what it spends, what it may spend and how fast are
// counted under the hash that it had first. Regenerations give it other hashes, and
// until the grace of one is over the key is known by two of them at once.

// Account is the hash that the key's account is kept under.
func (k *Key) Account() id.KeyHash {
	if k.Origin == (id.KeyHash{}) {
		return k.Hash
	}
	return k.Origin
}

// paysFrom gives the key an account.
func (k *Key) paysFrom(account id.KeyHash) {
	if k.Origin = account; account == k.Hash {
		k.Origin = id.KeyHash{}
	}
}

// Account is the hash that the account of the principal's key is kept under.
func (p Principal) Account() id.KeyHash {
	if p.Origin == (id.KeyHash{}) {
		return p.Hash
	}
	return p.Origin
}

// OfAccount returns the key that has an account, by the hash that it has now; not one
// that it has replaced.
func (s *Set) OfAccount(account id.KeyHash) (*Key, bool) {
	for k := range s.keys.By(keyByOrigin, account[:]) {
		if !k.Replaced() {
			return k, true
		}
	}
	k, ok := s.Get(account)
	return k, ok && k.Account() == account && !k.Replaced()
}

// unpaid rejects the hash of a deleted key whose account another key uses: two keys would share
// one budget. Only that other key may take the hash again.
func (s *Set) unpaid(tx *record.Txn, h, own id.KeyHash) error {
	if h == own {
		return nil
	}
	s.sawAll(tx, collection{ofAccount, h.Hex()})
	if _, ok := s.keys.One(keyByOrigin, h[:]); ok {
		return taken("That key was replaced by another one, which goes on with its account; choose another, or leave it out to have one made.")
	}
	return nil
}
