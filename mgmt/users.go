package mgmt

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type userService struct {
	gatewayv1.UnimplementedUserServiceServer
	service
}

// maxUserKeys bounds the keys in the response for one user.
const maxUserKeys = 1000

// GetUser shows one user with its keys and teams.
func (s userService) GetUser(ctx context.Context, in *gatewayv1.GetUserRequest) (*gatewayv1.GetUserResponse, error) {
	c, u, err := s.user(ctx, in.GetUserId())
	if err != nil {
		return nil, err
	}
	return &gatewayv1.GetUserResponse{
		UserId: string(u.ID), UserInfo: c.userRecord(u), Keys: c.newestKeys(c.set.KeysOf(u.ID), maxUserKeys),
		Teams: shownAll(c.teamsOf(u.ID), c.teamRecord),
	}, nil
}

// teamsOf yields the teams of a user that the caller may see.
func (c caller) teamsOf(u id.User) iter.Seq[*tenancy.Team] {
	return func(yield func(*tenancy.Team) bool) {
		for m := range c.set.TeamsOf(u) {
			if t, ok := c.set.Team(nil, m.Team); ok && c.rights.MaySeeTeam(t) && !yield(t) {
				return
			}
		}
	}
}

// GetUserRecord shows one user.
func (s userService) GetUserRecord(ctx context.Context, in *gatewayv1.GetUserRecordRequest) (*gatewayv1.UserRecord, error) {
	c, u, err := s.user(ctx, in.GetUserId())
	return shown(c.userRecord)(u, err)
}

// user returns a user that the caller may see; for an empty id, the caller's own user.
func (s userService) user(ctx context.Context, of string) (caller, *tenancy.User, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return c, nil, err
	}
	if of = cmp.Or(of, string(c.rights.User())); of == "" {
		return c, nil, &fault.Error{Kind: fault.NotFound, Code: codeNoUser, Param: "user_id", Detail: "This API key belongs to no user. Name one with user_id."}
	}
	u, err := c.user(of)
	return c, u, err
}

// user returns a user that the caller may see.
func (c caller) user(of string) (*tenancy.User, error) {
	u, _ := c.set.User(c.tx, id.User(of))
	return visible(c.rights, u, c.rights.MaySeeUser, missing{codeNoUser, "user_id", "user"})
}

// userName names a user, by its id or by its address.
type userName interface {
	GetUserId() string
	GetUserEmail() string
}

// userOf returns the user that a request names, if that user is a member. Both names
// must belong to the same user. The check of the second name comes after that of the
// membership: otherwise its error would reveal which other users exist.
func (c caller) userOf(in userName, member func(u id.User) bool) (u *tenancy.User, ok bool, err error) {
	switch {
	case in.GetUserId() == "" && in.GetUserEmail() == "":
		return nil, false, nobody()
	case in.GetUserId() == "":
		return c.memberByEmail(in.GetUserEmail(), member)
	}
	u, ok = c.set.User(c.tx, id.User(in.GetUserId()))
	if !ok || !member(u.ID) {
		return nil, false, nil
	}
	if in.GetUserEmail() != "" && !strings.EqualFold(in.GetUserEmail(), u.Email) {
		return nil, false, fault.Field("user_email", "invalid_value", "user_id and user_email are of two users. Send one of them.")
	}
	return u, true, nil
}

// memberByEmail returns the only member of an address. Two members may have one address
// if it is in the directories of two organizations.
func (c caller) memberByEmail(address string, member func(u id.User) bool) (u *tenancy.User, ok bool, err error) {
	for found := range c.set.UsersByEmail(c.tx, address) {
		switch {
		case !member(found.ID):
		case u != nil:
			return nil, false, rights.AmbiguousEmail()
		default:
			u = found
		}
	}
	return u, u != nil && member(u.ID), nil // again: member keeps the last user that it was called for
}

// userPage is the number of users on a page unless the request sets it.
const userPage = 25

// ListUsers shows a page of the users that the caller may see.
func (userService) ListUsers(ctx context.Context, in *gatewayv1.ListUsersRequest) (*gatewayv1.ListUsersResponse, error) {
	c := viewer(ctx)
	page, size := span(in.Page, in.PageSize, userPage)
	users, total := listing.Users(c.set, c.visibleUsers(listing.UserQuery{
		Role: tenancy.Role(in.GetRole()), IDs: listed[id.User](in.GetUserIds()), Email: in.GetUserEmail(), Search: in.GetSearch(),
		Team: id.Team(in.GetTeam()), Organizations: listed[id.Organization](in.GetOrganizationIds()), SSO: listed[string](in.GetSsoUserIds()),
		Sort: in.GetSortBy(), Descending: in.GetSortOrder() == "desc", Offset: int(page-1) * int(size), Limit: int(size),
	}))
	return &gatewayv1.ListUsersResponse{
		Total: uint32(total), Page: page, PageSize: size, TotalPages: pages(total, size),
		Users: shownAll(slices.Values(users), c.userRecord),
	}, nil
}

