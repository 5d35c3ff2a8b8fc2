package tenancy

import (
	"crypto/subtle"
	"fmt"
	"iter"
	"time"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Codes of errors that depend on what else there is.
const (
	codeExists   = "already_exists"
	codeNotFound = "key_not_found"
)

// Set has all accounts of the gateway: the master key and the keys of the file, from New, and the
// records of the replicated state, from With. It is immutable and safe for concurrent use. A
// changed Set shares unchanged records, so a change costs no more with 100,000 keys than with ten.
type Set struct {
	tables
	file      map[id.KeyHash]*Key
	master    id.KeyHash
	hasMaster bool
	operator  Aliases // nil in a set that serves no catalogue
}

// New makes a set of the file's keys. The master key may do everything; empty means none. The
// error is a *fault.Error that names the key by its position (`keys[3].hash`): two keys with one
// hash, a key with the master's hash, or a model pattern with more than one star.
func New(keys []Key, master vault.Secret) (*Set, error) {
	s := &Set{tables: newTables(), file: make(map[id.KeyHash]*Key, len(keys))}
	if !master.IsEmpty() {
		if !credential.WellFormed(master.Reveal()) {
			return nil, fault.Field("master_key", "invalid_value", "The master key is longer than %d bytes or holds a space or an unprintable character; choose another.", credential.MaxLength)
		}
		s.master, s.hasMaster = id.HashKey(master.Reveal()), true
	}
	for i := range keys {
		k := keys[i]
		if _, twice := s.file[k.Hash]; twice {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "Two entries are for the same key; remove one.")
		}
		if s.hasMaster && k.Hash == s.master {
			return nil, fault.Field(fmt.Sprintf("keys[%d].hash", i), "duplicate_key", "The key is the master key; give it a value of its own.")
		}
		if err := checkAlias(fmt.Sprintf("keys[%d].key_alias", i), k.Alias); err != nil {
			return nil, err
		}
		var bad int
		if k.allowed, bad = access.Compile(k.Models); bad >= 0 {
			return nil, access.BadPattern(fmt.Sprintf("keys[%d].", i), bad)
		}
		k.Static = true
		s.file[k.Hash] = &k
	}
	return s, nil
}

func taken(text string) *fault.Error {
	return &fault.Error{Op: "keys", Kind: fault.Exists, Code: codeExists, Param: "key", Detail: text}
}

// Len returns how many keys there are, the master key not among them.
func (s *Set) Len() int { return len(s.file) + s.Cluster() }

// Cluster returns how many of them come from the replicated state.
func (s *Set) Cluster() int { return s.keys.Len() }

// Get returns the key of a hash, from the file or the replicated state; the file
// wins, for who can write it owns the node.
func (s *Set) Get(h id.KeyHash) (*Key, bool) {
	if k, ok := s.file[h]; ok {
		return k, true
	}
	return s.keys.Get(h[:])
}

// ByAlias returns the keys of the replicated state that have an alias, at most one of
// each place. Those of the file are not found: their aliases are labels only.
func (s *Set) ByAlias(alias string) iter.Seq[*Key] { return s.keys.By(keyByAlias, []byte(alias)) }

// Authenticate returns who presented the credential. The errors are those of
// credential.Parse, 401 with invalid_api_key (also where what the key belongs to is gone),
// key_blocked or expired_api_key, and 403 with team_blocked or user_blocked.
func (s *Set) Authenticate(p credential.Presented, now time.Time) (Principal, error) {
	key, err := credential.Parse(p)
	if err != nil {
		return Principal{}, err
	}
	// The look-up is by hash: its duration reveals something about the hash only,
	// and that does not help to guess a key.
	h := id.HashKey(key)
	if s.hasMaster && subtle.ConstantTimeCompare(h[:], s.master[:]) == 1 {
		return Principal{Hash: h, Alias: masterAlias, Master: true, set: s}, nil
	}
	k, ok := s.Get(h)
	switch {
	case !ok:
		return Principal{}, credential.Invalid()
	case k.Blocked:
		return Principal{}, blocked("This API key is blocked. Ask the gateway's administrator.")
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return Principal{}, expired("This API key has expired. Ask the gateway's administrator for a new one.")
	}
	who := Principal{Hash: h, Origin: k.Origin, Alias: k.Alias, Cluster: !k.Static, User: k.User, Team: k.Team, Organization: k.Organization, BoundedBy: k.BoundedBy, Type: k.Type, key: k, set: s}
	if k.Parent != (id.KeyHash{}) {
		if err := s.descend(&who, now); err != nil {
			return Principal{}, err
		}
	}
	if k.Team == "" && k.User == "" && k.Organization == "" {
		return who, nil
	}
	return s.belonging(who)
}

func blocked(text string) error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: "key_blocked", Detail: text}
}

func expired(text string) error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: "expired_api_key", Detail: text}
}

// belonging looks up a key's owners. A key with a deleted owner counts as deleted, because it
// would have no bounds.
func (s *Set) belonging(p Principal) (Principal, error) {
	var ok bool
	if p.Team != "" {
		if p.team, ok = s.teams.Get([]byte(p.Team)); !ok {
			return Principal{}, credential.Invalid()
		}
		p.Organization = p.team.Organization
	}
	if p.User != "" {
		if p.user, ok = s.users.Get([]byte(p.User)); !ok {
			return Principal{}, credential.Invalid()
		}
	}
	if p.Team != "" && p.User != "" {
		if p.member, ok = s.teamMembers.Get(record.Join(string(p.Team), string(p.User))); !ok {
			return Principal{}, credential.Invalid()
		}
	}
	if p.Organization != "" {
		if p.organization, ok = s.organizations.Get([]byte(p.Organization)); !ok {
			return Principal{}, credential.Invalid()
		}
	}
	switch {
	case p.team != nil && p.team.Blocked:
		return Principal{}, &fault.Error{Kind: fault.Denied, Code: "team_blocked", Detail: "The team of this API key is blocked. Ask the gateway's administrator."}
	case p.user != nil && p.user.Blocked:
		return Principal{}, &fault.Error{Kind: fault.Denied, Code: "user_blocked", Detail: "The user of this API key is blocked. Ask the gateway's administrator."}
	}
	return p, nil
}

// CheckCustomer denies a request for an end user: 403 with customer_blocked, or with
// model_access_denied for a model, by the name that Resolve returns, that the customer may not
// use. An end user without a record has no bounds.
func (s *Set) CheckCustomer(u id.EndUser, model id.ModelName) error {
	found, ok := s.customers.Get(customerKey(u))
	switch {
	case !ok:
		return nil
	case found.Blocked:
		return &fault.Error{Kind: fault.Denied, Code: "customer_blocked", Param: "user", Detail: "The end user that the request names is blocked."}
	case !found.allowed.Has(string(model)):
		return &fault.Error{Kind: fault.Denied, Code: "model_access_denied", Param: "model", Detail: "The end user that the request names may not use that model, or there is no model of that name."}
	}
	return nil
}
