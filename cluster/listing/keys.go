package listing

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// What a list of keys may be sorted by.
const (
	KeysByAge     = "created_at"
	KeysByAlias   = "key_alias" // those without one come last
	KeysByExpires = "expires"   // those without an end come last
)

// KeyQuery says which keys of the replicated state a list has. A zero field asks
// for nothing.
type KeyQuery struct {
	Hash          id.KeyHash
	Alias         string
	Search        string // is part of the alias, in any case
	Named         bool   // has an alias
	User          id.User
	Team          id.Team
	Organization  id.Organization
	Status        string
	Now           time.Time // that Status goes by
	Sort          string    // one of the above; KeysByAge if empty
	Descending    bool
	Offset, Limit int
	May           func(*tenancy.Key) bool // whether the caller may see the key; nil: may see all
	Near          id.User                 // with May: no other keys can be seen than those of the user, its teams and its organizations
}

// Keys returns a page of the keys that match, and how many match in all. Where the
// list is an index it costs what is on the page; else it looks at all keys that the
// most telling filter leaves.
func Keys(s *tenancy.Set, q KeyQuery) (page []*tenancy.Key, total int) {
	q.Limit = max(q.Limit, 0)
	if index, ok := q.index(s); ok {
		walk := index.From
		if q.backwards() {
			walk = index.Backward
		}
		return table.Take(walk(q.Offset), q.Limit), index.Len()
	}
	q.Search = strings.ToLower(q.Search)
	candidates, sorted := candidateKeys(s, q)
	if !sorted {
		return q.best(candidates)
	}
	var found []*tenancy.Key
	for k := range candidates {
		if q.has(k) {
			found = append(found, k)
		}
	}
	if q.backwards() {
		slices.Reverse(found)
	}
	total = len(found)
	return found[min(q.Offset, total):min(q.Offset+q.Limit, total)], total
}

// index returns the index whose keys, all of them and in its order, are the list; ok
// is false where no index is the list.
func (q *KeyQuery) index(s *tenancy.Set) (index tenancy.Ordered[tenancy.Key], ok bool) {
	if q.May != nil || q.Hash != (id.KeyHash{}) || q.Alias != "" || q.Search != "" || q.User != "" || q.Team != "" || q.Organization != "" || q.Status != "" {
		return index, false
	}
	if q.Named {
		return s.KeysByAlias(), q.Sort == KeysByAlias
	}
	return s.KeysByAge(), q.Sort == "" || q.Sort == KeysByAge
}

// backwards reports whether the list goes against the order that keys are sorted
// in: the newest first, else ascending.
func (q *KeyQuery) backwards() bool { return q.Descending != (q.Sort == "" || q.Sort == KeysByAge) }

// candidateKeys returns keys among which all are that can match, each once, and
// whether they come as they are to be sorted.
func candidateKeys(s *tenancy.Set, q KeyQuery) (keys iter.Seq[*tenancy.Key], sorted bool) {
	switch {
	case q.Hash != (id.KeyHash{}):
		return keyOf(s, q.Hash), true
	case q.Alias != "":
		return s.ByAlias(q.Alias), true
	case q.User != "":
		return s.KeysOf(q.User), false
	case q.Team != "":
		return s.TeamKeys(q.Team), false
	case q.May != nil:
		return keysNear(s, q.Near), false
	case q.Organization != "":
		return s.KeysIn(q.Organization), false
	case q.Status == tenancy.StatusRotated:
		return s.KeysReplaced().From(0), false
	case q.Search != "":
		return s.KeysAliased(func(alias string) bool { return contains(alias, q.Search) }), q.Sort == KeysByAlias
	case q.Sort == KeysByAlias:
		return namedFirst(s, q), true
	default:
		return s.KeysByAge().From(0), q.Sort != KeysByExpires
	}
}

// keyOf returns the key of a hash, if there is one.
func keyOf(s *tenancy.Set, h id.KeyHash) iter.Seq[*tenancy.Key] {
	return func(yield func(*tenancy.Key) bool) {
		if k, ok := s.StoredKey(h); ok {
			yield(k)
		}
	}
}

