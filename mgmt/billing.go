package mgmt

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// currency is that of all prices.
const currency = "USD"

// objectList is the type of lists with cursors.
const objectList = "list"

// defaultSpendDays is the number of days in a response unless the request names days.
const defaultSpendDays = 30

type billingService struct {
	gatewayv1.UnimplementedBillingServiceServer
	ledger  Ledger
	reports *reports
}

// GetDailySpend shows the spend of each day.
func (s billingService) GetDailySpend(ctx context.Context, in *gatewayv1.GetDailySpendRequest) (*gatewayv1.GetDailySpendResponse, error) {
	between, err := spendDays(in, time.Now())
	if err != nil {
		return nil, err
	}
	f, err := payer(ctx, in)
	if err != nil {
		return nil, err
	}
	f.From, f.To = between.from, between.to
	return shared(ctx, s.reports, in, func() (*gatewayv1.GetDailySpendResponse, error) { return s.daily(ctx, in, f, between) })
}

// daily sums the spend of some days.
func (s billingService) daily(ctx context.Context, in *gatewayv1.GetDailySpendRequest, f ledger.DailyFilter, between days) (*gatewayv1.GetDailySpendResponse, error) {
	set, left := operation.View(ctx).Keys, cells{2 * mostCells}
	var total money.Total
	byDay := map[string]*spendDay{}
	err := s.ledger.Daily(ctx, f, func(r ledger.DailyRow) bool {
		if m := in.GetModel(); m != "" && r.Model != m && string(r.Group) != m || in.GetProvider() != "" && r.Provider != in.GetProvider() {
			return true
		}
		d := byDay[r.Day]
		if d == nil {
			d = &spendDay{by: map[string]*sums{}}
			byDay[r.Day] = d
		}
		total = total.Add(r.Spend)
		r.Key = shownOf(set, r.Key)
		d.add(&r, in.GetGroupBy(), &left)
		return left.left >= 0
	})
	switch {
	case err != nil:
		return nil, err
	case left.left < 0:
		return nil, fault.Field("group_by", "too_large", "The answer would have more than %d sums. Ask for fewer days, or leave group_by out.", 2*mostCells)
	}
	out := &gatewayv1.GetDailySpendResponse{Object: objectList, Currency: currency, StartDate: between.from, EndDate: between.to, TotalSpend: inDollars(total), TotalSpendDecimal: total.String()}
	between.each(func(day string) {
		out.Data = append(out.GetData(), cmp.Or(byDay[day], &spendDay{}).show(day))
	})
	return out, nil
}

// spendDays returns the days of a request; the last 30 unless it names days.
func spendDays(in *gatewayv1.GetDailySpendRequest, now time.Time) (days, error) {
	to := cmp.Or(in.GetEndDate(), now.UTC().Format(time.DateOnly))
	last, err := dayOf("end_date", to)
	if err != nil {
		return days{}, err
	}
	return daysOf(cmp.Or(in.GetStartDate(), last.AddDate(0, 0, 1-defaultSpendDays).Format(time.DateOnly)), to)
}

// payer returns a filter for the spend of a request, narrowed to what the caller may see.
func payer(ctx context.Context, in *gatewayv1.GetDailySpendRequest) (ledger.DailyFilter, error) {
	var f ledger.DailyFilter
	for _, one := range []struct {
		param, name string
		kind        id.AccountKind
	}{
		{"organization_id", in.GetOrganizationId(), id.AccountOrganization},
		{"team_id", in.GetTeamId(), id.AccountTeam},
		{"user_id", in.GetUserId(), id.AccountUser},
		{"customer_id", in.GetCustomerId(), id.AccountCustomer},
	} {
		switch {
		case one.name == "":
			continue
		case one.kind == id.AccountCustomer && f.Kind == id.AccountOrganization:
			f.Organization = new(id.Organization(f.Owners[0]))
		case f.Kind != 0:
			return f, fault.Field(one.param, "invalid_value", "Name an organization, a team, a user or an end user, and not two of them, except an end user and its organization.")
		}
		f.Kind, f.Owners = one.kind, []string{one.name}
	}
	c := viewer(ctx)
	if c.rights.SeesAll() {
		return f, nil
	}
	own := c.overseen()
	switch {
	case len(own) == 0:
		return f, notYours("", "Only an org_admin, or a caller that sees everything, may see what is to be paid.")
	case f.Kind == 0 && len(own) == 1:
		f.Kind, f.Owners = id.AccountOrganization, own
		return f, nil
	case f.Kind == 0:
		return f, fault.Field("organization_id", "missing_required_parameter", "organization_id is missing: name one of the organizations of which this API key's user is org_admin.")
	case f.Kind == id.AccountCustomer:
		o, err := c.rights.CustomersToSee(id.Organization(in.GetOrganizationId()))
		f.Organization = &o
		return f, err
	case f.Kind == id.AccountOrganization && slices.Contains(own, f.Owners[0]):
		return f, nil
	case f.Kind == id.AccountTeam:
		if t, ok := c.set.Team(nil, id.Team(f.Owners[0])); ok && c.oversees(t.Organization) {
			return f, nil
		}
	}
	return f, notYours("organization_id", "This API key may see what is to be paid for the organizations of which its user is org_admin, and for their teams.")
}

// spendDay has the sums of one day, and those of each group.
type spendDay struct {
	sums
	by map[string]*sums
}

func (d *spendDay) add(r *ledger.DailyRow, by string, c *cells) {
	d.count(&r.Counts)
	name := ""
	switch by {
	case "":
		return
	case "model":
		name = r.Model
	case "model_group":
		name = string(r.Group)
	case "provider":
		name = r.Provider
	case "team":
		name = string(r.Team)
	case "key":
		name = tokenOf(r.Key)
	case "call_type":
		name = r.CallType
	}
	one := d.by[name]
	if one == nil {
		one = &sums{}
		d.by[name] = one
		c.left--
	}
	one.count(&r.Counts)
}

func (d *spendDay) show(day string) *gatewayv1.DailySpend {
	out := &gatewayv1.DailySpend{
		Date: day, Spend: inDollars(d.spend), BilledSpend: inDollars(d.spend), SpendDecimal: d.spend.String(),
		Requests: d.requests(), SuccessfulRequests: float64(d.successful), FailedRequests: float64(d.failed),
		TokensInput: float64(d.prompt), TokensOutput: float64(d.completion), CachedTokens: float64(d.cacheRead),
	}
	names := slices.SortedFunc(maps.Keys(d.by), func(a, b string) int { return cmp.Or(d.by[b].spend.Compare(d.by[a].spend), cmp.Compare(a, b)) })
	if len(names) > topEntries {
		other := &sums{}
		for _, name := range names[topEntries:] {
			other.merge(d.by[name])
		}
		name := otherName
		for d.by[name] != nil { // a model or a team has the name
			name += "_"
		}
		d.by[name] = other
		names = append(names[:topEntries:topEntries], name)
	}
	for _, name := range names {
		s := d.by[name]
		out.Breakdown = append(out.GetBreakdown(), &gatewayv1.SpendShare{
			Key: name, Spend: inDollars(s.spend), SpendDecimal: s.spend.String(), Requests: s.requests(), SuccessfulRequests: float64(s.successful), FailedRequests: float64(s.failed),
			TokensInput: float64(s.prompt), TokensOutput: float64(s.completion), CachedTokens: float64(s.cacheRead),
		})
	}
	return out
}
