package tenancy

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// TeamKeys returns the keys of a team, in no order that says anything.
func (s *Set) TeamKeys(t id.Team) iter.Seq[*Key] { return s.keys.By(keyByTeam, []byte(t)) }

// AllUsers returns all users, ordered by id.
func (s *Set) AllUsers() iter.Seq[*User] { return s.users.All() }

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
	Limit        int              // 0: all
	May          func(*Team) bool // who asks may see the team; nil: may see all
	Near         id.User          // with May: only teams of this user, and of its organizations, can be seen
}

// Teams returns a page of the teams that match, and how many match in all. Without
// a filter, and not by id, it costs what it skips; else it looks at all teams that
// the most telling filter leaves.
func (s *Set) Teams(q TeamQuery) (page []*Team, total int) {
	if q.plain() {
		return s.indexedTeams(q)
	}
	q.Alias = strings.ToLower(q.Alias)
	var found []*Team
	for t := range s.candidateTeams(q) {
		if s.hasTeam(q, t) {
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
func (s *Set) indexedTeams(q TeamQuery) (page []*Team, total int) {
	index, reversed := teamByAge, !q.Descending
	if q.Sort == TeamsByAlias {
		index, reversed = teamByAlias, q.Descending
	}
	walk := s.teams.Sorted
	if reversed {
		walk = s.teams.Backward
	}
	from, to := q.window(s.teams.Len())
	return table.Take(walk(index, from), to-from), s.teams.Len()
}

// candidateTeams returns teams among which all are that can match, each once.
func (s *Set) candidateTeams(q TeamQuery) iter.Seq[*Team] {
	var ids []id.Team
	switch {
	case q.ID != "":
		ids = []id.Team{q.ID}
	case q.User != "":
		for m := range s.TeamsOf(q.User) {
			ids = append(ids, m.Team)
		}
	case q.Organization != "":
		return s.teams.By(teamByOrganization, []byte(q.Organization))
	case q.May != nil:
		for m := range s.TeamsOf(q.Near) {
			ids = append(ids, m.Team)
		}
		for m := range s.OrganizationsOf(q.Near) {
			for t := range s.teams.By(teamByOrganization, []byte(m.Organization)) {
				ids = append(ids, t.ID)
			}
		}
	default:
		return s.teams.All()
	}
	slices.Sort(ids)
	return func(yield func(*Team) bool) {
		for _, of := range slices.Compact(ids) {
			if t, ok := s.Team(nil, of); ok && !yield(t) {
				return
			}
		}
	}
}

// hasTeam reports whether a team is one of those that are asked for. The name of the
// query is in lower case.
func (s *Set) hasTeam(q TeamQuery, t *Team) bool {
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
func (q TeamQuery) sort(list []*Team) {
	by := func(a, b *Team) int { return a.CreatedAt.Compare(b.CreatedAt) }
	switch q.Sort {
	case TeamsByID:
		by = func(*Team, *Team) int { return 0 }
	case TeamsByAlias:
		by = func(a, b *Team) int { return cmp.Compare(a.Alias, b.Alias) }
	}
	slices.SortFunc(list, func(a, b *Team) int { return cmp.Or(by(a, b), cmp.Compare(a.ID, b.ID)) })
	if q.Descending {
		slices.Reverse(list)
	}
}
