package extproc

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/spenders"
)

// spend adds an attempt to the sums of its team and of its key's alias.
func (m *Metrics) spend(x *Exchange, e *journal.Event) {
	if e.Team == "" && e.KeyAlias == "" {
		return
	}
	used := spenders.Sums{Cost: dollars(e.Cost), Input: e.Tokens.Input, Output: e.Tokens.Output}
	var team, key spenders.Budget
	var teamLimited, keyLimited bool
	for i := range x.bounds {
		b := &x.bounds[i]
		switch {
		case b.Max == nil || b.Parent != (id.KeyHash{}): // no budget, or that of a key by which this one was made
		case b.Account.Kind == id.AccountTeam:
			team, teamLimited = spenders.Budget{Account: b.Account, Max: *b.Max}, true
		case b.Account.Kind == id.AccountKey:
			key, keyLimited = spenders.Budget{Account: b.Account, Max: *b.Max}, true
		}
	}
	m.teams.Add(string(e.Team), used, team, teamLimited)
	m.keys.Add(e.KeyAlias, used, key, keyLimited)
}

// observe makes the instruments of a table.
func (m *Metrics) observe(meter metric.Meter, prefix, what, label string, table *spenders.Table) error {
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
			name := attribute.String(label, r.Name)
			set := metric.WithAttributes(name)
			o.ObserveFloat64(cost, r.Sums.Cost, set)
			o.ObserveInt64(tokens, r.Sums.Input, metric.WithAttributes(name, attribute.String("gen_ai.token.type", "input")))
			o.ObserveInt64(tokens, r.Sums.Output, metric.WithAttributes(name, attribute.String("gen_ai.token.type", "output")))
			if !r.Limited {
				continue
			}
			// A budget that cannot be read has no series: no number would be true.
			if spent, err := m.spent(ctx, r.Budget.Account); err == nil {
				o.ObserveFloat64(left, dollars(r.Budget.Max-spent), set)
			}
		}
		return nil
	}, cost, tokens, left)
	return err
}
