package mgmt

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// ResetKeySpend sets what a key has spent in its window. It is for those above the
// key: who could reset what bounds its own requests would have no bound.
func (s keyService) ResetKeySpend(ctx context.Context, in *gatewayv1.ResetKeySpendRequest) (*gatewayv1.ResetKeySpendResponse, error) {
	h, err := reference("key", in.GetKey())
	if err != nil {
		return nil, err
	}
	to, err := dollars("reset_to", in.GetResetTo())
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.ResetKeySpendResponse, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		k, err := visibleKey(v.Keys, tx, r, keyName{"key", h})
		if err != nil {
			return nil, err
		}
		if err := mayResetSpend(v.Keys, tx, r, k); err != nil {
			return nil, err
		}
		account := id.Account{Kind: id.AccountKey, Owner: tokenOf(k.Account())}
		now, err := spentBy(ctx, s.ledger, account, tx.Time())
		if err != nil {
			return nil, err
		}
		if to.Total().Compare(now) > 0 {
			return nil, fault.Field("reset_to", "invalid_value", "reset_to must not be more than the key has spent, which is %s USD.", now)
		}
		tx.SetSpend(account, to, event.Amount{
			Resource: event.ResourceKey, ID: k.Hash.String(), Field: fieldSpend, Old: inDollars(now), New: inDollars(to),
		})
		terms := termsOf(v.Keys, tx, k.Limits)
		out := &gatewayv1.ResetKeySpendResponse{
			KeyHash: tokenOf(k.Hash), Spend: inDollars(to), PreviousSpend: inDollars(now), MaxBudget: dollarsOrNull(terms.MaxBudget),
		}
		if at, ok := tenancy.NextReset(terms.BudgetDuration, tx.Time()); ok {
			out.BudgetResetAt = timestamppb.New(at)
		}
		return out, nil
	})
}

// mayResetSpend refuses who is not above a key.
func mayResetSpend(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, k *tenancy.Key) error {
	if r.Admin() {
		return nil
	}
	if t, ok := set.Team(tx, k.Team); ok && k.Team != "" {
		return r.MayManageTeam(t)
	}
	if o, ok := set.Organization(tx, k.Organization); ok && k.Organization != "" {
		return r.MayManageOrganization(o)
	}
	return notYours("key", "Only a proxy_admin may reset what this key has spent.")
}

// accountOf is the key whose account is meant by the hash of one: by any that it has
// ever had, as far as that is known still.
func accountOf(ctx context.Context, l Ledger, set *tenancy.Set, h id.KeyHash) (id.KeyHash, error) {
	if k, ok := set.Key(nil, h); ok {
		return k.Account(), nil
	}
	return l.KeyAccount(ctx, h)
}

// shownOf is the hash that reports call the key of an account by: the one that it has
// now, or where it is gone that of the account.
func shownOf(set *tenancy.Set, account id.KeyHash) id.KeyHash {
	if k, ok := set.OfAccount(account); ok {
		return k.Hash
	}
	return account
}

// spentBy is what an account has spent in the window that holds a time.
func spentBy(ctx context.Context, l Ledger, a id.Account, now time.Time) (money.Total, error) {
	state, err := l.Account(ctx, a)
	if err != nil {
		return money.Total{}, err
	}
	return windowAt(state, now), nil
}
