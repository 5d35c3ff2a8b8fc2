package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// An alias is unique within the place of its key: among the keys of a team, or among
// the keys outside teams that one user has in one organization. If it were unique in the
// whole gateway, a conflict would reveal the aliases of other organizations. The place
// is as narrow as that because callers that make a key there may see all its keys. The
// organization of a team is not part of the place, so a team that moves to another
// organization takes its aliases along.

// aliasName is the name that claims the alias of a key in its place; nil for a key
// without alias. No alias begins with a zero byte, so it equals no claim of an earlier
// version.
func aliasName(k *Key) []byte {
	switch {
	case k.Alias == "":
		return nil
	case k.Team != "":
		return record.Join("", "t", string(k.Team), k.Alias)
	}
	return record.Join("", "u", string(k.Organization), string(k.User), k.Alias)
}

// heldClaim is the name that the alias of a stored key is claimed under.
func heldClaim(k *Key) []byte {
	if k.aliasInPlace {
		return aliasName(k)
	}
	return []byte(k.Alias)
}

// aliasClaims are the values of keyByAliasClaim: the name in the place, and for a key of
// an earlier version also the claim that it holds.
func aliasClaims(k *Key) [][]byte {
	switch {
	case k.Alias == "":
		return nil
	case k.aliasInPlace:
		return [][]byte{aliasName(k)}
	}
	return [][]byte{aliasName(k), []byte(k.Alias)}
}

// sameAlias reports whether two versions of a key have one alias in one place.
func sameAlias(a, b *Key) bool { return string(aliasName(a)) == string(aliasName(b)) }

// checkAlias rejects an alias that a key is about to get, or takes into another place,
// if it is reserved or another key of the place has it.
func (b *KeyBatch) checkAlias(before, k *Key) error {
	name := aliasName(k)
	if name == nil || sameAlias(before, k) {
		return nil
	}
	if k.Alias != before.Alias {
		if err := checkAlias("key_alias", k.Alias); err != nil {
			return err
		}
	}
	if _, ok := b.set.keys.One(keyByAliasClaim, name); ok {
		return occupied("key_alias", "Another key of the same team, or of the same user, has that key_alias; choose another, or delete that key first.")
	}
	if _, ok := b.aliases[string(name)]; ok {
		return fault.Field("key_alias", "duplicate_value", "The request gives one key_alias to two keys.")
	}
	return nil
}

// claimAlias releases the alias of a key as it was and claims the one that it has now,
// in its place. before is empty for a new key, and k for one that is deleted.
func (s *Set) claimAlias(tx *record.Txn, before, k *Key) {
	if before.Alias != "" {
		tx.Release(store.SpaceKeyAlias, heldClaim(before))
	}
	if k.Alias == "" {
		return
	}
	k.aliasInPlace = true
	tx.Claim(store.SpaceKeyAlias, aliasName(k), k.Hash[:])
	if _, ok := s.keys.One(keyByAliasClaim, []byte(k.Alias)); !ok {
		// A node of an earlier version may give the alias to a key of this place at the
		// same time. It claims the alias alone, so that claim must still be absent.
		tx.Require(record.At{Space: store.SpaceKeyAlias, Key: []byte(k.Alias)}, 0)
	}
}