// visibleUsers narrows a query to what the caller may see. A filter by a team or an
// organization that the caller may not see matches no user, like a filter by an unknown
// one: otherwise the list would reveal the memberships that records leave out.
func (c caller) visibleUsers(q listing.UserQuery) listing.UserQuery {
	if c.rights.SeesAll() {
		return q
	}
	q.May, q.Near = c.rights.MaySeeUser, near(c.set, c.rights.User())
	q.Organizations = slices.DeleteFunc(q.Organizations, func(of id.Organization) bool {
		o, ok := c.set.Organization(nil, of)
		return !ok || !c.rights.MaySeeOrganization(o)
	})
	if t, ok := c.set.Team(nil, q.Team); q.Team != "" && (!ok || !c.rights.MaySeeTeam(t)) {
		q.May = func(*tenancy.User) bool { return false }
	}
	return q
}

// near returns every user that a user without a view of everything may see: itself, and the
// members of its organizations.
func near(set *tenancy.Set, u id.User) []id.User {
	list := []id.User{u}
	for of := range set.OrganizationsOf(u) {
		for m := range set.OrganizationMembers(of.Organization) {
			list = append(list, m.User)
		}
	}
	return list
}

// listed reads a list separated by commas; nil for an empty one.
func listed[T ~string](text string) []T {
	if text == "" {
		return nil
	}
	out := []T{}
	for part := range strings.SplitSeq(text, ",") {
		out = append(out, T(strings.TrimSpace(part)))
	}
	return out
}

// DeleteUsers deletes users with their keys and memberships, all of them or none.
func (s userService) DeleteUsers(ctx context.Context, in *gatewayv1.DeleteUsersRequest) (*gatewayv1.DeleteUsersResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteUsersResponse, error) {
		out := &gatewayv1.DeleteUsersResponse{}
		for i, of := range distinct(in.GetUserIds()) {
			n, err := c.deleteUser(of)
			if err != nil {
				return nil, field.Named(field.At("user_ids", i), err)
			}
			out.DeletedUsers++
			out.DeletedKeys += uint32(n)
		}
		out.Message = counted(out.GetDeletedUsers(), "user") + " deleted, with " + counted(out.GetDeletedKeys(), "key") + "."
		return out, nil
	})
}

// deleteUser deletes a user and returns the number of its keys.
func (c caller) deleteUser(of string) (int, error) {
	u, err := c.user(of)
	if err != nil {
		return 0, err
	}
	if u.ID == c.rights.User() {
		return 0, fault.New(fault.Denied, codeNoRight, "No user deletes themselves; the key that asks would go with it. Ask another admin.")
	}
	if err := c.rights.MayDeleteUser(u); err != nil {
		return 0, err
	}
	return c.set.DeleteUser(c.tx, u.ID)
}

// UpdateUser changes the fields in the request. It does not create a user that does not exist:
// a typo in the id would become another user.
func (s userService) UpdateUser(ctx context.Context, in *gatewayv1.UpdateUserRequest) (*gatewayv1.UpdateUserResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.UpdateUserResponse, error) {
		made, err := c.updateUser(c.set.UserBatch(c.tx), in)
		if err != nil {
			return nil, err
		}
		return &gatewayv1.UpdateUserResponse{UserId: string(made.ID), Data: c.userRecord(made)}, nil
	})
}

// BulkUpdateUsers changes several users in one transaction. The response lists those that
// cannot be changed.
func (s userService) BulkUpdateUsers(ctx context.Context, in *gatewayv1.BulkUpdateUsersRequest) (*gatewayv1.BulkUpdateUsersResponse, error) {
	// The view that decides what fails is at least as new as the request, also if nothing is
	// left to commit.
	if _, err := s.state.Current(ctx); err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.BulkUpdateUsersResponse, error) {
		out, batch := &gatewayv1.BulkUpdateUsersResponse{TotalRequested: uint32(len(in.GetUsers()))}, c.set.UserBatch(c.tx)
		for _, one := range in.GetUsers() {
			result := &gatewayv1.UserUpdateResult{UserId: one.GetUserId()}
			out.Results = append(out.GetResults(), result)
			made, err := c.updateUser(batch, one)
			switch f := fault.From(err); {
			case f == nil:
				result.UserId, result.Success, result.UpdatedUser = string(made.ID), true, c.userRecord(made)
				out.SuccessfulUpdates++
			case f.Kind == fault.Internal:
				return nil, err
			default:
				result.Error = wrapperspb.String(f.Message())
				out.FailedUpdates++
			}
		}
		return out, nil
	})
}

