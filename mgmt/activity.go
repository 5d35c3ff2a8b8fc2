package mgmt

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type activityService struct {
	gatewayv1.UnimplementedActivityServiceServer
	ledger  Ledger
	reports *reports
}

// The days of a page unless the request sets them.
const (
	defaultActivityPage     = 10
	defaultUserActivityPage = 50
)

// mostCells bounds the sums of a response. Ten days with full breakdowns have
// 50,000. Many larger responses at once would take the memory that requests need.
const mostCells = 100_000

// activityRequest has the fields that all requests for activity have.
type activityRequest interface {
	GetStartDate() string
	GetEndDate() string
	GetModel() string
	GetApiKey() string
	pagedRequest
}

// pagedRequest is a request with pages of days and of breakdowns.
type pagedRequest interface {
	proto.Message
	GetPage() int32
	GetPageSize() int32
	GetBreakdownPage() int32
}

// activity is a request about days.
type activity struct {
	filter     ledger.DailyFilter
	page, size int32
	// breakdownPage is the page of each breakdown, from 1.
	breakdownPage int32
	except        []string                      // owners
	model         string                        // by either of its names
	counts        func(r *ledger.DailyRow) bool // nil: all rows
	caller
}

func (s activityService) activity(ctx context.Context, kind id.AccountKind, in activityRequest, size int32) (*activity, error) {
	between, err := daysOf(in.GetStartDate(), in.GetEndDate())
	if err != nil {
		return nil, err
	}
	c := viewer(ctx)
	a := &activity{
		filter: ledger.DailyFilter{Kind: kind, From: between.from, To: between.to},
		model:  in.GetModel(), caller: c,
		page: max(in.GetPage(), 1), size: cmp.Or(in.GetPageSize(), size), breakdownPage: max(in.GetBreakdownPage(), 1),
	}
	if in.GetApiKey() != "" {
		h, err := keyHash("api_key", in.GetApiKey())
		if err == nil {
			h, err = accountOf(ctx, s.ledger, c.set, h)
		}
		if err != nil {
			return nil, err
		}
		a.filter.Key = &h
	}
	return a, nil
}

// namesIn returns the names in a request: those in a list separated by commas, and single ones.
func namesIn(list string, single ...string) []string {
	var out []string
	for _, name := range append(strings.Split(list, ","), single...) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// GetTeamActivity shows the usage of teams.
func (s activityService) GetTeamActivity(ctx context.Context, in *gatewayv1.GetTeamActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountTeam, in, defaultActivityPage)
	if err != nil {
		return nil, err
	}
	a.filter.Owners, a.except = namesIn(in.GetTeamIds(), in.GetTeamId()), namesIn(in.GetExcludeTeamIds())
	if err := a.ownTeams(); err != nil {
		return nil, err
	}
	return s.answer(ctx, in, a)
}

// ownTeams narrows a request to the teams that the caller may see. Of a team that the caller
// does not oversee, it counts only the usage of the caller's own keys.
func (a *activity) ownTeams() error {
	if a.rights.SeesAll() {
		return nil
	}
	if len(a.filter.Owners) == 0 {
		a.filter.Owners = a.ownedTeams()
	}
	all := map[string]bool{}
	for _, name := range a.filter.Owners {
		t, ok := a.set.Team(nil, id.Team(name))
		if !ok || !a.rights.MaySeeTeam(t) {
			return notYours("team_ids", "This API key may not see one of these teams. Name only those that its user is in.")
		}
		all[name] = a.overseesTeam(t)
	}
	own := a.rights.User()
	a.counts = func(r *ledger.DailyRow) bool {
		if all[r.Owner] {
			return true
		}
		k, ok := a.set.OfAccount(r.Key)
		return ok && own != "" && k.User == own
	}
	a.some()
	return nil
}

// ownedTeams returns the teams that the caller may see.
func (c caller) ownedTeams() []string {
	var out []string
	if c.rights.User() == "" {
		return nil
	}
	for m := range c.set.TeamsOf(c.rights.User()) {
		out = append(out, string(m.Team))
	}
	for _, o := range c.overseen() {
		for t := range c.set.TeamsIn(id.Organization(o)) {
			if !slices.Contains(out, string(t.ID)) {
				out = append(out, string(t.ID))
			}
		}
	}
	return out
}

// some makes an empty list of owners mean none, because for the ledger it means all.
func (a *activity) some() {
	if len(a.filter.Owners) == 0 {
		a.counts = func(*ledger.DailyRow) bool { return false }
		a.filter.Owners = []string{""}
	}
}

// GetUserActivity shows the usage of users.
func (s activityService) GetUserActivity(ctx context.Context, in *gatewayv1.GetUserActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountUser, in, defaultUserActivityPage)
	if err != nil {
		return nil, err
	}
	a.filter.Owners = namesIn(in.GetUserId())
	if !a.rights.SeesAll() {
		own := string(a.rights.User())
		if in.GetUserId() != "" && in.GetUserId() != own {
			return nil, notYours("user_id", "This API key may see what its own user has used, and not what others have. Leave user_id out.")
		}
		a.filter.Owners = namesIn(own)
		a.some()
	}
	return s.answer(ctx, in, a)
}

