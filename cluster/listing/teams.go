package listing

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// What a list of teams may be sorted by.
const (
	TeamsByAge   = "created_at"
	TeamsByID    = "team_id"
	TeamsByAlias = "team_alias"
)

// TeamQuery says which teams a list has. A zero field asks for nothing.
type TeamQuery struct {
	ID           id.Team
	User         id.User // is a member
	Organization id.Organization
	Alias        string // is part of the name, in any case
	Sort         string // one of the above; TeamsByAge if empty
	Descending   bool
	Offset       int
	Limit        int                      // 0: all
	May          func(*tenancy.Team) bool // whether the caller may see the team; nil: may see all
	Near         id.User                  // with May: only teams of this user, and of its organizations, can be seen
}

// Teams returns a page of the teams that match, and how many match in all. Without
// a filter, and not by id, it costs what it skips; else it looks at all teams that
// the most telling filter leaves.
func Teams(s *tenancy.Set, q TeamQuery) (page []*tenancy.Team, total int) {
	if q.plain() {
		return indexedTeams(s, q)
	}
	q.Alias = strings.ToLower(q.Alias)
	var found []*tenancy.Team
	for t := range candidateTeams(s, q) {
		if q.has(s, t) {
			found = append(found, t)
		}
	}
	q.sort(found)
	total = len(found)
	from, to := q.window(total)
	return found[from:to], total
}

// plain reports whether the list is all teams as an index has them.
func (q TeamQuery) plain() bool {
	return q.ID == "" && q.User == "" && q.Organization == "" && q.Alias == "" && q.May == nil && q.Sort != TeamsByID
}

// window is the part of a list that is asked for.
func (q TeamQuery) window(total int) (from, to int) {
	from, to = min(q.Offset, total), total
	if q.Limit > 0 {
		to = min(from+q.Limit, total)
	}
	return from, to
}

// indexedTeams returns a page of all teams. The index by age has the newest first,
// the one by name does not have the last first.
func indexedTeams(s *tenancy.Set, q TeamQuery) (page []*tenancy.Team, total int) {
	index, reversed := s.TeamsByAge(), !q.Descending
	if q.Sort == TeamsByAlias {
		index, reversed = s.TeamsByAlias(), q.Descending
	}
	walk := index.From
	if reversed {
		walk = index.Backward
	}
	total = index.Len()
	from, to := q.window(total)
	return table.Take(walk(from), to-from), total
}

// candidateTeams returns teams among which all are that can match, each once.
func candidateTeams(s *tenancy.Set, q TeamQuery) iter.Seq[*tenancy.Team] {
	var ids []id.Team
	switch {
	case q.ID != "":
		ids = []id.Team{q.ID}
	case q.User != "":
		for m := range s.TeamsOf(q.User) {
			ids = append(ids, m.Team)
		}
	case q.Organization != "":
		return s.TeamsIn(q.Organization)
	case q.May != nil:
		for m := range s.TeamsOf(q.Near) {
			ids = append(ids, m.Team)
		}
		for m := range s.OrganizationsOf(q.Near) {
			for t := range s.TeamsIn(m.Organization) {
				ids = append(ids, t.ID)
			}
		}
	default:
		return s.AllTeams()
	}
	return withIDs(ids, s.Team)
}

// withIDs yields the records with ids in the order of the ids, each once. It takes the slice over.
func withIDs[I cmp.Ordered, R any](ids []I, get func(*record.Txn, I) (*R, bool)) iter.Seq[*R] {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return func(yield func(*R) bool) {
		for _, of := range ids {
			if r, ok := get(nil, of); ok && !yield(r) {
				return
			}
		}
	}
}

// has reports whether a team is one of those that are asked for. The name of the
// query is in lower case.
func (q TeamQuery) has(s *tenancy.Set, t *tenancy.Team) bool {
	switch {
	case q.ID != "" && t.ID != q.ID,
		q.Organization != "" && t.Organization != q.Organization,
		q.Alias != "" && !contains(t.Alias, q.Alias):
		return false
	}
	if q.User != "" {
		if _, ok := s.TeamMember(nil, t.ID, q.User); !ok {
			return false
		}
	}
	return q.May == nil || q.May(t)
}

// sort orders teams, by id where what they are sorted by is the same.
func (q TeamQuery) sort(list []*tenancy.Team) {
	by := func(a, b *tenancy.Team) int { return a.CreatedAt.Compare(b.CreatedAt) }
	switch q.Sort {
	case TeamsByID:
		by = func(*tenancy.Team, *tenancy.Team) int { return 0 }
	case TeamsByAlias:
		by = func(a, b *tenancy.Team) int { return cmp.Compare(a.Alias, b.Alias) }
	}
	slices.SortFunc(list, func(a, b *tenancy.Team) int { return cmp.Or(by(a, b), cmp.Compare(a.ID, b.ID)) })
	if q.Descending {
		slices.Reverse(list)
	}
}
