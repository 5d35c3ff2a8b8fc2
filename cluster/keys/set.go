package keys

import (
	"crypto/subtle"
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Key is one virtual key as it is configured or stored.
type Key struct {
	Alias   string     // label, for people; may be empty
	Hash    id.KeyHash // SHA-256 of the whole key
	Models  []string   // what it may use; empty means everything, see Principal.Allows
	Expires time.Time  // from then on it is refused; zero means never
	Blocked bool
}

// Set is every key that is known.
type Set struct {
	keys      map[id.KeyHash]*entry
	master    id.KeyHash
	hasMaster bool
}

// entry is a key, ready to be used.
type entry struct {
	alias   string
	expires time.Time
	blocked bool
	allowed *allowed // nil: everything
}

// New makes a set. The master key may do everything; an empty one means that
// there is none. Errors, one *fault.Error, name the key by its place
// (`keys[3].hash`): two keys with one hash, one with the master's, or a model
// pattern with more than one star.
func New(keys []Key, master vault.Secret) (*Set, error) {
	s := &Set{keys: make(map[id.KeyHash]*entry, len(keys))}
	if !master.IsEmpty() {
		if !wellFormed(master.Reveal()) {
			return nil, fault.Field("master_key", "invalid_value", "The master key is longer than %d bytes or holds a space or an unprintable character; choose another.", MaxLength)
		}
		s.master, s.hasMaster = id.HashKey(master.Reveal()), true
	}
	for i := range keys {
		k := &keys[i]
		if _, twice := s.keys[k.Hash]; twice {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "Two entries are for the same key; remove one.")
		}
		if s.hasMaster && k.Hash == s.master {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "The key is the master key; give it a value of its own.")
		}
		a, bad := compile(k.Models)
		if bad >= 0 {
			return nil, fault.Field(fmt.Sprintf("keys[%d].models[%d]", i, bad), "invalid_value", "A model pattern has at most one star, such as openai/*.")
		}
		s.keys[k.Hash] = &entry{alias: k.Alias, expires: k.Expires, blocked: k.Blocked, allowed: a}
	}
	return s, nil
}

// Len returns how many keys there are, the master key not among them.
func (s *Set) Len() int { return len(s.keys) }

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
	e, ok := s.keys[h]
	switch {
	case !ok:
		return Principal{}, invalid()
	case e.blocked:
		return Principal{}, &fault.Error{Kind: fault.Unauthenticated, Code: "key_blocked", Detail: "This API key is blocked. Ask the gateway's administrator."}
	case !e.expires.IsZero() && !now.Before(e.expires):
		return Principal{}, &fault.Error{Kind: fault.Unauthenticated, Code: "expired_api_key", Detail: "This API key has expired. Ask the gateway's administrator for a new one."}
	}
	return Principal{Hash: h, Alias: e.alias, allowed: e.allowed}, nil
}
