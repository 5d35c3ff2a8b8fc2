package mgmt

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// sums are the sums of rows. They are whole numbers until the response.
type sums struct {
	spend                                     money.Total
	prompt, completion, cacheRead, cacheWrite int64
	successful, failed                        int64
}

func (s *sums) count(c *ledger.Counts) {
	s.merge(&sums{c.Spend, c.PromptTokens, c.CompletionTokens, c.CacheReadTokens, c.CacheWriteTokens, c.Successful, c.Failed})
}

// merge adds other sums.
func (s *sums) merge(o *sums) {
	s.spend = s.spend.Add(o.spend)
	s.prompt += o.prompt
	s.completion += o.completion
	s.cacheRead += o.cacheRead
	s.cacheWrite += o.cacheWrite
	s.successful += o.successful
	s.failed += o.failed
}

func (s *sums) requests() float64 { return float64(s.successful + s.failed) }

func (s *sums) metrics() *gatewayv1.ActivityMetrics {
	return &gatewayv1.ActivityMetrics{
		Spend: inDollars(s.spend), PromptTokens: float64(s.prompt), CompletionTokens: float64(s.completion),
		CacheReadInputTokens: float64(s.cacheRead), CacheCreationInputTokens: float64(s.cacheWrite),
		TotalTokens: float64(s.prompt + s.completion), SuccessfulRequests: float64(s.successful), FailedRequests: float64(s.failed),
		ApiRequests: s.requests(),
	}
}

func (s *sums) totals() *gatewayv1.ActivityTotals {
	return &gatewayv1.ActivityTotals{
		TotalSpend: inDollars(s.spend), TotalPromptTokens: float64(s.prompt), TotalCompletionTokens: float64(s.completion),
		TotalTokens: float64(s.prompt + s.completion), TotalApiRequests: s.requests(),
		TotalSuccessfulRequests: float64(s.successful), TotalFailedRequests: float64(s.failed),
		TotalCacheReadInputTokens: float64(s.cacheRead), TotalCacheCreationInputTokens: float64(s.cacheWrite),
	}
}

// part has the sums of one entry on one day, and those of its keys.
type part struct {
	sums
	show  map[id.KeyHash]struct{} // the keys that are shown
	keys  map[id.KeyHash]*keySums
	other sums // of the keys that are not
}

// keySums has the sums of one key, with its names.
type keySums struct {
	sums
	alias string
	team  id.Team
}

// cells bounds the entries of a response.
type cells struct{ left int }

// parts has the sums of one breakdown, such as by model.
type parts struct {
	entries map[thing]*part
	other   sums // of the entries that are not shown
	left    int  // how many those are
}

func (p *parts) add(name thing, show map[id.KeyHash]struct{}, r *ledger.DailyRow, c *cells) {
	one := p.entries[name]
	if one == nil {
		one = &part{show: show, keys: map[id.KeyHash]*keySums{}}
		p.entries[name] = one
		c.left--
	}
	one.count(&r.Counts)
	if _, ok := show[r.Key]; !ok {
		one.other.count(&r.Counts)
		return
	}
	k := one.keys[r.Key]
	if k == nil {
		k = &keySums{}
		one.keys[r.Key] = k
		c.left--
	}
	k.count(&r.Counts)
	k.alias, k.team = r.KeyAlias, r.Team
}

// show returns the sums in the form of the API. called returns the name of an entry there, and
// about its metadata.
func (p *parts) show(called func(name string) string, about func(name string, of *part) map[string]*structpb.Value) map[string]*gatewayv1.ActivityEntry {
	out, entries := make(map[string]*gatewayv1.ActivityEntry, len(p.entries)+1), make(map[string]*part, len(p.entries))
	for at, one := range p.entries {
		entries[at.shown()] = one
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		one := entries[name]
		e := &gatewayv1.ActivityEntry{
			Metrics: one.metrics(), Metadata: &structpb.Struct{Fields: about(name, one)},
			ApiKeyBreakdown: make(map[string]*gatewayv1.ActivityKey, len(one.keys)+1),
		}
		for hash, k := range one.keys {
			e.ApiKeyBreakdown[tokenOf(hash)] = &gatewayv1.ActivityKey{Metrics: k.metrics(), Metadata: &structpb.Struct{Fields: k.about()}}
		}
		if one.other != (sums{}) {
			e.ApiKeyBreakdown[otherName] = &gatewayv1.ActivityKey{Metrics: one.other.metrics(), Metadata: &structpb.Struct{}}
		}
		shown := called(name)
		for shown != name && (entries[shown] != nil || out[shown] != nil) { // another entry has the name
			shown += "_"
		}
		out[shown] = e
	}
	if p.left > 0 {
		name := otherName
		for out[name] != nil { // a model or an end user has the name
			name += "_"
		}
		out[name] = &gatewayv1.ActivityEntry{
			Metrics: p.other.metrics(), ApiKeyBreakdown: map[string]*gatewayv1.ActivityKey{},
			Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"entries": structpb.NewNumberValue(float64(p.left))}},
		}
	}
	return out
}

