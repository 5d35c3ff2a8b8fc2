package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Directory is where the address of a user is unique. The zero Directory is the
// gateway's, for addresses that proxy_admins give. Others give addresses in the directory
// of their organization, or of their team if that is in no organization: in the
// gateway's, a conflict would reveal users of others, and the first one to name an address
// would have it everywhere.
type Directory struct {
	Organization id.Organization
	Team         id.Team // only without an organization
}

// Place is where a caller adds users or names them: an organization, or a team and its
// organization, if it has one.
type Place struct {
	Organization id.Organization
	Team         id.Team
}

// Directory returns the directory that the admins of the place give addresses in.
func (p Place) Directory() Directory {
	if p.Organization != "" {
		return Directory{Organization: p.Organization}
	}
	return Directory{Team: p.Team}
}

// has reports whether a user belongs to the organization of the place or else to the team: as a
// member, as a member of a team of the organization, or because its admins made the user.
func (p Place) has(s *Set, tx *record.Txn, u *User) bool {
	if u.Directory != (Directory{}) && u.Directory == p.Directory() {
		return true
	}
	if p.Organization != "" {
		if _, ok := s.OrganizationMember(tx, p.Organization, u.ID); ok {
			return true
		}
	}
	for m := range s.TeamsOf(u.ID) {
		t, ok := find(tx, s.teams, []byte(m.Team))
		if ok && (t.ID == p.Team || p.Organization != "" && t.Organization == p.Organization) {
			_, still := s.TeamMember(tx, m.Team, u.ID) // a transaction depends on it
			return still
		}
	}
	return false
}

// claim is the name that claims an address in the directory; empty for no address.
func (d Directory) claim(address string) string {
	switch key := emailKey(address); {
	case key == "":
		return ""
	case d.Organization != "":
		return string(record.Join("e", key, "o", string(d.Organization)))
	case d.Team != "":
		return string(record.Join("e", key, "t", string(d.Team)))
	default:
		return string(record.Join("e", key))
	}
}

// Address puts a user whose address a caller changes into the directory in which the
// caller gives addresses. MayGrantUser has let the change through, so a caller that is no
// proxy_admin runs all organizations of the user. A proxy_admin leaves the address where
// it is. It returns Exists if another member of one of those organizations has the
// address.
func (b *UserBatch) Address(r *Rights, before, after *User) error {
	if r.Admin() || after.Email == "" || emailKey(before.Email) == emailKey(after.Email) {
		return nil
	}
	var of []id.Organization
	for m := range b.set.OrganizationsOf(before.ID) {
		of = append(of, m.Organization)
	}
	if !r.runs(before.Directory.Organization) && len(of) > 0 {
		after.Directory = Directory{Organization: of[0]}
	}
	return b.AddressIn(after, of...)
}

// AddressIn returns Exists if another member of one of the organizations has the
// address of a user. The caller has to be somebody who may see those members.
func (b *UserBatch) AddressIn(u *User, of ...id.Organization) error {
	if u.Email == "" {
		return nil
	}
	for other := range b.set.UsersByEmail(b.tx, u.Email) {
		for _, o := range of {
			if _, ok := b.set.OrganizationMember(b.tx, o, other.ID); ok && other.ID != u.ID {
				return occupied("user_email", "Another user of the organization has that address; choose another, or change that user first.")
			}
		}
	}
	return nil
}

// Addressee returns the user whose address, whatever its case, a caller gives to add a user to a
// place: a user who belongs there, or else one that the caller may see. For callers that see
// everything, users of the directories of others do not count.
// It returns nil for none, and Conflict if that leaves two.
func (r *Rights) Addressee(address string, in Place) (*User, error) {
	var near, far meant
	for u := range r.set.UsersByEmail(r.tx, address) {
		switch {
		case in.has(r.set, r.tx, u):
			near.add(u)
		case r.SeesAll() && u.Directory == Directory{}, !r.SeesAll() && r.MaySeeUser(u):
			far.add(u)
		}
	}
	if near.n > 0 {
		return near.one()
	}
	return far.one()
}

// UserByEmail returns the user of an address that the caller may see, nil for none. Callers that see
// everything mean the user of the gateway's directory, if there is one. It returns Conflict
// if that leaves two.
func (r *Rights) UserByEmail(address string) (*User, error) {
	var seen meant
	for u := range r.set.UsersByEmail(r.tx, address) {
		switch {
		case r.SeesAll() && u.Directory == Directory{}:
			return u, nil
		case r.MaySeeUser(u):
			seen.add(u)
		}
	}
	return seen.one()
}

// meant are the users that an address may mean.
type meant struct {
	n     int
	first *User
}

func (m *meant) add(u *User) {
	if m.n++; m.n == 1 {
		m.first = u
	}
}

// one returns the only one, or nil for none.
func (m *meant) one() (*User, error) {
	if m.n > 1 {
		return nil, AmbiguousEmail()
	}
	return m.first, nil
}

// AmbiguousEmail is the error for an address that several users have.
func AmbiguousEmail() error {
	return &fault.Error{Op: "keys", Kind: fault.Conflict, Code: "ambiguous_email", Param: "user_email", Detail: "Several users have that address: it is unique in the organization that gave it only. Name the user by user_id."}
}
