package metrics

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/extproc/spenders"
)

// spending has the sums by key, team, user and organization, and exports their budgets.
type spending struct {
	keys, teams, users, organizations *spenders.Table
	spent                             Spent
}

const (
	labelTeam         = "gateway.team.id"
	labelUser         = "gateway.user.id"
	labelOrganization = "gateway.organization.id"
)

func newSpending(m metric.Meter, spent Spent) (*spending, error) {
	s := &spending{
		keys: spenders.New(maxSpenders), teams: spenders.New(maxSpenders),
		users: spenders.New(maxSpenders), organizations: spenders.New(maxSpenders), spent: spent,
	}
	return s, errors.Join(
		s.observe(m, "gateway.key", "alias and place of a key, or by hash if it has no alias", keyLabels, s.keys),
		s.observe(m, "gateway.team", "team", idLabel(labelTeam), s.teams),
		s.observe(m, "gateway.user", "user", idLabel(labelUser), s.users),
		s.observe(m, "gateway.organization", "organization", idLabel(labelOrganization), s.organizations),
	)
}

// add adds an attempt to the sums of its key and of the key's team, user and organization.
func (s *spending) add(bounds []tenancy.Bound, e *journal.Event) {
	var budgets [id.AccountProvider + 1]spenders.Budget // by kind of the account
	for i := range bounds {
		if b := &bounds[i]; b.Max != nil && b.Parent == (id.KeyHash{}) { // not that of the parent key
			budgets[b.Account.Kind] = spenders.Budget{Account: b.Account, Max: *b.Max}
		}
	}
	used := spenders.Sums{Cost: dollars(e.Cost), Input: e.Tokens.Input, Output: e.Tokens.Output}
	name := spenders.Name{Text: e.KeyAlias, Team: string(e.Team), Organization: string(e.Organization), User: string(e.User)}
	if e.KeyAlias == "" {
		name.Hash = e.Key
	}
	s.keys.Add(name, used, budgets[id.AccountKey])
	s.teams.Add(spenders.Name{Text: string(e.Team)}, used, budgets[id.AccountTeam])
	s.users.Add(spenders.Name{Text: string(e.User)}, used, budgets[id.AccountUser])
	s.organizations.Add(spenders.Name{Text: string(e.Organization)}, used, budgets[id.AccountOrganization])
}

// idLabel returns the function that labels the series of a name with its text.
func idLabel(label string) func(spenders.Name) []attribute.KeyValue {
	return func(n spenders.Name) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String(label, n.Text)}
	}
}

// keyLabels returns the labels of a key's series. Keys of two owners may share
// an alias, so team, organization and user are labels too. A key without alias has its
// hash, as in the log.
func keyLabels(n spenders.Name) []attribute.KeyValue {
	hash := ""
	if n.Hash != (id.KeyHash{}) {
		hash = n.Hash.String()
	}
	return []attribute.KeyValue{
		attribute.String("gateway.key.alias", n.Text), attribute.String("gateway.key.hash", hash),
		attribute.String(labelTeam, n.Team), attribute.String(labelOrganization, n.Organization), attribute.String(labelUser, n.User),
	}
}

// observe makes the instruments of a table.
func (s *spending) observe(meter metric.Meter, prefix, what string, labels func(spenders.Name) []attribute.KeyValue, table *spenders.Table) error {
	cost, err := meter.Float64ObservableCounter(prefix+".cost_usd", metric.WithDescription("Cost of all attempts, by "+what+"."))
	if err != nil {
		return err
	}
	tokens, err := meter.Int64ObservableCounter(prefix+".tokens", metric.WithUnit("{token}"), metric.WithDescription("Tokens of all attempts, by "+what+" and type."))
	if err != nil {
		return err
	}
	left, err := meter.Float64ObservableGauge(prefix+".budget.remaining_usd",
		metric.WithDescription("What the budget has left in its window, by "+what+"; below 0 if more was spent."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		for _, r := range table.Rows() {
			name := labels(r.Name)
			set := metric.WithAttributes(name...)
			o.ObserveFloat64(cost, r.Sums.Cost, set)
			o.ObserveInt64(tokens, r.Sums.Input, set, metric.WithAttributes(attribute.String("gen_ai.token.type", "input")))
			o.ObserveInt64(tokens, r.Sums.Output, set, metric.WithAttributes(attribute.String("gen_ai.token.type", "output")))
			if r.Budget == (spenders.Budget{}) {
				continue
			}
			// A budget that cannot be read has no series: any number would be wrong.
			if spent, err := s.spent(ctx, r.Budget.Account); err == nil {
				o.ObserveFloat64(left, dollars(r.Budget.Max-spent), set)
			}
		}
		return nil
	}, cost, tokens, left)
	return err
}
