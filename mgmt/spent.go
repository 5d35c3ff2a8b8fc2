package mgmt

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Fields of records that show spend.
const (
	fieldSpend      = "spend"
	fieldTotalSpend = "total_spend"
	fieldModelSpend = "model_spend"
	fieldResetAt    = "budget_reset_at"
)

// spender adds spend to the records of a response. Records come from the agreed state of one
// revision, which does not contain spend. Spend is read whenever a response is sent, also when
// it is replayed.
type spender struct {
	account func(a id.Account) (ledger.State, error)
	models  func(kind id.AccountKind, owner string, fn func(model string, s ledger.State) bool) error
	caller
	now time.Time
}

// mostModels bounds the models whose spend a record shows. If the operator's name for a model
// is a pattern, callers choose the names.
const mostModels = 1000

// fillSpend adds spend to all records of a response.
func fillSpend(ctx context.Context, l Ledger, answer proto.Message) error {
	if operation.View(ctx) == nil { // an operation that shows nothing of the view
		return nil
	}
	account := func(a id.Account) (ledger.State, error) { return l.Account(ctx, a) }
	models := func(kind id.AccountKind, owner string, fn func(string, ledger.State) bool) error {
		return l.Models(ctx, kind, owner, fn)
	}
	return spender{account, models, viewer(ctx), time.Now()}.walk(answer.ProtoReflect())
}

// walk visits the messages of a response.
func (s spender) walk(m protoreflect.Message) error {
	if err := s.fill(m.Interface()); err != nil {
		return err
	}
	for _, one := range field.Messages("", m) {
		if field.IsFree(one.Descriptor()) {
			continue
		}
		if err := s.walk(one); err != nil {
			return err
		}
	}
	return nil
}

// bounded is a record that has limits and may name a budget.
type bounded interface {
	proto.Message
	GetBudgetDuration() *wrapperspb.StringValue
	GetBudgetId() *wrapperspb.StringValue
}

// fill adds spend to one message if it is a record that has an account.
func (s spender) fill(m proto.Message) error {
	switch r := m.(type) {
	case *gatewayv1.KeyRecord:
		return s.bounded(r, id.AccountKey, r.GetAccountId(), id.AccountKeyModel)
	case *gatewayv1.TeamRecord:
		return s.bounded(r, id.AccountTeam, r.GetTeamId(), id.AccountTeamModel)
	case *gatewayv1.AddTeamMembersResponse:
		return s.bounded(r, id.AccountTeam, r.GetTeamId(), id.AccountTeamModel)
	case *gatewayv1.UserRecord:
		if u, ok := s.set.User(nil, id.User(r.GetUserId())); ok && !s.rights.SeesWhole(u) {
			return s.shared(r)
		}
		return s.bounded(r, id.AccountUser, r.GetUserId(), id.AccountUserModel)
	case *gatewayv1.CreateUserResponse:
		return s.bounded(r, id.AccountUser, r.GetUserId(), id.AccountUserModel)
	case *gatewayv1.OrganizationRecord:
		return s.bounded(r, id.AccountOrganization, r.GetOrganizationId(), id.AccountOrganizationModel)
	case *gatewayv1.CustomerRecord:
		u := id.EndUser{Organization: id.Organization(r.GetOrganizationId().GetValue()), ID: id.Customer(r.GetUserId())}
		_, err := s.total(r, u.Account(), s.duration(r.GetBudgetDuration().GetValue(), r.GetBudgetId().GetValue()))
		return err
	case *gatewayv1.TeamMembership:
		of := ""
		if t, ok := s.set.Team(nil, id.Team(r.GetTeamId())); ok {
			of = t.MemberBudgetDuration
		}
		_, err := s.total(r, id.Account{Kind: id.AccountTeamMember, Owner: r.GetTeamId(), Part: r.GetUserId()}, cmp.Or(r.GetBudgetDuration().GetValue(), of))
		return err
	case *gatewayv1.OrganizationMembership:
		_, err := s.total(r, id.Account{Kind: id.AccountOrganizationMember, Owner: r.GetOrganizationId(), Part: r.GetUserId()}, "")
		return err
	case *gatewayv1.BudgetRecord:
		s.resets(r, r.GetBudgetDuration().GetValue())
	}
	return nil
}

