package listing

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// What a list of users may be sorted by.
const (
	UsersByAge   = "created_at"
	UsersByID    = "user_id"
	UsersByEmail = "user_email"
	UsersByAlias = "user_alias"
	UsersByRole  = "user_role"
)

// UserQuery says which users a list has. A zero field asks for nothing.
type UserQuery struct {
	Role          tenancy.Role
	IDs           []id.User
	Email         string // is part of the address, in any case
	Search        string // is part of the id, the name or the address, in any case
	Team          id.Team
	Organizations []id.Organization // in one of them
	SSO           []string
	Sort          string // one of the above; UsersByAge if empty
	Descending    bool
	Offset, Limit int
	May           func(*tenancy.User) bool // whether the caller may see the user; nil: may see all
	Near          []id.User                // with May: no others than these can be seen
}

// Users returns a page of the users that match, and how many match in all. Without
// a filter and by age it costs what it skips; else it looks at all users that the
// most telling filter leaves.
func Users(s *tenancy.Set, q UserQuery) (page []*tenancy.User, total int) {
	if q.plain() {
		index := s.UsersByAge()
		walk := index.Backward // it has the newest first
		if q.Descending {
			walk = index.From
		}
		return table.Take(walk(q.Offset), q.Limit), index.Len()
	}
	q.Email, q.Search = strings.ToLower(q.Email), strings.ToLower(q.Search)
	var found []*tenancy.User
	for u := range candidateUsers(s, q) {
		if q.has(s, u) {
			found = append(found, u)
		}
	}
	q.sort(found)
	if q.Descending {
		slices.Reverse(found)
	}
	total = len(found)
	return found[min(q.Offset, total):min(q.Offset+q.Limit, total)], total
}

// plain reports whether the list is all users by age.
func (q UserQuery) plain() bool {
	return q.May == nil && q.Role == "" && q.IDs == nil && q.Email == "" && q.Search == "" && q.Team == "" &&
		q.Organizations == nil && q.SSO == nil && (q.Sort == "" || q.Sort == UsersByAge)
}

// candidateUsers returns users among which all are that can match, each once.
func candidateUsers(s *tenancy.Set, q UserQuery) iter.Seq[*tenancy.User] {
	var ids []id.User
	switch {
	case q.IDs != nil:
		ids = q.IDs
	case q.SSO != nil:
		for _, of := range q.SSO {
			if u, ok := s.UserBySSO(of); ok {
				ids = append(ids, u.ID)
			}
		}
	case q.May != nil:
		ids = q.Near
	case q.Team != "":
		for m := range s.TeamMembers(q.Team) {
			ids = append(ids, m.User)
		}
	case q.Organizations != nil:
		for _, o := range q.Organizations {
			for m := range s.OrganizationMembers(o) {
				ids = append(ids, m.User)
			}
		}
	default:
		return s.AllUsers()
	}
	return withIDs(slices.Clone(ids), s.User)
}

// has reports whether a user is one of those that are asked for. The texts of
// the query are in lower case.
func (q UserQuery) has(s *tenancy.Set, u *tenancy.User) bool {
	switch {
	case q.Role != "" && u.Role != q.Role,
		q.IDs != nil && !slices.Contains(q.IDs, u.ID),
		q.SSO != nil && !slices.Contains(q.SSO, u.SSO),
		q.Email != "" && !contains(u.Email, q.Email),
		q.Search != "" && !contains(string(u.ID), q.Search) && !contains(u.Alias, q.Search) && !contains(u.Email, q.Search):
		return false
	}
	if q.Team != "" {
		if _, ok := s.TeamMember(nil, q.Team, u.ID); !ok {
			return false
		}
	}
	if q.Organizations != nil && !slices.ContainsFunc(q.Organizations, func(o id.Organization) bool {
		_, ok := s.OrganizationMember(nil, o, u.ID)
		return ok
	}) {
		return false
	}
	return q.May == nil || q.May(u)
}

func contains(text, part string) bool { return strings.Contains(strings.ToLower(text), part) }

// sort orders users, by id where what they are sorted by is the same.
func (q UserQuery) sort(list []*tenancy.User) {
	text := func(*tenancy.User) string { return "" }
	switch q.Sort {
	case UsersByID:
	case UsersByEmail:
		text = func(u *tenancy.User) string { return strings.ToLower(u.Email) }
	case UsersByAlias:
		text = func(u *tenancy.User) string { return u.Alias }
	case UsersByRole:
		text = func(u *tenancy.User) string { return string(u.Role) }
	default:
		slices.SortFunc(list, func(a, b *tenancy.User) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
		return
	}
	type ranked struct {
		text string
		*tenancy.User
	}
	all := make([]ranked, len(list))
	for i, u := range list {
		all[i] = ranked{text(u), u}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.ID, b.ID)) })
	for i, r := range all {
		list[i] = r.User
	}
}
