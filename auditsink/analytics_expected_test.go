package auditsink_test

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// group are the sums of a group of a query.
type group struct {
	key   []any
	spend money.Total
	n     [4]int64
}

// groups are the groups of a query, by the line of their key.
type groups map[string]*group

func (g groups) at(key ...any) *group {
	name := line(key...)
	if g[name] == nil {
		g[name] = &group{key: key}
	}
	return g[name]
}

// lines returns the rows of a query. columns returns those behind the key.
func (g groups) lines(columns func(*group) []any) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		out = append(out, line(append(slices.Clone(g[name].key), columns(g[name])...)...))
	}
	slices.Sort(out)
	return out
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// expectedOf returns what the queries of the example must find: amounts and tokens as the ledger's daily
// rows have them, the rest counted from the attempts.
func expectedOf(t *testing.T, p *posted) map[string][]string {
	t.Helper()
	teams, days, keys, caches := groups{}, groups{}, groups{}, groups{}
	var total money.Total
	aliases := map[string]string{}
	if err := ledger.Daily(t.Context(), p.state, ledger.DailyFilter{From: "1999-01-01", To: "2005-01-01"}, func(r ledger.DailyRow) bool {
		total = total.Add(r.Spend)
		hash := hex.EncodeToString(r.Key[:])
		aliases[hash] = r.KeyAlias
		for _, g := range []*group{teams.at(orNil(string(r.Team)), r.Group), keys.at(hash)} {
			g.spend = g.spend.Add(r.Spend)
			g.n[0] += r.Successful + r.Failed
		}
		day := days.at(r.Day)
		day.spend = day.spend.Add(r.Spend)
		day.n[0] += r.PromptTokens
		day.n[1] += r.CompletionTokens
		cache := caches.at(r.Provider, r.Model)
		cache.n[0] += r.CacheReadTokens
		cache.n[1] += r.PromptTokens
		return true
	}); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{
		"spend_by_team_and_model": teams.lines(func(g *group) []any { return []any{dollars(t, g.spend), g.n[0]} }),
		"spend_by_day":            days.lines(func(g *group) []any { return []any{dollars(t, g.spend), g.n[0], g.n[1]} }),
		"spend_by_key": keys.lines(func(g *group) []any {
			return []any{aliases[g.key[0].(string)], dollars(t, g.spend), g.n[0]}
		}),
		"cache_share": caches.lines(func(g *group) []any {
			return []any{g.n[0], g.n[1], float64(g.n[0]) / float64(g.n[1])}
		}),
		"reconcile": {line(dollars(t, total), dollars(t, debits(t, p)), dollars(t, money.Total{}))},
	}
	head, err := audit.Head(p.state, audit.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	n := len(p.attempts)
	findings := 0
	for _, a := range p.attempts {
		if a.Final {
			findings += len(a.Violations)
		}
	}
	out["once"] = []string{line("audit", head.Size, head.Size, head.Size, head.Size), line("early", 0, 0, 0, 0), line("findings", findings, findings, 0, 0), line("usage", n, n, n, n)}
	maps.Copy(out, counted(t, p.attempts))
	return out
}

// debits returns the sum of the amounts in the audit log.
func debits(t *testing.T, p *posted) (sum money.Total) {
	t.Helper()
	if err := audit.From(t.Context(), p.state, audit.DefaultWorkspace, 1, func(r audit.Record) bool {
		for _, f := range r.Fields() {
			if f.Name != "cost_usd" || r.Type != "spend.debited" {
				continue
			}
			cost, err := money.Parse(string(f.Value))
			if err != nil {
				t.Fatal(err)
			}
			sum = sum.Add(cost.Total())
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return sum
}

// counted returns the results of the queries about what the daily rows do not have.
func counted(t *testing.T, attempts []attempt) map[string][]string {
	t.Helper()
	tags, causes, steps, sources, found, took := groups{}, groups{}, groups{}, groups{}, groups{}, map[string][]int64{}
	one := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	for _, a := range attempts {
		for _, tag := range a.Tags {
			g := tags.at(tag)
			g.spend = g.spend.Add(a.Cost.Total())
			g.n[0] += one(a.Final)
		}
		source := sources.at(a.Provider, a.Source.String())
		source.spend = source.spend.Add(a.Cost.Total())
		source.n[0]++
		if a.Outcome == usage.Success {
			name := string(a.Deployment)
			took[name] = append(took[name], a.End.UnixMicro()-a.Start.UnixMicro())
		}
		if !a.Final {
			continue
		}
		for _, f := range a.Failures {
			causes.at(f.Provider, f.Cause).n[0]++
		}
		for _, v := range a.Violations {
			found.at(v.Guardrail, v.Engine, v.Entity, v.Action).n[0] += v.Count
		}
		g := steps.at(a.Group)
		for i, b := range []bool{true, a.Steps.Retries > 0, a.Steps.Fallbacks > 0, a.Outcome != usage.Success} {
			g.n[i] += one(b)
		}
	}
	var slow []string
	for name, all := range took {
		slices.SortFunc(all, cmp.Compare)
		at := func(percent int) int64 { return all[max((len(all)*percent+99)/100-1, 0)] }
		slow = append(slow, line(name, len(all), at(50), at(99)))
	}
	slices.Sort(slow)
	return map[string][]string{
		"spend_by_tag":          tags.lines(func(g *group) []any { return []any{dollars(t, g.spend), g.n[0]} }),
		"failures_by_cause":     causes.lines(func(g *group) []any { return []any{g.n[0]} }),
		"retries_and_fallbacks": steps.lines(func(g *group) []any { return []any{g.n[0], g.n[1], g.n[2], g.n[3]} }),
		"estimated_spend":       sources.lines(func(g *group) []any { return []any{dollars(t, g.spend), g.n[0]} }),
		"p99_by_deployment":     slow,
		"findings_by_guardrail": found.lines(func(g *group) []any { return []any{g.n[0]} }),
	}
}
