package tenancy

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Replaced reports whether another key has taken the place of this one, which is
// accepted until it expires.
func (k *Key) Replaced() bool { return k.Successor != (id.KeyHash{}) }

func replaced() *fault.Error {
	return &fault.Error{Kind: fault.Conflict, Code: "key_rotated", Param: "key", Detail: "That key was replaced by another one, which it follows until it expires. Name that one; this one can only be deleted."}
}

// RegenerateKey puts a key in the place of another one, old, which is accepted until
// the given time and no longer than it would have been; where that is zero, neither
// it nor any that it has replaced is accepted any more. It returns the errors of Update,
// and Exists if the new key is taken. The new key has the account of the old
// one, and so has the old one as long as it is accepted.
func (s *Set) RegenerateKey(tx *record.Txn, old id.KeyHash, after Key, until time.Time, ifRevision uint64) (*Key, error) {
	before, err := s.changeable(tx, old)
	if err != nil {
		return nil, err
	}
	if before.Replaced() {
		return nil, replaced()
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if err := s.unused(tx, after.Hash, before.Account()); err != nil {
		return nil, err
	}
	if !after.Expires.IsZero() && !after.Expires.After(tx.Time()) {
		return nil, fault.Field("duration", "missing_required_parameter", "The key has expired, and the new one would be expired as well. Give it a duration.")
	}
	if err := s.place(tx, before, &after); err != nil {
		return nil, err
	}
	if err := s.KeyBatch(tx).ready(before, &after); err != nil {
		return nil, err
	}
	s.join(tx, before, &after)
	s.claimAlias(tx, before, &after)
	after.Rotations, after.Rotated = before.Rotations+1, tx.Time()
	after.GraceUntil = time.Time{}
	if !until.IsZero() {
		after.GraceUntil = sooner(sooner(until, before.Expires), after.Expires)
	}
	after.Parent = before.Parent
	after.paysFrom(before.Account())
	s.grow(tx, collection{ofAccount, before.Account().Hex()})
	after.Meta = tx.Stamped(record.Meta{}) // it is a record of its own
	s.lead(tx, old, &after)
	if until.IsZero() {
		s.keys.Delete(tx, before)
	} else {
		s.keys.Put(tx, follow(tx, before, &after))
	}
	s.keys.Put(tx, &after)
	tx.Record(event.KeyRotated(after.Hash, old, event.Place{Organization: after.Organization, Team: after.Team}, before.Limits.bounds(), after.Limits.bounds()))
	tx.RequireFence()
	return &after, nil
}

// lead has the keys that a key has replaced follow it as it is now, under the hash
// that it has now. Without a grace they go: an update revokes them, and the event of a
// rotation stands for all that the rotation ends.
func (s *Set) lead(tx *record.Txn, was id.KeyHash, k *Key) {
	for old := range s.keys.By(keyBySuccessor, was[:]) {
		if k.GraceUntil.IsZero() {
			if was == k.Hash {
				s.revoke(tx, old)
			} else {
				s.keys.Delete(tx, old)
			}
			continue
		}
		if _, ok := s.keys.Read(tx, old.Hash[:]); ok {
			s.keys.Put(tx, follow(tx, old, k))
		}
	}
}

// follow returns a replaced key with the rights of its replacement, until its grace period ends.
func follow(tx *record.Txn, old, k *Key) *Key {
	out := *k
	out.Hash, out.Name, out.Alias, out.Successor = old.Hash, old.Name, "", k.Hash
	out.paysFrom(k.Account())
	out.Rotations, out.Rotated = old.Rotations, old.Rotated
	out.Expires, out.GraceUntil = sooner(k.GraceUntil, old.Expires), time.Time{}
	out.Meta = tx.Stamped(old.Meta)
	return &out
}

// sooner is the earlier of two ends, of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// endGrace has the record of a key say that those that it replaced are accepted
// only as long as those that are left.
func (s *Set) endGrace(tx *record.Txn, h id.KeyHash, gone map[id.KeyHash]*Key) {
	current, ok := s.keys.Read(tx, h[:])
	if !ok {
		return
	}
	k := *current
	k.GraceUntil = time.Time{}
	for old := range s.keys.By(keyBySuccessor, h[:]) {
		if _, also := gone[old.Hash]; !also && old.Expires.After(k.GraceUntil) {
			k.GraceUntil = old.Expires
		}
	}
	k.Meta = tx.Stamped(current.Meta)
	s.keys.Put(tx, &k)
}

// DeleteRetired deletes at most limit replaced keys whose grace period is over, and returns their
// number.
func (s *Set) DeleteRetired(tx *record.Txn, limit int) int {
	n := 0
	for k := range s.keys.Sorted(keyBySuccessor, 0) {
		if n == limit {
			break
		}
		if !k.Expires.IsZero() && k.Expires.Before(tx.Time()) {
			s.keys.Delete(tx, k)
			n++
		}
	}
	return n
}

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