// GetCustomerActivity shows the usage of end users.
func (s activityService) GetCustomerActivity(ctx context.Context, in *gatewayv1.GetCustomerActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountCustomer, in, defaultActivityPage)
	if err != nil {
		return nil, err
	}
	a.filter.Owners = namesIn(in.GetEndUserIds(), in.GetCustomerId(), in.GetEndUserId())
	a.except = namesIn(in.GetExcludeEndUserIds())
	if in.GetOrganizationId() != "" || !a.rights.SeesAll() {
		of, err := a.rights.CustomersToSee(id.Organization(in.GetOrganizationId()))
		if err != nil {
			return nil, err
		}
		a.filter.Organization = &of
	}
	return s.answer(ctx, in, a)
}

// GetOrganizationActivity shows the usage of organizations.
func (s activityService) GetOrganizationActivity(ctx context.Context, in *gatewayv1.GetOrganizationActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountOrganization, in, defaultActivityPage)
	if err != nil {
		return nil, err
	}
	a.filter.Owners, a.except = namesIn(in.GetOrganizationIds(), in.GetOrganizationId()), namesIn(in.GetExcludeOrganizationIds())
	if !a.rights.SeesAll() {
		for _, o := range a.filter.Owners {
			if !a.oversees(id.Organization(o)) {
				return nil, notYours("organization_ids", "Only an org_admin of an organization, or a caller that sees everything, may see its usage.")
			}
		}
		if len(a.filter.Owners) == 0 {
			a.filter.Owners = a.overseen()
		}
		a.some()
	}
	return s.answer(ctx, in, a)
}

// wants reports whether a row counts.
func (a *activity) wants(r *ledger.DailyRow) bool {
	return (a.model == "" || r.Model == a.model || string(r.Group) == a.model) &&
		!slices.Contains(a.except, r.Owner) && (a.counts == nil || a.counts(r))
}

// answer sums over all days, to find those with usage, and then over those of the page in
// detail. Equal requests at the same time share one response.
func (s activityService) answer(ctx context.Context, in activityRequest, a *activity) (*gatewayv1.DailyActivity, error) {
	return shared(ctx, s.reports, in, func() (*gatewayv1.DailyActivity, error) { return s.compute(ctx, a) })
}

func (s activityService) compute(ctx context.Context, a *activity) (*gatewayv1.DailyActivity, error) {
	var total sums
	rows := map[string]int{}
	err := s.ledger.Daily(ctx, a.filter, func(r ledger.DailyRow) bool {
		if a.wants(&r) {
			total.count(&r.Counts)
			rows[r.Day]++
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	all := slices.Sorted(maps.Keys(rows))
	slices.Reverse(all)
	from := min(int(min(int64(a.page-1)*int64(a.size), int64(len(all)))), len(all))
	shown := all[from:min(from+int(a.size), len(all))]
	out := &gatewayv1.DailyActivity{Metadata: total.totals()}
	out.Metadata.Page, out.Metadata.TotalPages = a.page, pages(len(all), a.size)
	out.Metadata.HasMore = from+len(shown) < len(all)
	left := cells{mostCells}
	for len(shown) > 0 {
		n, sum := 1, rows[shown[0]] // n days are summed together
		for n < len(shown) && sum+rows[shown[n]] <= mostRows {
			sum += rows[shown[n]]
			n++
		}
		days, err := s.detailed(ctx, a, shown[:n], &left)
		if err != nil {
			return nil, err
		}
		out.Results = append(out.GetResults(), days...)
		shown = shown[n:]
	}
	return out, nil
}

// detailed returns the sums of some days, which are in order, the newest first.
func (s activityService) detailed(ctx context.Context, a *activity, shown []string, left *cells) ([]*gatewayv1.ActivityDay, error) {
	which, err := s.choose(ctx, a, shown)
	if err != nil {
		return nil, err
	}
	byDay := make(map[string]*dayParts, len(shown))
	for _, day := range shown {
		byDay[day] = newDayParts(day, which)
	}
	err = s.rows(ctx, a, shown, func(r *ledger.DailyRow) bool {
		byDay[r.Day].add(r, left)
		return left.left >= 0
	})
	switch {
	case err != nil:
		return nil, err
	case left.left < 0:
		return nil, fault.Field("page_size", "too_large", "The response would have more than %d sums. Ask for fewer days with page_size, or for fewer keys, models or owners.", mostCells)
	}
	out := make([]*gatewayv1.ActivityDay, len(shown))
	for i, day := range shown {
		out[i] = byDay[day].show(a)
	}
	return out, nil
}
