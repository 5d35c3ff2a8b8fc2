package tenancy

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Role is what a user, or a member of an organization, may do.
type Role string

// The roles. RoleOrgAdmin is one of a member of an organization only, RoleNone
// that of a key without a user.
const (
	RoleNone               Role = ""
	RoleProxyAdmin         Role = "proxy_admin"
	RoleProxyAdminViewer   Role = "proxy_admin_viewer"
	RoleOrgAdmin           Role = "org_admin"
	RoleInternalUser       Role = "internal_user"
	RoleInternalUserViewer Role = "internal_user_viewer"
)

// For returns what a user's role is for a key of a type.
func (r Role) For(keyType string) Role {
	switch {
	case keyType == access.TypeInference:
		return RoleNone
	case keyType == access.TypeReadOnly && r == RoleProxyAdmin:
		return RoleProxyAdminViewer
	case keyType == access.TypeReadOnly && r == RoleInternalUser:
		return RoleInternalUserViewer
	}
	return r
}

// User is a person, or something that acts like one.
type User struct {
	ID       id.User
	Email    string // unique in its directory whatever its case; may be empty
	Alias    string // may be empty
	Role     Role
	Models   []string // what its keys may use; empty means everything
	Metadata string   // text of a JSON object; empty for none
	SSO      string   // its id at the identity provider, unique; may be empty
	Blocked  bool
	Limits   Limits
	// Directory is that of the address, and of a user without one that of the admin who
	// made it.
	Directory Directory
	record.Meta

	allowed *access.Models
}

// indexes of the table of users.
const (
	userByEmail  = 0 // in lower case
	userBySSO    = 1
	userByAge    = 2
	userByBudget = 3
	userByClaim  = 4 // of its address
)

// emailKey is what two addresses have in common that are the same.
func emailKey(address string) string { return strings.ToLower(address) }

func newUsers() *table.Table[User] {
	return table.New(&table.Spec[User]{
		Space:    store.SpaceUser,
		Key:      func(u *User) []byte { return []byte(u.ID) },
		Revision: func(u *User) uint64 { return u.Revision },
		Resource: event.ResourceUser,
		Bounds:   func(u *User) (string, event.Bounds) { return string(u.ID), u.Limits.bounds() },
		Encode: func(u *User) proto.Message {
			return &clusterv1.User{
				Id: string(u.ID), Email: u.Email, Alias: u.Alias, Role: string(u.Role), Models: u.Models, MetadataJson: u.Metadata,
				SsoUserId: u.SSO, Blocked: u.Blocked, Limits: u.Limits.record(),
				DirectoryOrganizationId: string(u.Directory.Organization), DirectoryTeamId: string(u.Directory.Team),
			}
		},
		Decode: decodeUser,
		Indexes: []func(*User) [][]byte{
			userByEmail:  func(u *User) [][]byte { return given(emailKey(u.Email)) },
			userBySSO:    func(u *User) [][]byte { return given(u.SSO) },
			userByAge:    func(u *User) [][]byte { return [][]byte{record.Newest(u.CreatedAt)} },
			userByBudget: func(u *User) [][]byte { return given(string(u.Limits.Budget)) },
			userByClaim:  func(u *User) [][]byte { return given(u.Directory.claim(u.Email)) },
		},
	})
}

func decodeUser(_, value []byte) (*User, error) {
	r := &clusterv1.User{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	u := &User{
		ID: id.User(r.GetId()), Email: r.GetEmail(), Alias: r.GetAlias(), Role: Role(r.GetRole()), Models: r.GetModels(),
		Metadata: r.GetMetadataJson(), SSO: r.GetSsoUserId(), Blocked: r.GetBlocked(), Limits: limitsFrom(r.GetLimits()), Meta: record.MetaOf(r.GetStamp()),
		Directory: Directory{Organization: id.Organization(r.GetDirectoryOrganizationId()), Team: id.Team(r.GetDirectoryTeamId())},
	}
	var bad int
	if u.allowed, bad = access.Compile(u.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	return u, nil
}

// Allowed returns the models that the user's list allows, as it was when the user was last
// written.
func (u *User) Allowed() *access.Models { return u.allowed }

// SameAddress reports whether two addresses of users are the same.
func SameAddress(a, b string) bool { return emailKey(a) == emailKey(b) }
