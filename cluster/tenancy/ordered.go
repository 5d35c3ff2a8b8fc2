package tenancy

import (
	"iter"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// Ordered are the records of a kind that an index has, in its order. Where the index has the same
// value for two records, their keys decide. A walk that begins far inside costs no more than one
// that begins at the first record.
type Ordered[T any] struct {
	table *table.Table[T]
	index int
}

// Len returns how many they are.
func (o Ordered[T]) Len() int { return o.table.Indexed(o.index) }

// From returns them in order, without the first skip.
func (o Ordered[T]) From(skip int) iter.Seq[*T] { return o.table.Sorted(o.index, skip) }

// Backward returns them against the order, without the last skip.
func (o Ordered[T]) Backward(skip int) iter.Seq[*T] { return o.table.Backward(o.index, skip) }

// The lists of keys are of those of the replicated state.

// KeysByAge are all keys, the newest first.
func (s *Set) KeysByAge() Ordered[Key] { return Ordered[Key]{s.keys, keyByAge} }

// KeysByAlias are the keys that have an alias, ordered by it.
func (s *Set) KeysByAlias() Ordered[Key] { return Ordered[Key]{s.keys, keyByAlias} }

// KeysReplaced are the keys that another key has replaced and that are still accepted.
func (s *Set) KeysReplaced() Ordered[Key] { return Ordered[Key]{s.keys, keyBySuccessor} }

// KeysAliased returns the keys whose alias matches, ordered by it.
func (s *Set) KeysAliased(match func(alias string) bool) iter.Seq[*Key] {
	return s.keys.Matching(keyByAlias, match)
}

// KeysIn returns the keys of an organization, those of its teams among them, ordered by hash.
func (s *Set) KeysIn(o id.Organization) iter.Seq[*Key] {
	return s.keys.By(keyByOrganization, []byte(o))
}

// StoredKey returns the key of a hash even where the file has a key of that hash as well.
func (s *Set) StoredKey(h id.KeyHash) (*Key, bool) { return s.keys.Get(h[:]) }

// StoredKeys returns all keys, ordered by hash.
func (s *Set) StoredKeys() iter.Seq[*Key] { return s.keys.All() }

// TeamsByAge are all teams, the newest first.
func (s *Set) TeamsByAge() Ordered[Team] { return Ordered[Team]{s.teams, teamByAge} }

// TeamsByAlias are all teams, ordered by name.
func (s *Set) TeamsByAlias() Ordered[Team] { return Ordered[Team]{s.teams, teamByAlias} }

// AllTeams returns all teams, ordered by id.
func (s *Set) AllTeams() iter.Seq[*Team] { return s.teams.All() }

// UsersByAge are all users, the newest first.
func (s *Set) UsersByAge() Ordered[User] { return Ordered[User]{s.users, userByAge} }

// AllUsers returns all users, ordered by id.
func (s *Set) AllUsers() iter.Seq[*User] { return s.users.All() }

// UserBySSO returns the user of an id at the identity provider.
func (s *Set) UserBySSO(sso string) (*User, bool) { return s.users.One(userBySSO, []byte(sso)) }
