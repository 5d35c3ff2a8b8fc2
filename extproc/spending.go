package extproc

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/extproc/spenders"
)

// spend adds an attempt to the sums of its team and of its key's alias, which is unique in
// the key's place.
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
	m.teams.Add(spenders.Name{Text: string(e.Team)}, used, team, teamLimited)
	m.keys.Add(spenders.Name{Text: e.KeyAlias, Team: string(e.Team), Organization: string(e.Organization), User: string(e.User)}, used, key, keyLimited)
}

// teamLabels are the labels of a team's series.
func teamLabels(n spenders.Name) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("gateway.team.id", n.Text)}
}

// keyLabels are the labels of a key's series. Keys of two places may have one alias, so
// the place is part of them; a label is empty where the key has no such place.
func keyLabels(n spenders.Name) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("gateway.key.alias", n.Text), attribute.String("gateway.team.id", n.Team),
		attribute.String("gateway.organization.id", n.Organization), attribute.String("gateway.user.id", n.User),
	}
}

// observe makes the instruments of a table.
func (m *Metrics) observe(meter metric.Meter, prefix, what string, labels func(spenders.Name) []attribute.KeyValue, table *spenders.Table) error {
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
