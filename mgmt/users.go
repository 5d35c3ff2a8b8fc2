package mgmt

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

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

// visibleUser returns a user that the caller may see; tx is nil for a request that changes
// nothing.
func visibleUser(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.User, error) {
	u, _ := set.User(tx, id.User(of))
	return visible(r, u, r.MaySeeUser, missing{codeNoUser, "user_id", "user"})
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

// UpdateUser changes what the request gives. A user who is not there is not made:
// a slip in the id would else be another user.
func (s userService) UpdateUser(ctx context.Context, in *gatewayv1.UpdateUserRequest) (*gatewayv1.UpdateUserResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UpdateUserResponse, error) {
		c := userChange{set: v.Keys, tx: tx, rights: v.Keys.Rights(tx, operation.Principal(ctx)), batch: v.Keys.UserBatch(tx)}
		made, err := c.make(in)
		if err != nil {
			return nil, err
		}
		return &gatewayv1.UpdateUserResponse{UserId: string(made.ID), Data: userRecord(v.Keys, c.rights, made)}, nil
	})
}

// BulkUpdateUsers changes several users in one transaction. Those that cannot be
// changed are listed.
func (s userService) BulkUpdateUsers(ctx context.Context, in *gatewayv1.BulkUpdateUsersRequest) (*gatewayv1.BulkUpdateUsersResponse, error) {
	// What fails is decided by a view that is at least as new as the request, also
	// where nothing is left to be committed.
	if _, err := s.state.Current(ctx); err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BulkUpdateUsersResponse, error) {
		out := &gatewayv1.BulkUpdateUsersResponse{TotalRequested: uint32(len(in.GetUsers()))}
		c := userChange{set: v.Keys, tx: tx, rights: v.Keys.Rights(tx, operation.Principal(ctx)), batch: v.Keys.UserBatch(tx)}
		for _, one := range in.GetUsers() {
			result := &gatewayv1.UserUpdateResult{UserId: one.GetUserId()}
			out.Results = append(out.GetResults(), result)
			made, err := c.make(one)
			switch f := fault.From(err); {
			case f == nil:
				result.UserId, result.Success, result.UpdatedUser = string(made.ID), true, userRecord(v.Keys, c.rights, made)
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

// userChange is changes of users in one transaction.
type userChange struct {
	set    *tenancy.Set
	tx     *record.Txn
	rights *tenancy.Rights
	batch  *tenancy.UserBatch
}

// make makes one change. One that it refuses has written nothing.
func (c userChange) make(in *gatewayv1.UpdateUserRequest) (*tenancy.User, error) {
	revision, err := field.Whole("if_revision", in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	before, err := c.before(in)
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
	if err := c.batch.Address(c.rights, before, &after); err != nil {
		return nil, err
	}
	return c.batch.Update(after, uint64(revision))
}

// before is the user that a request is about: that of user_id, whose address
// user_email then is to be, or else that of user_email.
func (c userChange) before(in *gatewayv1.UpdateUserRequest) (*tenancy.User, error) {
	if in.GetUserId() != "" {
		return visibleUser(c.set, c.tx, c.rights, in.GetUserId())
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

// patchUser returns the user as a request wants it. user_email is only the name of the
// user if user_id is missing.
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

// user changes what all requests for users give.
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

// userRecord is a user as the API shows it to a caller with these rights. Of a user who
// is also in organizations of others it shows only memberships and keys that the caller
// may see.
func userRecord(set *tenancy.Set, r *tenancy.Rights, u *tenancy.User) *gatewayv1.UserRecord {
	out := &gatewayv1.UserRecord{
		UserId: string(u.ID), UserEmail: textOrNull(u.Email), UserAlias: textOrNull(u.Alias), UserRole: string(u.Role),
		Models: u.Models, Metadata: showMetadata(u.Metadata), SsoUserId: textOrNull(u.SSO), Blocked: u.Blocked,
	}
	whole := r.SeesWhole(u)
	for m := range set.TeamsOf(u.ID) {
		if t, ok := set.Team(nil, m.Team); whole || ok && r.MaySeeTeam(t) {
			out.Teams = append(out.GetTeams(), string(m.Team))
		}
	}
	for m := range set.OrganizationsOf(u.ID) {
		if whole || r.Administers(m.Organization) {
			addPlace(out, m)
		}
	}
	for k := range set.KeysOf(u.ID) {
		if whole || r.MaySeeKey(k) {
			out.KeyCount++
		}
	}
	showLimits(out, u.Limits)
	showMeta(out, u.Meta)
	return out
}

// addPlace adds an organization to a user's record, where it belongs by id.
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

// tokenOf is a key's hash as the API shows it.
func tokenOf(h id.KeyHash) string { return hex.EncodeToString(h[:]) }

// counted is a number of things, for people.
func counted(n uint32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// copyFields gives a message what another has under the same names.
func copyFields(to, from proto.Message) {
	into := to.ProtoReflect()
	from.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if same := into.Descriptor().Fields().ByName(f.Name()); same != nil {
			into.Set(same, v)
		}
		return true
	})
}
