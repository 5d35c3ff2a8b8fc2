package tenancy

import (
	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// UserBatch makes and changes users in one transaction, which does not see its own
// changes: the batch remembers them, so that no two of its users get one name and
// no user is changed twice. A method that returns an error has changed nothing.
type UserBatch struct {
	set   *Set
	tx    *record.Txn
	users map[id.User]struct{} // made, changed or noted
	names map[string]struct{}  // claimed
}

// UserBatch begins a batch in a transaction that is decided by this set.
func (s *Set) UserBatch(tx *record.Txn) *UserBatch {
	return &UserBatch{set: s, tx: tx, users: map[id.User]struct{}{}, names: map[string]struct{}{}}
}

// Create adds a user. It returns Exists if the id, the address or the id at
// the identity provider is taken, and NotFound if there is no such budget.
func (b *UserBatch) Create(u User) (*User, error) {
	if err := b.once(u.ID); err != nil {
		return nil, err
	}
	if _, ok := b.set.User(b.tx, u.ID); ok {
		return nil, occupied("user_id", "There is a user %s already; choose another user_id, or leave it out to have one made.", fault.Short(string(u.ID)))
	}
	return b.put(&User{}, u)
}

// Update puts a user in place of the one with its id. It returns the errors of Create,
// and Conflict if ifRevision is given and is not its current revision.
func (b *UserBatch) Update(u User, ifRevision uint64) (*User, error) {
	if err := b.once(u.ID); err != nil {
		return nil, err
	}
	before, err := b.set.needUser(b.tx, u.ID)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return b.put(before, u)
}

// once refuses a user that the batch has had.
func (b *UserBatch) once(u id.User) error {
	if _, twice := b.users[u]; twice {
		return fault.Field("user_id", "duplicate_value", "The request names the user %s twice; name it once.", fault.Short(string(u)))
	}
	return nil
}

// Note adds a user that stays as it is to the batch. It refuses one that the batch has had.
func (b *UserBatch) Note(u id.User) error {
	if err := b.once(u); err != nil {
		return err
	}
	b.users[u] = struct{}{}
	return nil
}

// name is a name of a user that no other may have.
type name struct {
	param, what   string
	index         int
	value         string // that the index finds the new one by
	before, after string // what claims it; empty for none
}

// claimOfSSO is what claims an id at the identity provider; empty for none.
func claimOfSSO(sso string) string {
	if sso == "" {
		return ""
	}
	return string(record.Join("s", sso))
}

// put writes a user in the place of another, which is empty for one that is new.
func (b *UserBatch) put(before *User, u User) (*User, error) {
	var bad int
	if u.allowed, bad = access.Compile(u.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	if err := u.Limits.Check(""); err != nil {
		return nil, err
	}
	u.Limits.Models = b.set.models(u.Limits)
	names := []name{
		{param: "user_email", what: "address", index: userByClaim, value: u.Directory.claim(u.Email), before: before.Directory.claim(before.Email), after: u.Directory.claim(u.Email)},
		{param: "sso_user_id", what: "id at the identity provider", index: userBySSO, value: u.SSO, before: claimOfSSO(before.SSO), after: claimOfSSO(u.SSO)},
	}
	for _, n := range names {
		if err := b.free(n); err != nil {
			return nil, err
		}
	}
	if err := b.set.useBudget(b.tx, before.Limits.Budget, u.Limits.Budget); err != nil {
		return nil, err
	}
	for _, n := range names {
		b.rename(n, u.ID)
	}
	if before.ID != "" && (u.Role != before.Role || u.Blocked && !before.Blocked || narrows(before.Models, u.Models, before.Limits, u.Limits)) {
		b.tx.RequireFence()
	}
	u.Meta = b.tx.Stamped(before.Meta)
	b.set.users.Put(b.tx, &u)
	switch {
	case before.ID == "":
		b.tx.Record(event.UserCreated(u.ID))
	case u.Blocked && !before.Blocked:
		b.tx.Record(event.UserBlocked(u.ID))
	}
	b.users[u.ID] = struct{}{}
	return &u, nil
}

// free refuses a name that another user has, or gets in this batch.
func (b *UserBatch) free(n name) error {
	if n.after == "" || n.after == n.before {
		return nil
	}
	if _, ok := b.set.users.One(n.index, []byte(n.value)); ok {
		return occupied(n.param, "Another user has that %s; choose another, or change that user first.", n.what)
	}
	if _, ok := b.names[n.after]; ok {
		return fault.Field(n.param, "duplicate_value", "The request gives one %s to two users.", n.what)
	}
	return nil
}

// rename gives a name back and takes another.
func (b *UserBatch) rename(n name, of id.User) {
	if n.after == n.before {
		return
	}
	if n.before != "" {
		b.tx.Release(store.SpaceUserName, []byte(n.before))
	}
	if n.after != "" {
		b.tx.Claim(store.SpaceUserName, []byte(n.after), []byte(of))
		b.names[n.after] = struct{}{}
	}
}

// needUser returns a user that a request names.
func (s *Set) needUser(tx *record.Txn, u id.User) (*User, error) {
	found, ok := s.User(tx, u)
	if !ok {
		return nil, absent(codeNoUser, "user_id", "There is no user %s.", fault.Short(string(u)))
	}
	return found, nil
}

// DeleteUser removes a user with its keys and its memberships, and returns how many
// keys that were.
func (s *Set) DeleteUser(tx *record.Txn, u id.User) (deleted int, err error) {
	old, err := s.needUser(tx, u)
	if err != nil {
		return 0, err
	}
	s.sawAll(tx, collection{ofUser, string(u)})
	for k := range s.keys.By(keyByUser, []byte(u)) {
		s.deleteKey(tx, k)
		deleted++
	}
	for m := range s.teamMembers.By(teamMemberByUser, []byte(u)) {
		s.teamMembers.Delete(tx, m)
	}
	for m := range s.OrganizationsOf(u) {
		s.organizationMembers.Delete(tx, m)
	}
	for _, claim := range []string{old.Directory.claim(old.Email), claimOfSSO(old.SSO)} {
		if claim != "" {
			tx.Release(store.SpaceUserName, []byte(claim))
		}
	}
	s.users.Delete(tx, old)
	tx.Record(event.UserDeleted(u))
	tx.RequireFence()
	return deleted, nil
}

// CreateUserKey adds a key of a user that the same transaction makes, which is in
// no team. It returns the errors of CreateKey. The key's event names the organization of the
// user, if the user is in one only.
func (s *Set) CreateUserKey(tx *record.Txn, u *User, k Key, organizations []id.Organization) (*Key, error) {
	k.User = u.ID
	var in event.Place
	if len(organizations) == 1 {
		in.Organization = organizations[0]
	}
	return s.insertKey(tx, k, in)
}