func (k *keySums) about() map[string]*structpb.Value {
	return map[string]*structpb.Value{"key_alias": textValue(k.alias), "team_id": textValue(string(k.team))}
}

func textValue(s string) *structpb.Value {
	if s == "" {
		return structpb.NewNullValue()
	}
	return structpb.NewStringValue(s)
}

// shown returns the name of an entry in the API; for byEntity, its endUserName.
func (t thing) shown() string {
	switch t.by {
	case byKey:
		return tokenOf(t.key)
	case byEndpoint:
		return endpoint(t.name)
	}
	return t.name
}

// dayParts has the sums of one day.
type dayParts struct {
	sums
	day   string
	which *selection
	by    [breakdowns]parts
}

func newDayParts(day string, which *selection) *dayParts {
	d := &dayParts{day: day, which: which}
	for by := range d.by {
		d.by[by] = parts{entries: map[thing]*part{}, left: which.left[dayPart{day, by}]}
	}
	return d
}

func (d *dayParts) add(r *ledger.DailyRow, c *cells) {
	d.count(&r.Counts)
	for by := range d.by {
		at := thingOf(r, by)
		show, ok := d.which.entries[at]
		if !ok {
			d.by[by].other.count(&r.Counts)
			continue
		}
		d.by[by].add(at, show, r, c)
	}
}

// endpoint returns the path of a call type.
func endpoint(callType string) string { return "/v1/" + strings.ReplaceAll(callType, ".", "/") }

func (d *dayParts) show(a *activity) *gatewayv1.ActivityDay {
	nothing := func(string, *part) map[string]*structpb.Value { return nil }
	same := func(name string) string { return name }
	endUser := func(name string) string {
		u := endUserOf(name)
		if a.filter.Organization != nil {
			return string(u.ID)
		}
		return u.Name()
	}
	return &gatewayv1.ActivityDay{
		Date: d.day, Metrics: d.metrics(),
		Breakdown: &gatewayv1.ActivityBreakdown{
			Models: d.by[byModel].show(same, nothing), ModelGroups: d.by[byGroup].show(same, nothing),
			Providers: d.by[byProvider].show(same, nothing), Endpoints: d.by[byEndpoint].show(same, nothing),
			ApiKeys: d.by[byKey].show(same, func(_ string, of *part) map[string]*structpb.Value {
				for _, k := range of.keys { // it is one
					return k.about()
				}
				return nil
			}),
			Entities: d.by[byEntity].show(endUser, func(name string, _ *part) map[string]*structpb.Value {
				return entityAbout(a.set, a.filter.Kind, name)
			}),
		},
	}
}

// entityAbout returns the names of a team, user, organization or end user that still exists.
func entityAbout(set *tenancy.Set, kind id.AccountKind, name string) map[string]*structpb.Value {
	switch kind { //nolint:exhaustive // the other kinds have no rows by day
	case id.AccountTeam:
		if t, ok := set.Team(nil, id.Team(name)); ok {
			return map[string]*structpb.Value{"team_alias": textValue(t.Alias)}
		}
	case id.AccountUser:
		if u, ok := set.User(nil, id.User(name)); ok {
			return map[string]*structpb.Value{"user_email": textValue(u.Email), "user_alias": textValue(u.Alias)}
		}
	case id.AccountOrganization:
		if o, ok := set.Organization(nil, id.Organization(name)); ok {
			return map[string]*structpb.Value{"organization_alias": textValue(o.Alias)}
		}
	case id.AccountCustomer:
		u, alias := endUserOf(name), ""
		if c, ok := set.Customer(nil, u); ok {
			alias = c.Alias
		}
		return map[string]*structpb.Value{"alias": textValue(alias), "organization_id": textValue(string(u.Organization))}
	}
	return nil
}
