package mgmt

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

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
	return seenUser(c.rights, u, "user_email")
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
	u.Blocked = p.flag("blocked", u.Blocked)
	u.Models = p.list("models", u.Models)
	u.Metadata = p.free("metadata", u.Metadata)
	u.Limits = p.limits(u.Limits)
	return u
}