// shared adds to the record of a shared user what the user spent in the organizations
// that the caller runs. The account of the user itself includes spend elsewhere.
func (s spender) shared(r *gatewayv1.UserRecord) error {
	var window, all money.Total
	for _, place := range r.GetOrganizationMemberships() {
		if !s.rights.Administers(id.Organization(place.GetOrganizationId())) {
			continue // a replayed response may be older than the rights of the caller
		}
		state, err := s.account(id.Account{Kind: id.AccountOrganizationMember, Owner: place.GetOrganizationId(), Part: r.GetUserId()})
		if err != nil {
			return err
		}
		window, all = window.Add(windowAt(state, s.now)), all.Add(state.Total)
	}
	setField(r, fieldSpend, protoreflect.ValueOfFloat64(inDollars(window)))
	setField(r, fieldTotalSpend, protoreflect.ValueOfFloat64(inDollars(all)))
	return nil
}

// bounded adds spend to a record, also that of single models: of those that have their own
// budget, and of the first ones with spend. models is the kind of their accounts.
func (s spender) bounded(r bounded, kind id.AccountKind, owner string, models id.AccountKind) error {
	all, err := s.total(r, id.Account{Kind: kind, Owner: owner}, s.duration(r.GetBudgetDuration().GetValue(), r.GetBudgetId().GetValue()))
	if err != nil || r.ProtoReflect().Descriptor().Fields().ByName(fieldModelSpend) == nil {
		return err
	}
	show := func(model string, state ledger.State) {
		setEntry(r, fieldModelSpend, model, protoreflect.ValueOfFloat64(inDollars(windowAt(state, s.now))))
	}
	if f := r.ProtoReflect().Descriptor().Fields().ByName(fieldModelBudget); f != nil {
		r.ProtoReflect().Get(f).Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			var state ledger.State
			if state, err = s.account(id.Account{Kind: models, Owner: owner, Part: k.String()}); err == nil {
				show(k.String(), state)
			}
			return err == nil
		})
	}
	if err != nil {
		return err
	}
	if all.Posted.IsZero() {
		return nil // a posting for a model is also one for its owner
	}
	seen := 0
	return s.models(models, owner, func(model string, state ledger.State) bool {
		show(model, state)
		seen++
		return seen < mostModels
	})
}

// duration returns the duration of a record, or else that of its budget.
func (s spender) duration(own, budget string) string {
	return termsOf(s.set, nil, tenancy.Limits{BudgetDuration: own, Budget: id.Budget(budget)}).BudgetDuration
}

// termsOf returns limits completed by those of the budget that they name.
func termsOf(set *tenancy.Set, tx *record.Txn, l tenancy.Limits) tenancy.Limits {
	if l.Budget == "" {
		return l
	}
	b, ok := set.Budget(tx, l.Budget)
	if !ok {
		return l
	}
	if l.MaxBudget == nil {
		l.MaxBudget = b.Limits.MaxBudget
	}
	if l.BudgetDuration == "" {
		l.BudgetDuration = b.Limits.BudgetDuration
	}
	if l.Models == nil {
		l.Models = b.Limits.Models
	}
	return l
}

// total adds the spend of an account, and returns the account.
func (s spender) total(r proto.Message, a id.Account, duration string) (ledger.State, error) {
	state, err := s.account(a)
	if err != nil {
		return state, err
	}
	setField(r, fieldSpend, protoreflect.ValueOfFloat64(inDollars(windowAt(state, s.now))))
	setField(r, fieldTotalSpend, protoreflect.ValueOfFloat64(inDollars(state.Total)))
	s.resets(r, duration)
	return state, nil
}

// windowAt returns the spend in the window at a time. It is 0 if the window of the account has
// ended: the account starts the next one with the next request or soon after.
func windowAt(s ledger.State, now time.Time) money.Total {
	if !s.Resets.IsZero() && !now.Before(s.Resets) {
		return money.Total{}
	}
	return s.Window
}

// resets sets the end of the present window of a duration.
func (s spender) resets(r proto.Message, duration string) {
	if at, ok := period.NextReset(duration, s.now); ok {
		setField(r, fieldResetAt, protoreflect.ValueOfMessage(timestamppb.New(at).ProtoReflect()))
	}
}
