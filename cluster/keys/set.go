package keys

import (
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Codes of errors that depend on what else there is.
const (
	codeExists   = "already_exists"
	codeNotFound = "key_not_found"
)

// Set is every key that is known: those of the file and the master key, which
// New is given, and those of the replicated state, which With and Without add
// and remove. It is a radix tree over the hashes, of which a change copies one
// path and shares the rest: 100,000 keys cost a change no more than ten do.
type Set struct {
	trees
	static    int // how many keys the file has
	master    id.KeyHash
	hasMaster bool
}

// trees are the keys in both their orders.
type trees struct {
	keys    *iradix.Tree[*entry] // by hash
	aliases *iradix.Tree[*entry] // by alias; of the replicated state only, where no two have the same
}

// entry is a key, ready to be used. It is immutable.
type entry struct {
	key     Key
	allowed *allowed // nil: everything
}

// change is a change of trees under way.
type change struct {
	keys    *iradix.Txn[*entry]
	aliases *iradix.Txn[*entry]
}

func (t trees) change() change { return change{t.keys.Txn(), t.aliases.Txn()} }

// done returns the trees as they are now. CommitOnly leaves out the notification
// of watchers, of which there are none.
func (c change) done() trees { return trees{c.keys.CommitOnly(), c.aliases.CommitOnly()} }

// put adds an entry, or replaces that of the same hash.
func (c change) put(e *entry) {
	c.remove(e.key.Hash)
	c.keys.Insert(slices.Clone(e.key.Hash[:]), e)
	if e.key.Alias != "" && !e.key.Static {
		c.aliases.Insert([]byte(e.key.Alias), e)
	}
}

// remove takes an entry away, if there is one.
func (c change) remove(h id.KeyHash) {
	old, ok := c.keys.Delete(h[:])
	if !ok || old.key.Alias == "" {
		return
	}
	alias := []byte(old.key.Alias)
	if named, _ := c.aliases.Get(alias); named == old {
		c.aliases.Delete(alias)
	}
}

// New makes a set of the file's keys. The master key may do everything; an empty
// one means that there is none. Errors, one *fault.Error, name the key by its
// place (`keys[3].hash`): two keys with one hash, one with the master's, or a
// model pattern with more than one star.
func New(keys []Key, master vault.Secret) (*Set, error) {
	s := &Set{}
	if !master.IsEmpty() {
		if !wellFormed(master.Reveal()) {
			return nil, fault.Field("master_key", "invalid_value", "The master key is longer than %d bytes or holds a space or an unprintable character; choose another.", MaxLength)
		}
		s.master, s.hasMaster = id.HashKey(master.Reveal()), true
	}
	next := trees{iradix.New[*entry](), iradix.New[*entry]()}.change()
	for i := range keys {
		k := keys[i]
		if _, twice := next.keys.Get(k.Hash[:]); twice {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "Two entries are for the same key; remove one.")
		}
		if s.hasMaster && k.Hash == s.master {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "The key is the master key; give it a value of its own.")
		}
		a, bad := compile(k.Models)
		if bad >= 0 {
			return nil, badPattern(fmt.Sprintf("keys[%d].", i), bad)
		}
		k.Static = true
		next.put(&entry{key: k, allowed: a})
	}
	s.trees, s.static = next.done(), len(keys)
	return s, nil
}

// With returns the set with a key of the replicated state: added, or in place of
// the one of the same hash. s stays as it is. The error is a *fault.Error: Exists
// where the file or the master key has that hash (they win: who can write the
// file owns the node), Malformed for a model pattern with more than one star.
// Whether the alias is free is not known here but by CreateKey.
func (s *Set) With(k Key) (*Set, error) {
	next := s.change()
	if err := s.put(next, &k); err != nil {
		return nil, err
	}
	return s.of(next), nil
}

// WithAll is With for many keys. It leaves out those that With would refuse and
// returns an error for each, which wraps With's and names the key by its hash.
func (s *Set) WithAll(keys []Key) (*Set, []error) {
	next := s.change()
	var refused []error
	for i := range keys {
		if err := s.put(next, &keys[i]); err != nil {
			refused = append(refused, fmt.Errorf("key %v: %w", keys[i].Hash, err))
		}
	}
	return s.of(next), refused
}

