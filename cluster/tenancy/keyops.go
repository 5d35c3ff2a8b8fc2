package tenancy

import (
	"fmt"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// CreateKey adds a key, in a transaction that is decided by this set. It returns
// Exists if the hash (Param key) or the alias (Param key_alias) is taken,
// with NotFound for a team, user, organization or budget that is not there, and is
// Malformed where these do not fit together, for limits that make no sense, and for
// a model pattern with more than one star.
func (s *Set) CreateKey(tx *record.Txn, k Key) (*Key, error) {
	if err := s.place(tx, &Key{}, &k); err != nil {
		return nil, err
	}
	return s.insertKey(tx, k, event.Place{Organization: k.Organization, Team: k.Team})
}

// insertKey is CreateKey without checking the owner of the key, for a user that the same
// transaction makes. in is the place in the key's event.
func (s *Set) insertKey(tx *record.Txn, k Key, in event.Place) (*Key, error) {
	if err := s.unused(tx, k.Hash, id.KeyHash{}); err != nil {
		return nil, err
	}
	k.Static, k.Successor, k.Origin = false, id.KeyHash{}, id.KeyHash{}
	if err := s.KeyBatch(tx).ready(&Key{}, &k); err != nil {
		return nil, err
	}
	s.join(tx, &Key{}, &k)
	s.claimAlias(tx, &Key{}, &k)
	k.Meta = tx.Stamped(record.Meta{})
	s.keys.Put(tx, &k)
	tx.Record(event.KeyCreated(k.Hash, in))
	return &k, nil
}

// unused rejects a hash that a key has, or whose account another key uses. own is the account of
// the key that will have the hash, zero for a new one.
func (s *Set) unused(tx *record.Txn, h, own id.KeyHash) error {
	if s.hasMaster && h == s.master {
		return taken("The key is this gateway's master key; choose another.")
	}
	if _, ok := s.file[h]; ok {
		return taken("The key is in this gateway's configuration file already; choose another, or remove it there.")
	}
	if _, ok := s.keys.Read(tx, h[:]); ok {
		return taken("That key exists already; choose another, or leave it out to have one made.")
	}
	return s.unpaid(tx, h, own)
}

// Key returns a key, of the file or of the state, as Get does: for a transaction,
// or for an answer where tx is nil.
func (s *Set) Key(tx *record.Txn, h id.KeyHash) (*Key, bool) {
	if k, ok := s.file[h]; ok {
		return k, true
	}
	return find(tx, s.keys, h[:])
}

// changeable returns a key that a request changes: one of the state.
func (s *Set) changeable(tx *record.Txn, h id.KeyHash) (*Key, error) {
	k, ok := s.Key(tx, h)
	switch {
	case !ok:
		return nil, absent(codeNotFound, "key", "There is no such key.")
	case k.Static:
		return nil, inFile()
	}
	return k, nil
}

func inFile() *fault.Error {
	return &fault.Error{Kind: fault.Conflict, Code: "defined_in_file", Param: "key", Detail: "That key stands in the configuration file; change it there and restart."}
}

// KeyBatch changes keys in one transaction, which does not see its own changes: the
// batch remembers them, so that no two of its keys of one place get one alias and no key is
// changed twice. A method that returns an error has changed nothing.
type KeyBatch struct {
	set     *Set
	tx      *record.Txn
	keys    map[id.KeyHash]struct{}
	aliases map[string]struct{} // claimed, by aliasName
}

// KeyBatch begins a batch in a transaction that is decided by this set.
func (s *Set) KeyBatch(tx *record.Txn) *KeyBatch {
	return &KeyBatch{set: s, tx: tx, keys: map[id.KeyHash]struct{}{}, aliases: map[string]struct{}{}}
}

// Update puts a key in place of the one with its hash; those that it replaced and
// that are accepted still follow it. It returns the errors of CreateKey, NotFound
// if there is no such key, and Conflict for one of the file, for one that
// was replaced, and where ifRevision is given and is not its current revision.
func (b *KeyBatch) Update(after Key, ifRevision uint64) (*Key, error) {
	s, tx := b.set, b.tx
	if _, twice := b.keys[after.Hash]; twice {
		return nil, fault.Field("key", "duplicate_value", "The request names the key twice; name it once.")
	}
	before, err := s.changeable(tx, after.Hash)
	if err != nil {
		return nil, err
	}
	if before.Replaced() {
		return nil, replaced()
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if err := s.place(tx, before, &after); err != nil {
		return nil, err
	}
	if err := b.ready(before, &after); err != nil {
		return nil, err
	}
	b.keys[after.Hash] = struct{}{}
	s.join(tx, before, &after)
	if after.aliasInPlace = before.aliasInPlace; !sameAlias(before, &after) {
		b.aliases[string(aliasName(&after))] = struct{}{}
		s.claimAlias(tx, before, &after)
	}
	if after.takes(before) {
		tx.RequireFence()
	}
	after.Origin, after.Parent, after.Meta = before.Origin, before.Parent, tx.Stamped(before.Meta)
	if !after.GraceUntil.IsZero() {
		after.GraceUntil = sooner(after.GraceUntil, after.Expires)
	}
	s.lead(tx, before.Hash, &after)
	s.keys.Put(tx, &after)
	return &after, nil
}

// ready sees that a key can be written as it is, in the place of another or of
// none. The last thing that it does is to note the use of the key's budget,
// default prompt and guardrails.
func (b *KeyBatch) ready(before, k *Key) error {
	var bad int
	if k.allowed, bad = access.Compile(k.Models); bad >= 0 {
		return access.BadPattern("", bad)
	}
	if err := k.Limits.Check(""); err != nil {
		return err
	}
	k.Limits.Models = b.set.keyModels(b.tx, before, k)
	if err := access.CheckRoutes("allowed_routes", k.AllowedRoutes); err != nil {
		return err
	}
	if err := b.checkAlias(before, k); err != nil {
		return err
	}
	if err := b.set.useBudget(b.tx, before.Limits.Budget, k.Limits.Budget); err != nil {
		return err
	}
	b.set.useDefaultPrompt(b.tx, before.Prompts, k.Prompts)
	b.set.UseGuardrails(b.tx, before.Guardrails, k.Guardrails)
	return nil
}

// takes reports whether a key may do less than before, or may do so.
func (k *Key) takes(before *Key) bool {
	return k.Blocked && !before.Blocked ||
		!k.Expires.IsZero() && (before.Expires.IsZero() || k.Expires.Before(before.Expires)) ||
		k.Team != before.Team || k.User != before.User || k.Organization != before.Organization ||
		k.Type != before.Type && k.Type != access.TypeDefault ||
		len(k.AllowedRoutes) > 0 && !slices.Equal(k.AllowedRoutes, before.AllowedRoutes) ||
		k.Prompts.takes(before.Prompts) || takesGuardrails(before.Guardrails, k.Guardrails) ||
		narrows(before.Models, k.Models, before.Limits, k.Limits)
}

// UpdateKey is Update of a batch of one.
func (s *Set) UpdateKey(tx *record.Txn, after Key, ifRevision uint64) (*Key, error) {
	return s.KeyBatch(tx).Update(after, ifRevision)
}

// DeleteKeys removes keys and frees their aliases, all of them or none. It returns
// NotFound for the first that is not there, and Conflict for one of the
// file. A hash that is given twice counts once.
func (s *Set) DeleteKeys(tx *record.Txn, hashes []id.KeyHash) error {
	gone := make(map[id.KeyHash]*Key, len(hashes))
	for i, h := range hashes {
		k, err := s.changeable(tx, h)
		if err != nil {
			e := *fault.From(err)
			e.Param = fmt.Sprintf("keys[%d]", i)
			if e.Kind == fault.NotFound {
				e.Detail = fmt.Sprintf("There is no key %v that was made at run time; no key was deleted.", h)
			}
			return &e
		}
		gone[h] = k
		for old := range s.keys.By(keyBySuccessor, h[:]) {
			gone[old.Hash] = old
		}
	}
	for _, k := range gone {
		s.deleteKey(tx, k)
	}
	for _, k := range gone {
		if _, also := gone[k.Successor]; k.Replaced() && !also {
			s.endGrace(tx, k.Successor, gone)
		}
	}
	return nil
}

// deleteKey removes a key, with those that it replaced, and frees its alias.
func (s *Set) deleteKey(tx *record.Txn, k *Key) {
	for old := range s.keys.By(keyBySuccessor, k.Hash[:]) {
		s.revoke(tx, old)
	}
	s.revoke(tx, k)
	s.claimAlias(tx, k, &Key{})
	tx.RequireFence()
}

// revoke deletes the record of a key, and records that.
func (s *Set) revoke(tx *record.Txn, k *Key) {
	s.keys.Delete(tx, k)
	tx.Record(event.KeyRevoked(k.Hash, s.placeOf(k)))
}