// updateUser makes one change. A change that fails has written nothing.
func (c caller) updateUser(batch *tenancy.UserBatch, in *gatewayv1.UpdateUserRequest) (*tenancy.User, error) {
	revision, err := field.Whole(field.IfRevision, in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	before, err := c.userToUpdate(in)
	if err != nil {
		return nil, err
	}
	after, err := patchUser(before, in)
	if err != nil {
		return nil, err
	}
	if err := c.rights.MayGrantUser(before, &after); err != nil {
		return nil, err
	}
	if err := c.rights.SetAddress(batch, before, &after); err != nil {
		return nil, err
	}
	return batch.Update(after, uint64(revision))
}

// userToUpdate returns the user of a request: that of user_id, whose new address is
// user_email, or else that of user_email.
func (c caller) userToUpdate(in *gatewayv1.UpdateUserRequest) (*tenancy.User, error) {
	if in.GetUserId() != "" {
		return c.user(in.GetUserId())
	}
	if in.GetUserEmail() == "" {
		return nil, nobody()
	}
	u, err := c.rights.UserByEmail(in.GetUserEmail())
	if err != nil {
		return nil, err
	}
	return visible(c.rights, u, c.rights.MaySeeUser, missing{codeNoUser, "user_email", "user"})
}

// patchUser returns a user with the changes of a request. Without user_id, user_email only
// names the user.
func patchUser(before *tenancy.User, in *gatewayv1.UpdateUserRequest) (tenancy.User, error) {
	after, p := *before, patchOf(in, in.GetClear(), limitFields("user_email", "user_alias", "models", "metadata", "sso_user_id")...)
	email := p.text("user_email", after.Email)
	switch {
	case in.GetUserId() != "":
		after.Email = email
	case slices.Contains(in.GetClear(), "user_email"):
		p.fail(nobody())
	}
	return p.user(after), p.err
}

// user changes the fields that all requests about users have.
func (p *patch) user(u tenancy.User) tenancy.User {
	u.Alias = p.text("user_alias", u.Alias)
	u.SSO = p.text("sso_user_id", u.SSO)
	u.Role = tenancy.Role(p.text("user_role", string(u.Role)))
	u.Blocked = p.blocked(u.Blocked)
	u.Models = p.list("models", u.Models)
	u.Metadata = p.metadata(u.Metadata)
	u.Limits = p.limits(u.Limits)
	return u
}

// userRecord returns a user in the form of the API. Of a user that is also in organizations of
// others it shows only the memberships and keys that the caller may see.
func (c caller) userRecord(u *tenancy.User) *gatewayv1.UserRecord {
	out := &gatewayv1.UserRecord{
		UserId: string(u.ID), UserEmail: textOrNull(u.Email), UserAlias: textOrNull(u.Alias), UserRole: string(u.Role),
		Models: u.Models, Metadata: showMetadata(u.Metadata), SsoUserId: textOrNull(u.SSO), Blocked: u.Blocked,
	}
	whole := c.rights.SeesWhole(u)
	for m := range c.set.TeamsOf(u.ID) {
		if t, ok := c.set.Team(nil, m.Team); whole || ok && c.rights.MaySeeTeam(t) {
			out.Teams = append(out.GetTeams(), string(m.Team))
		}
	}
	for m := range c.set.OrganizationsOf(u.ID) {
		if whole || c.rights.Administers(m.Organization) {
			addPlace(out, m)
		}
	}
	for k := range c.set.KeysOf(u.ID) {
		if whole || c.rights.MaySeeKey(k) {
			out.KeyCount++
		}
	}
	showLimits(out, u.Limits)
	showMeta(out, u.Meta)
	return out
}

// addPlace adds an organization to a user's record, in the order of their ids.
func addPlace(to *gatewayv1.UserRecord, m *tenancy.OrganizationMember) {
	place := &gatewayv1.OrganizationPlace{OrganizationId: string(m.Organization), UserRole: string(m.Role)}
	list := to.GetOrganizationMemberships()
	i := slices.IndexFunc(list, func(p *gatewayv1.OrganizationPlace) bool { return p.GetOrganizationId() > place.GetOrganizationId() })
	if i < 0 {
		i = len(list)
	}
	to.OrganizationMemberships = slices.Insert(list, i, place)
}

// sortedInsert adds a text to a sorted list.
func sortedInsert(list []string, text string) []string {
	i, _ := slices.BinarySearch(list, text)
	return slices.Insert(list, i, text)
}

// tokenOf returns a key's hash in the form of the API.
func tokenOf(h id.KeyHash) string { return hex.EncodeToString(h[:]) }

// counted returns a number with its noun, such as 2 keys.
func counted(n uint32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// copyFields copies the fields of a message to those with the same names in another one.
func copyFields(to, from proto.Message) {
	into := to.ProtoReflect()
	from.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if same := into.Descriptor().Fields().ByName(f.Name()); same != nil {
			into.Set(same, v)
		}
		return true
	})
}