// namedFirst returns the keys that have an alias, ordered by it, and then, where
// the query asks for such, those that have none.
func namedFirst(s *tenancy.Set, q KeyQuery) iter.Seq[*tenancy.Key] {
	return func(yield func(*tenancy.Key) bool) {
		for k := range s.KeysByAlias().From(0) {
			if !yield(k) {
				return
			}
		}
		if q.Named || s.KeysByAlias().Len() == s.Cluster() {
			return
		}
		for k := range s.StoredKeys() {
			if k.Alias == "" && !yield(k) {
				return
			}
		}
	}
}

// keysNear returns the keys of a user, of its teams and of its organizations, each
// once.
func keysNear(s *tenancy.Set, u id.User) iter.Seq[*tenancy.Key] {
	teams := map[id.Team]bool{}
	for m := range s.TeamsOf(u) {
		teams[m.Team] = true
	}
	return func(yield func(*tenancy.Key) bool) {
		for k := range s.KeysOf(u) {
			if !yield(k) {
				return
			}
		}
		for m := range s.TeamsOf(u) {
			for k := range s.TeamKeys(m.Team) {
				if k.User != u && !yield(k) {
					return
				}
			}
		}
		for m := range s.OrganizationsOf(u) {
			for k := range s.KeysIn(m.Organization) {
				if k.User != u && !teams[k.Team] && !yield(k) {
					return
				}
			}
		}
	}
}

// has reports whether a key is one of those that are asked for. The text of the
// query is in lower case.
func (q *KeyQuery) has(k *tenancy.Key) bool {
	switch {
	case q.Hash != (id.KeyHash{}) && k.Hash != q.Hash,
		q.Alias != "" && k.Alias != q.Alias,
		q.Named && k.Alias == "",
		q.Search != "" && !contains(k.Alias, q.Search),
		q.User != "" && k.User != q.User,
		q.Team != "" && k.Team != q.Team,
		q.Organization != "" && k.Organization != q.Organization,
		q.Status != "" && k.Status(q.Now) != q.Status:
		return false
	}
	return q.May == nil || q.May(k)
}

// rank is where a key comes in a list: by a time or a text, and where these are the
// same by its hash, as in the indexes.
type rank struct {
	at   int64
	name string
	key  *tenancy.Key
}

func (a rank) compare(b rank) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.name != b.name:
		return cmp.Compare(a.name, b.name)
	}
	return bytes.Compare(a.key.Hash[:], b.key.Hash[:])
}

// rank is the place of a key: by age the newest is first, else it is ascending.
func (q *KeyQuery) rank(k *tenancy.Key) rank {
	r := rank{key: k}
	switch {
	case q.Sort == KeysByAlias && k.Alias == "":
		r.at = 1
	case q.Sort == KeysByAlias:
		r.name = k.Alias
	case q.Sort == KeysByExpires && k.Expires.IsZero():
		r.at = math.MaxInt64
	case q.Sort == KeysByExpires:
		r.at = record.Nanos(k.Expires)
	default:
		r.at = -record.Nanos(k.CreatedAt)
	}
	return r
}

// best returns the page of a list whose keys come in no order. It sorts no more of
// them than may be on the page or before it.
func (q *KeyQuery) best(keys iter.Seq[*tenancy.Key]) (page []*tenancy.Key, total int) {
	order := rank.compare
	if q.backwards() {
		order = func(a, b rank) int { return b.compare(a) }
	}
	want := max(q.Offset+q.Limit, 1)
	var found []rank
	last := rank{} // of those that are wanted, once there are as many
	for k := range keys {
		if !q.has(k) {
			continue
		}
		r := q.rank(k)
		if total++; last.key != nil && order(r, last) > 0 {
			continue
		}
		if found = append(found, r); len(found) == 2*want+256 {
			slices.SortFunc(found, order)
			found, last = found[:want], found[want-1]
		}
	}
	slices.SortFunc(found, order)
	for _, r := range found[min(q.Offset, len(found)):min(q.Offset+q.Limit, len(found))] {
		page = append(page, r.key)
	}
	return page, total
}
