package rights

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// Invitation is a user that a caller adds to an organization or a team.
type Invitation struct {
	User  tenancy.User // as it is made where there is none
	Fresh id.User      // its id then, where the caller names an address only
	To    tenancy.Place
}

// Invite returns the user of an id or, where there is none given, of an address. Where
// there is no such user it makes one, in a batch of the transaction of the rights. A caller that is no proxy_admin adds users of the
// organization and those that it may see. It gets the same fault for an id of others and
// for an unknown one. For an address of others and for an unknown one it makes a user in
// the directory of the place.
func (r *Rights) Invite(b *tenancy.UserBatch, in Invitation) (found *tenancy.User, made bool, err error) {
	u, admin := in.User, r.Admin()
	if u.ID == "" {
		if found, err = r.Addressee(u.Email, in.To); err != nil {
			return nil, false, err
		}
	} else {
		found, _ = r.set.User(r.tx, u.ID)
		if !admin && (found == nil || !r.MaySeeUser(found) && !in.To.Has(r.set, r.tx, found)) {
			// Before the address is compared: that would reveal whose it is.
			return nil, false, denied("", "There is no such user in the organization, or among those that this API key may see. Add a new user by user_email without user_id, or ask a proxy_admin.")
		}
	}
	if found == nil {
		if u.ID == "" {
			u.ID = in.Fresh
		}
		if !admin {
			u.Directory = in.To.Directory()
		}
		found, err = b.Create(u)
		return found, true, err
	}
	if u.Email != "" && !tenancy.SameAddress(u.Email, found.Email) {
		return nil, false, fault.Field("user_email", "invalid_value", "The user %s has another address. Name the user by one of user_id and user_email.", fault.Short(string(u.ID)))
	}
	if err := b.Note(found.ID); err != nil {
		return nil, false, err
	}
	return found, false, nil
}

// SetAddress puts a user whose address a caller changes into the directory in which the
// caller gives addresses. MayGrantUser has let the change through, so a caller that is no
// proxy_admin runs all organizations of the user. A proxy_admin leaves the address where
// it is. It returns Exists if another member of one of those organizations has the
// address.
func (r *Rights) SetAddress(b *tenancy.UserBatch, before, after *tenancy.User) error {
	if r.Admin() || after.Email == "" || tenancy.SameAddress(before.Email, after.Email) {
		return nil
	}
	var of []id.Organization
	for m := range r.set.OrganizationsOf(before.ID) {
		of = append(of, m.Organization)
	}
	if !r.runs(before.Directory.Organization) && len(of) > 0 {
		after.Directory = tenancy.Directory{Organization: of[0]}
	}
	return b.AddressIn(after, of...)
}

// Addressee returns the user whose address, whatever its case, a caller gives to add a user to a
// place: a user who belongs there, or else one that the caller may see. For callers that see
// everything, users of the directories of others do not count.
// It returns nil for none, and Conflict if that leaves two.
func (r *Rights) Addressee(address string, in tenancy.Place) (*tenancy.User, error) {
	var near, far meant
	for u := range r.set.UsersByEmail(r.tx, address) {
		switch {
		case in.Has(r.set, r.tx, u):
			near.add(u)
		case r.SeesAll() && u.Directory == tenancy.Directory{}, !r.SeesAll() && r.MaySeeUser(u):
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
func (r *Rights) UserByEmail(address string) (*tenancy.User, error) {
	var seen meant
	for u := range r.set.UsersByEmail(r.tx, address) {
		switch {
		case r.SeesAll() && u.Directory == tenancy.Directory{}:
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
	first *tenancy.User
}

func (m *meant) add(u *tenancy.User) {
	if m.n++; m.n == 1 {
		m.first = u
	}
}

// one returns the only one, or nil for none.
func (m *meant) one() (*tenancy.User, error) {
	if m.n > 1 {
		return nil, AmbiguousEmail()
	}
	return m.first, nil
}

// AmbiguousEmail is the error for an address that several users have.
func AmbiguousEmail() error {
	return &fault.Error{Op: "keys", Kind: fault.Conflict, Code: "ambiguous_email", Param: "user_email", Detail: "Several users have that address: it is unique in the organization that gave it only. Name the user by user_id."}
}
