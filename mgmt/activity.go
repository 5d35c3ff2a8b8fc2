package mgmt

import (
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type activityService struct {
	gatewayv1.UnimplementedActivityServiceServer
	ledger Ledger
}

// The days of a page where the request does not say.
const (
	defaultActivityPage     = 10
	defaultUserActivityPage = 50
)

// mostCells bounds how many sums an answer has. With more of them nobody reads it,
// and many such answers at once would take the memory that requests need.
const mostCells = 200_000

// activityRequest is what the requests have in common.
type activityRequest interface {
	GetStartDate() string
	GetEndDate() string
	GetModel() string
	GetApiKey() string
}

// activity is a question about days.
type activity struct {
	filter     ledger.DailyFilter
	page, size int32
	except     []string                      // owners
	model      string                        // by either of its names
	counts     func(r *ledger.DailyRow) bool // nil: all rows
	set        *keys.Set
	rights     *keys.Rights
}

func (s activityService) activity(ctx context.Context, kind id.AccountKind, in activityRequest) (*activity, error) {
	between, err := daysOf(in.GetStartDate(), in.GetEndDate())
	if err != nil {
		return nil, err
	}
	set := viewOf(ctx).Keys
	a := &activity{
		filter: ledger.DailyFilter{Kind: kind, From: between.from, To: between.to},
		model:  in.GetModel(), set: set, rights: set.Rights(nil, principal(ctx)),
	}
	if in.GetApiKey() != "" {
		h, ok := id.ParseKeyHash(in.GetApiKey())
		if !ok {
			return nil, fault.Field("api_key", "invalid_value", "api_key must be the key's SHA-256: 64 hex digits, with or without sha256: before them.")
		}
		if h, err = accountOf(ctx, s.ledger, set, h); err != nil {
			return nil, err
		}
		a.filter.Key = &h
	}
	return a, nil
}

// namesIn are the things that a request names: in a list with commas, and one by one.
func namesIn(list string, single ...string) []string {
	var out []string
	for _, name := range append(strings.Split(list, ","), single...) {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// GetTeamActivity shows the use of teams.
func (s activityService) GetTeamActivity(ctx context.Context, in *gatewayv1.GetTeamActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountTeam, in)
	if err != nil {
		return nil, err
	}
	a.page, a.size = span(in.Page, in.PageSize, defaultActivityPage)
	a.filter.Owners, a.except = namesIn(in.GetTeamIds(), in.GetTeamId()), namesIn(in.GetExcludeTeamIds())
	if err := a.ownTeams(); err != nil {
		return nil, err
	}
	return s.answer(ctx, a)
}

// ownTeams narrows a question to the teams that who asks may see, and of those that
// it does not oversee to what its own keys have used.
func (a *activity) ownTeams() error {
	if a.rights.SeesAll() {
		return nil
	}
	given := len(a.filter.Owners) > 0
	if !given {
		for _, t := range a.teams() {
			a.filter.Owners = append(a.filter.Owners, string(t))
		}
	}
	all := map[string]bool{}
	for _, name := range a.filter.Owners {
		t, ok := a.set.Team(nil, id.Team(name))
		if !ok || !a.rights.MaySeeTeam(t) {
			return notYours("team_ids", "This API key may not see one of these teams. Name only those that its user is in.")
		}
		all[name] = overseesTeam(a.set, a.rights, t)
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

// teams are those that who asks may see.
func (a *activity) teams() []id.Team {
	var out []id.Team
	if a.rights.User() == "" {
		return nil
	}
	for m := range a.set.TeamsOf(a.rights.User()) {
		out = append(out, m.Team)
	}
	for _, o := range overseen(a.set, a.rights) {
		for t := range a.set.TeamsIn(id.Organization(o)) {
			if !slices.Contains(out, t.ID) {
				out = append(out, t.ID)
			}
		}
	}
	return out
}

// some makes sure that no owners, which would mean all of them, means none.
func (a *activity) some() {
	if len(a.filter.Owners) == 0 {
		a.counts = func(*ledger.DailyRow) bool { return false }
		a.filter.Owners = []string{""}
	}
}

// GetUserActivity shows the use of users.
func (s activityService) GetUserActivity(ctx context.Context, in *gatewayv1.GetUserActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountUser, in)
	if err != nil {
		return nil, err
	}
	a.page, a.size = span(in.Page, in.PageSize, defaultUserActivityPage)
	a.filter.Owners = namesIn(in.GetUserId())
	if !a.rights.SeesAll() {
		own := string(a.rights.User())
		if in.GetUserId() != "" && in.GetUserId() != own {
			return nil, notYours("user_id", "This API key may see what its own user has used, and not what others have. Leave user_id out.")
		}
		a.filter.Owners = namesIn(own)
		a.some()
	}
	return s.answer(ctx, a)
}

// GetCustomerActivity shows the use of end users. Only those come here who see
// everything.
func (s activityService) GetCustomerActivity(ctx context.Context, in *gatewayv1.GetCustomerActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountCustomer, in)
	if err != nil {
		return nil, err
	}
	a.page, a.size = span(in.Page, in.PageSize, defaultActivityPage)
	a.filter.Owners = namesIn(in.GetEndUserIds(), in.GetCustomerId(), in.GetEndUserId())
	a.except = namesIn(in.GetExcludeEndUserIds())
	return s.answer(ctx, a)
}

// GetOrganizationActivity shows the use of organizations.
func (s activityService) GetOrganizationActivity(ctx context.Context, in *gatewayv1.GetOrganizationActivityRequest) (*gatewayv1.DailyActivity, error) {
	a, err := s.activity(ctx, id.AccountOrganization, in)
	if err != nil {
		return nil, err
	}
	a.page, a.size = span(in.Page, in.PageSize, defaultActivityPage)
	a.filter.Owners, a.except = namesIn(in.GetOrganizationIds(), in.GetOrganizationId()), namesIn(in.GetExcludeOrganizationIds())
	if !a.rights.SeesAll() {
		for _, o := range a.filter.Owners {
			if !overseesOrganization(a.set, a.rights, id.Organization(o)) {
				return nil, notYours("organization_ids", "Only an org_admin of an organization, or who sees everything, may see what it has used.")
			}
		}
		if len(a.filter.Owners) == 0 {
			a.filter.Owners = overseen(a.set, a.rights)
		}
		a.some()
	}
	return s.answer(ctx, a)
}

// wants reports whether a row counts.
func (a *activity) wants(r *ledger.DailyRow) bool {
	return (a.model == "" || r.Model == a.model || string(r.Group) == a.model) &&
		!slices.Contains(a.except, r.Owner) && (a.counts == nil || a.counts(r))
}

// answer sums twice: over all days, to know which there are, and then over those of
// the page in detail.
func (s activityService) answer(ctx context.Context, a *activity) (*gatewayv1.DailyActivity, error) {
	var total sums
	seen := map[string]bool{}
	err := s.ledger.Daily(ctx, a.filter, func(r ledger.DailyRow) bool {
		if a.wants(&r) {
			total.count(&r.Counts)
			seen[r.Day] = true
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	all := make([]string, 0, len(seen))
	for day := range seen {
		all = append(all, day)
	}
	slices.Sort(all)
	slices.Reverse(all)
	from := min(int(min(int64(a.page-1)*int64(a.size), int64(len(all)))), len(all))
	shown := all[from:min(from+int(a.size), len(all))]
	out := &gatewayv1.DailyActivity{Metadata: total.totals()}
	out.Metadata.Page, out.Metadata.TotalPages = a.page, pages(len(all), a.size)
	out.Metadata.HasMore = from+len(shown) < len(all)
	if len(shown) > 0 {
		out.Results, err = s.detailed(ctx, a, shown)
	}
	return out, err
}

// detailed are the sums of some days, which are in order, the newest first.
func (s activityService) detailed(ctx context.Context, a *activity, shown []string) ([]*gatewayv1.ActivityDay, error) {
	f := a.filter
	f.From, f.To = shown[len(shown)-1], shown[0]
	byDay := make(map[string]*dayParts, len(shown))
	for _, day := range shown {
		byDay[day] = newDayParts()
	}
	left := cells{mostCells}
	err := s.ledger.Daily(ctx, f, func(r ledger.DailyRow) bool {
		if d := byDay[r.Day]; d != nil && a.wants(&r) {
			r.Key = shownOf(a.set, r.Key)
			d.add(&r, &left)
		}
		return left.left >= 0
	})
	switch {
	case err != nil:
		return nil, err
	case left.left < 0:
		return nil, fault.Field("page_size", "too_large", "The answer would have more than %d sums. Ask for fewer days with page_size, or for fewer keys, models or owners.", mostCells)
	}
	out := make([]*gatewayv1.ActivityDay, len(shown))
	for i, day := range shown {
		out[i] = byDay[day].show(day, a.set, a.filter.Kind)
	}
	return out, nil
}
