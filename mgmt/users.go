package mgmt

import (
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type userService struct {
	gatewayv1.UnimplementedUserServiceServer
	service
}

// maxUserKeys is how many keys are shown with a user.
const maxUserKeys = 1000

// GetUser shows one user with its keys and teams.
func (s userService) GetUser(ctx context.Context, in *gatewayv1.GetUserRequest) (*gatewayv1.GetUserResponse, error) {
	u, err := s.user(ctx, in.GetUserId())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetUserResponse{UserId: string(u.ID), UserInfo: userRecord(u.set, u.rights, u.User)}
	out.Keys = newestKeys(u.set.KeysOf(u.ID), u.rights, maxUserKeys)
	for m := range u.set.TeamsOf(u.ID) {
		if t, ok := u.set.Team(nil, m.Team); ok && u.rights.MaySeeTeam(t) {
			out.Teams = append(out.GetTeams(), teamRecord(u.set, t))
		}
	}
	return out, nil
}

// GetUserRecord shows one user.
func (s userService) GetUserRecord(ctx context.Context, in *gatewayv1.GetUserRecordRequest) (*gatewayv1.UserRecord, error) {
	u, err := s.user(ctx, in.GetUserId())
	if err != nil {
		return nil, err
	}
	return userRecord(u.set, u.rights, u.User), nil
}

// shownUser is a user, and what the answer about it rests on.
type shownUser struct {
	*tenancy.User
	set    *tenancy.Set
	rights *tenancy.Rights
}

// user returns a user that who asks may see; an empty id is who asks.
func (s userService) user(ctx context.Context, of string) (shownUser, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return shownUser{}, err
	}
	r := v.Keys.Rights(nil, operation.Principal(ctx))
	if of == "" {
		if of = string(r.User()); of == "" {
			return shownUser{}, &fault.Error{Kind: fault.NotFound, Code: codeNoUser, Param: "user_id", Detail: "This API key belongs to no user. Name one with user_id."}
		}
	}
	u, err := visibleUser(v.Keys, nil, r, of)
	return shownUser{User: u, set: v.Keys, rights: r}, err
}

// visibleUser returns a user that who asks may see; tx is nil for an answer that
// changes nothing.
func visibleUser(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.User, error) {
	u, _ := set.User(tx, id.User(of))
	return seenUser(r, u, "user_id")
}

// seenUser returns a user, nil if there is none, if the caller may see it.
func seenUser(r *tenancy.Rights, u *tenancy.User, param string) (*tenancy.User, error) {
	if u != nil && r.MaySeeUser(u) {
		return u, nil
	}
	return nil, unseen(r, u != nil, codeNoUser, param, "user")
}

// userName names a user, by one of two names.
type userName interface {
	GetUserId() string
	GetUserEmail() string
}

// userOf returns the user that a request names, if that user is a member. Both names
// must belong to the same user. The check of the second name comes after that of the
// membership: otherwise its error would reveal which other users exist.
func userOf(set *tenancy.Set, tx *record.Txn, in userName, member func(u id.User) bool) (u *tenancy.User, ok bool, err error) {
	switch {
	case in.GetUserId() == "" && in.GetUserEmail() == "":
		return nil, false, nobody()
	case in.GetUserId() == "":
		return memberByEmail(set, tx, in.GetUserEmail(), member)
	}
	u, ok = set.User(tx, id.User(in.GetUserId()))
	if !ok || !member(u.ID) {
		return nil, false, nil
	}
	if in.GetUserId() != "" && in.GetUserEmail() != "" && !strings.EqualFold(in.GetUserEmail(), u.Email) {
		return nil, false, fault.Field("user_email", "invalid_value", "user_id and user_email are of two users. Send one of them.")
	}
	return u, true, nil
}

// memberByEmail returns the only member of an address. Two members may have one address
// if it is in the directories of two organizations.
func memberByEmail(set *tenancy.Set, tx *record.Txn, address string, member func(u id.User) bool) (u *tenancy.User, ok bool, err error) {
	for found := range set.UsersByEmail(tx, address) {
		switch {
		case !member(found.ID):
		case u != nil:
			return nil, false, tenancy.AmbiguousEmail()
		default:
			u = found
		}
	}
	return u, u != nil && member(u.ID), nil // again: member keeps the last one that it was asked for
}

// The page of a list of users.
const userPage = 25

// ListUsers shows a page of the users that who asks may see.
func (userService) ListUsers(ctx context.Context, in *gatewayv1.ListUsersRequest) (*gatewayv1.ListUsersResponse, error) {
	v := operation.View(ctx)
	page, size := span(in.Page, in.PageSize, userPage)
	q := tenancy.UserQuery{
		Role: tenancy.Role(in.GetRole()), IDs: listed[id.User](in.GetUserIds()), Email: in.GetUserEmail(), Search: in.GetSearch(),
		Team: id.Team(in.GetTeam()), Organizations: listed[id.Organization](in.GetOrganizationIds()), SSO: listed[string](in.GetSsoUserIds()),
		Sort: in.GetSortBy(), Descending: in.GetSortOrder() == "desc", Offset: int(page-1) * int(size), Limit: int(size),
	}
	r := v.Keys.Rights(nil, operation.Principal(ctx))
	if !r.SeesAll() {
		q = visibleUsers(v.Keys, r, q)
	}
	users, total := v.Keys.Users(q)
	out := &gatewayv1.ListUsersResponse{
		Total: uint32(total), Page: page, PageSize: size, TotalPages: pages(total, size),
	}
	for _, u := range users {
		out.Users = append(out.GetUsers(), userRecord(v.Keys, r, u))
	}
	return out, nil
}

// visibleUsers narrows a query to what the caller may see. A filter by a team or an
// organization that the caller may not see matches no user, like a filter by an unknown
// one: otherwise the list would reveal the memberships that records leave out.
func visibleUsers(set *tenancy.Set, r *tenancy.Rights, q tenancy.UserQuery) tenancy.UserQuery {
	q.May, q.Near = r.MaySeeUser, near(set, r.User())
	q.Organizations = slices.DeleteFunc(q.Organizations, func(of id.Organization) bool {
		o, ok := set.Organization(nil, of)
		return !ok || !r.MaySeeOrganization(o)
	})
	if t, ok := set.Team(nil, q.Team); q.Team != "" && (!ok || !r.MaySeeTeam(t)) {
		q.May = func(*tenancy.User) bool { return false }
	}
	return q
}

// near is everybody that a user who does not see everything can possibly see: the
// user, and who is in an organization with the user.
func near(set *tenancy.Set, u id.User) []id.User {
	list := []id.User{u}
	for of := range set.OrganizationsOf(u) {
		for m := range set.OrganizationMembers(of.Organization) {
			list = append(list, m.User)
		}
	}
	return list
}

// listed reads a list with commas between; nil for an empty one.
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
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteUsersResponse, error) {
		r, out := v.Keys.Rights(tx, operation.Principal(ctx)), &gatewayv1.DeleteUsersResponse{}
		for i, of := range distinct(in.GetUserIds()) {
			n, err := deleteUser(v.Keys, tx, r, of)
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

// deleteUser deletes a user and returns how many keys went with it.
func deleteUser(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (int, error) {
	u, err := visibleUser(set, tx, r, of)
	if err != nil {
		return 0, err
	}
	if u.ID == r.User() {
		return 0, fault.New(fault.Denied, codeNoRight, "No user deletes themselves; the key that asks would go with it. Ask another admin.")
	}
	if err := r.MayDeleteUser(u); err != nil {
		return 0, err
	}
	return set.DeleteUser(tx, u.ID)
}
