package tenancy

import (
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

// Has reports whether a user belongs to the organization of the place or else to the team: as a
// member, as a member of a team of the organization, or because its admins made the user.
func (p Place) Has(s *Set, tx *record.Txn, u *User) bool {
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