// Without returns the set without a key of the replicated state. It returns s
// itself where there is no such key, or only one of the file.
func (s *Set) Without(h id.KeyHash) *Set {
	if e, ok := s.keys.Get(h[:]); !ok || e.key.Static {
		return s
	}
	next := s.change()
	next.remove(h)
	return s.of(next)
}

// put checks a key of the state and adds it.
func (s *Set) put(next change, k *Key) error {
	if s.hasMaster && k.Hash == s.master {
		return taken("The key is this gateway's master key; choose another.")
	}
	if e, ok := next.keys.Get(k.Hash[:]); ok && e.key.Static {
		return taken("The key is in this gateway's configuration file already; choose another, or remove it there.")
	}
	a, bad := compile(k.Models)
	if bad >= 0 {
		return badPattern("", bad)
	}
	e := &entry{key: *k, allowed: a}
	e.key.Static = false
	next.put(e)
	return nil
}

// of returns the set with other keys.
func (s *Set) of(next change) *Set {
	return &Set{trees: next.done(), static: s.static, master: s.master, hasMaster: s.hasMaster}
}

func taken(text string) *fault.Error {
	return &fault.Error{Op: "keys", Kind: fault.Exists, Code: codeExists, Param: "key", Detail: text}
}

func badPattern(at string, i int) *fault.Error {
	return fault.Field(fmt.Sprintf("%smodels[%d]", at, i), "invalid_value", "A model pattern has at most one star, such as openai/*.")
}

// Len returns how many keys there are, the master key not among them.
func (s *Set) Len() int { return s.keys.Len() }

// Cluster returns how many of them come from the replicated state.
func (s *Set) Cluster() int { return s.keys.Len() - s.static }

// Get returns the key of a hash, from the file or the replicated state. The
// caller must not change its slice.
func (s *Set) Get(h id.KeyHash) (Key, bool) {
	e, ok := s.keys.Get(h[:])
	if !ok {
		return Key{}, false
	}
	return e.key, true
}

// ByAlias returns the key of the replicated state that has an alias. Those of
// the file are not found: their aliases are labels, which two may share.
func (s *Set) ByAlias(alias string) (Key, bool) {
	e, ok := s.aliases.Get([]byte(alias))
	if !ok {
		return Key{}, false
	}
	return e.key, true
}

// List returns at most limit keys of the replicated state, without the first
// offset, and how many there are in all. They are ordered by hash: that order
// needs nothing to be kept and never changes. It costs what it skips.
func (s *Set) List(offset, limit int) (page []Key, total int) {
	total = s.Cluster()
	page = make([]Key, 0, max(0, min(limit, total-offset)))
	it := s.keys.Root().Iterator()
	for _, e, ok := it.Next(); ok && len(page) < limit; _, e, ok = it.Next() {
		switch {
		case e.key.Static:
		case offset > 0:
			offset--
		default:
			page = append(page, e.key)
		}
	}
	return page, total
}

// Authenticate returns who presented the credential. The errors are those of
// Parse, and 401 with invalid_api_key, key_blocked or expired_api_key.
func (s *Set) Authenticate(p Presented, now time.Time) (Principal, error) {
	key, err := Parse(p)
	if err != nil {
		return Principal{}, err
	}
	// The look-up is by hash: how long it takes says something about the hash
	// only, from which nobody gets closer to a key.
	h := id.HashKey(key)
	if s.hasMaster && subtle.ConstantTimeCompare(h[:], s.master[:]) == 1 {
		return Principal{Hash: h, Alias: masterAlias, Master: true}, nil
	}
	e, ok := s.keys.Get(h[:])
	switch {
	case !ok:
		return Principal{}, invalid()
	case e.key.Blocked:
		return Principal{}, &fault.Error{Kind: fault.Unauthenticated, Code: "key_blocked", Detail: "This API key is blocked. Ask the gateway's administrator."}
	case !e.key.Expires.IsZero() && !now.Before(e.key.Expires):
		return Principal{}, &fault.Error{Kind: fault.Unauthenticated, Code: "expired_api_key", Detail: "This API key has expired. Ask the gateway's administrator for a new one."}
	}
	return Principal{Hash: h, Alias: e.key.Alias, Cluster: !e.key.Static, allowed: e.allowed}, nil
}
