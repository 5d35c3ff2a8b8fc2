package rights_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestNobodyGivesMoreThanTheyHave makes random worlds of organizations, teams, users
// and keys, and has random keys ask for random things. Whatever the rights let
// through has, by a judge who tries one model, route, time and amount after the
// other, no right that the asking key, or what stood there before, has not.
func TestNobodyGivesMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	passed := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range 16 {
			asking := rapid.SampledFrom(w.keys).Draw(t, "asking")
			p, err := w.Set.Authenticate(tenancytest.Present("x-api-key", asking.text), w.Time)
			if err != nil {
				continue
			}
			k, _ := w.Set.Get(p.Hash)
			r := rights.Of(w.Set, record.NewTxn(w.Time, "ada"), p)
			if r.Admin() {
				continue
			}
			j := judge{world: w, asking: k, rights: r}
			switch what := rapid.SampledFrom([]string{"new key", "key", "regenerated key", "team", "member", "user"}).Draw(t, "what"); what {
			case "new key", "key", "regenerated key":
				passed[what] += j.key(t, what)
			case "team":
				passed[what] += j.team(t)
			case "member":
				passed[what] += j.member(t)
			case "user":
				passed[what] += j.user(t)
			}
		}
	})
	for _, what := range []string{"new key", "key", "regenerated key", "team", "member", "user"} {
		if passed[what] < 3 {
			t.Errorf("%d of the kind %s were let through, which tries little", passed[what], what)
		}
	}
}

// world is an office with keys whose text is known.
type world struct {
	*tenancytest.Office
	keys []worldKey
}

type worldKey struct {
	text string
	hash id.KeyHash
}

var ( // what worlds are made of
	worldUsers = []id.User{"u1", "u2", "u3", "u4"}
	worldTeams = []id.Team{"t1", "t2", "t3"}
	worldOrgs  = []id.Organization{"o1", "o2"}
)

func newWorld(t *rapid.T) *world {
	w := &world{Office: tenancytest.NewOffice(t)}
	for _, o := range worldOrgs {
		w.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: o, Alias: string(o), Models: someModels(t), Prompts: somePrompts(t), Guardrails: someGuardrails(t)}))
	}
	for _, u := range worldUsers {
		w.Must(tenancytest.CreateUser(tenancy.User{ID: u, Role: someRole(t), Models: someModels(t), Limits: someLimits(t)}))
		for _, o := range worldOrgs {
			if oneIn(t, 2) {
				role := rapid.SampledFrom([]tenancy.Role{tenancy.RoleOrgAdmin, tenancy.RoleInternalUser}).Draw(t, "role")
				w.Must(func(s *tenancy.Set, tx *record.Txn) error {
					found, _ := s.User(tx, u)
					_, err := s.AddOrganizationMember(tx, found, tenancy.OrganizationMember{Organization: o, Role: role})
					return err
				})
			}
		}
	}
	for _, team := range worldTeams {
		made := tenancy.Team{ID: team, Organization: someOrganization(t), Models: someModels(t), MemberPermissions: somePermissions(t), Prompts: somePrompts(t), Guardrails: someGuardrails(t)}
		w.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateTeam(tx, made); return err })
		for _, u := range worldUsers {
			if oneIn(t, 2) {
				m := tenancy.TeamMember{Team: team, User: u, Role: someTeamRole(t), AllowedModels: someModels(t), RPM: someCount(t)}
				_, _ = w.Try(func(s *tenancy.Set, tx *record.Txn) error {
					found, _ := s.User(tx, u)
					in, _ := s.Team(tx, team)
					_, err := s.JoinTeam(tx, in, found, m)
					return err
				})
			}
		}
	}
	for i := range 8 {
		k := worldKey{text: fmt.Sprintf("sk-world-of-keys-%02d", i)}
		k.hash = id.HashKey(k.text)
		made := tenancy.Key{User: worldUsers[0]} // one that always fits
		if i > 0 {
			made = someKey(t, w.Time)
		}
		made.Hash = k.hash
		if _, err := w.Try(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.CreateKey(tx, made); return err }); err == nil {
			w.keys = append(w.keys, k)
		}
	}
	if len(w.keys) == 0 {
		t.Fatal("a key of a user and of nothing else is refused")
	}
	return w
}

func oneIn(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "one in") == 1 }

func someModels(t *rapid.T) []string {
	if oneIn(t, 2) {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"gpt-4o", "gpt-mini", "openai/a", "openai/b", "openai/*", "gpt-*", "*x", "all-team-models", "no-default-models", "all-proxy-models",
	}), 1, 3, rapid.ID[string]).Draw(t, "models")
}

func someRole(t *rapid.T) tenancy.Role {
	return rapid.SampledFrom([]tenancy.Role{tenancy.RoleInternalUser, tenancy.RoleInternalUser, tenancy.RoleInternalUser, tenancy.RoleInternalUserViewer, tenancy.RoleProxyAdmin, tenancy.RoleProxyAdminViewer}).Draw(t, "role")
}

func someTeamRole(t *rapid.T) string {
	return rapid.SampledFrom([]string{tenancy.TeamAdmin, tenancy.TeamUser}).Draw(t, "team role")
}

func someOrganization(t *rapid.T) id.Organization {
	return rapid.SampledFrom(append(slices.Clone(worldOrgs), "")).Draw(t, "organization")
}

func somePermissions(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, {"/key/generate", "/key/update"}, {"/key/service-account/generate", "/key/regenerate"}}).Draw(t, "permissions")
}

func someCount(t *rapid.T) *uint32 {
	return rapid.SampledFrom([]*uint32{nil, nil, new(uint32(1)), new(uint32(2))}).Draw(t, "count")
}

func someLimits(t *rapid.T) tenancy.Limits {
	l := tenancy.Limits{RPM: someCount(t)}
	if n := someCount(t); n != nil {
		l.MaxBudget = new(money.Pico(*n))
	}
	return l
}

func somePrompts(t *rapid.T) tenancy.PromptRules {
	out := tenancy.PromptRules{Required: oneIn(t, 4)}
	if oneIn(t, 4) {
		out.Allowed = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), 1, 2, rapid.ID[string]).Draw(t, "prompts")
	}
	return out
}

func someGuardrails(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, nil, nil, {"g"}, {"h"}, {"g", "h"}}).Draw(t, "guardrails")
}

func someKey(t *rapid.T, now time.Time) tenancy.Key {
	k := tenancy.Key{
		User: rapid.SampledFrom(append(slices.Clone(worldUsers), "")).Draw(t, "user"), Models: someModels(t), Limits: someLimits(t), Prompts: somePrompts(t), Guardrails: someGuardrails(t),
		Type: rapid.SampledFrom([]string{access.TypeDefault, access.TypeDefault, access.TypeDefault, access.TypeInference, access.TypeManagement, access.TypeReadOnly}).Draw(t, "type"),
	}
	if oneIn(t, 2) {
		k.Team = rapid.SampledFrom(worldTeams).Draw(t, "team")
	} else if oneIn(t, 4) {
		k.Organization = rapid.SampledFrom(worldOrgs).Draw(t, "organization")
	}
	if oneIn(t, 4) {
		k.AllowedRoutes = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"llm_api_routes", "management_routes", "info_routes", "/key/*", "/key/generate", "/v1/*", "/v1/chat/completions", "/*",
		}), 1, 2, rapid.ID[string]).Draw(t, "routes")
	}
	if oneIn(t, 3) {
		k.Expires = now.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "days")) * 24 * time.Hour)
	}
	return k
}

// judge says what is too much, by trying.
type judge struct {
	*world
	asking *tenancy.Key
	rights *rights.Rights
}

// key asks for a key and returns 1 if that was let through.
func (j judge) key(t *rapid.T, what string) int {
	op, after, before := "/key/generate", someKey(t, j.Time), (*tenancy.Key)(nil)
	after.Hash = id.HashKey("sk-a-key-that-is-new")
	if oneIn(t, 2) { // closer to what may be let through
		user, team := j.asking.User, after.Team
		after = *j.asking
		after.Hash, after.User, after.Team = id.HashKey("sk-a-key-that-is-new"), user, team
	}
	if what != "new key" {
		old, _ := j.Set.Get(rapid.SampledFrom(j.keys).Draw(t, "changed").hash)
		changed := *old
		switch fresh := someKey(t, j.Time); rapid.IntRange(0, 7).Draw(t, "change") {
		case 0:
			changed.Models = fresh.Models
		case 1:
			changed.AllowedRoutes, changed.Type = fresh.AllowedRoutes, fresh.Type
		case 2:
			changed.Limits = fresh.Limits
		case 3:
			changed.Expires = fresh.Expires
		case 4:
			changed.User = fresh.User
		case 6:
			changed.Prompts = fresh.Prompts
		case 7:
			changed.Guardrails = fresh.Guardrails
		case 5:
			changed.Team, changed.Organization = fresh.Team, fresh.Organization
		}
		op, after, before = "/key/update", changed, old
		if what == "regenerated key" {
			op, before = "/key/regenerate", nil
			after.Hash = id.HashKey("sk-a-key-that-is-new")
		}
	} else if oneIn(t, 3) {
		op = "/key/service-account/generate"
		after.User = ""
	}
	if j.rights.MayGrantKey(op, &after) != nil {
		return 0
	}
	j.stays(t, op, before, &after)
	for c := range cases(j.Time) {
		if j.infers(&after, c, "") && !j.infers(j.asking, c, after.Team) && (before == nil || !j.infers(before, c, "")) {
			t.Fatalf("%s: %v could not do %+v and makes %+v, before %+v, that can", op, *j.asking, c, after, before)
		}
		if j.acts(&after, c, after.User) && !j.may(c, after.User) && (before == nil || !j.acts(before, c, after.User)) {
			t.Fatalf("%s: %v makes %+v, before %+v, that acts as %s: %+v", op, *j.asking, after, before, after.User, c)
		}
	}
	return 1
}

// of returns the organization that a key belongs to.
func (j judge) of(k *tenancy.Key) id.Organization {
	if team, ok := j.Set.Team(nil, k.Team); ok {
		return team.Organization
	}
	return k.Organization
}

// home is the organization of the asking key, or else one that its user administers.
func (j judge) home() id.Organization {
	if o := j.of(j.asking); o != "" {
		return o
	}
	for m := range j.Set.OrganizationsOf(j.asking.User) {
		if m.Role == tenancy.RoleOrgAdmin {
			return m.Organization
		}
	}
	return ""
}

// reaches finds a change, what, in another organization than that of the asking key.
func (j judge) reaches(t *rapid.T, o id.Organization, what any) {
	if home := j.of(j.asking); home != "" && o != home {
		t.Fatalf("%+v of %s makes %+v in %q", *j.asking, home, what, o)
	}
}

// stays finds a key outside the team or organization whose budget bounds the asking
// key, or bounded the key before.
func (j judge) stays(t *rapid.T, op string, before, after *tenancy.Key) {
	of := j.of
	runs := func(o id.Organization) bool {
		m, ok := j.Set.OrganizationMember(nil, o, j.asking.User)
		return ok && m.Role == tenancy.RoleOrgAdmin
	}
	for _, from := range []*tenancy.Key{j.asking, before} {
		if from == nil {
			continue
		}
		if from.Team != "" && after.Team != from.Team && !runs(of(from)) || of(from) != "" && of(after) != of(from) {
			t.Fatalf("%s: %+v makes %+v, which leaves the place of %+v", op, *j.asking, *after, *from)
		}
	}
}

// may reports whether the asking key may act as a user: as its own, or as one that
// its user manages.
func (j judge) may(c attempt, u id.User) bool {
	if j.acts(j.asking, c, u) {
		return true
	}
	of, _ := j.Set.User(nil, u)
	if !j.acts(j.asking, c, j.asking.User) || of.Role != tenancy.RoleInternalUser && of.Role != tenancy.RoleInternalUserViewer {
		return false
	}
	own := func(o id.Organization) bool {
		m, ok := j.Set.OrganizationMember(nil, o, j.asking.User)
		return ok && m.Role == tenancy.RoleOrgAdmin
	}
	n := 0
	for m := range j.Set.OrganizationsOf(u) {
		if n++; !own(m.Organization) {
			return false
		}
	}
	for m := range j.Set.TeamsOf(u) {
		if in, _ := j.Set.Team(nil, m.Team); !own(in.Organization) {
			return false
		}
	}
	return n > 0
}

// attempt is one thing that a key can do or not.
type attempt struct {
	model, method, path string
	at                  time.Time
	spent               money.Pico
	rate                uint32
	prompt              string // that a request names; "none" for a request with instructions of its own, "g" or "h" for one that this guardrail leaves alone; empty if it does not matter
}

// cases are all attempts that tell worlds' keys apart.
func cases(now time.Time) func(func(attempt) bool) {
	return func(yield func(attempt) bool) {
		for _, model := range []string{"gpt-4o", "gpt-mini", "gpt-", "gpt-x", "openai/a", "openai/b", "openai/c", "openai/x", "y", "x", "yx"} {
			for _, path := range []string{"POST /v1/chat/completions", "POST /embeddings", "POST /key/generate", "GET /key/list", "GET /team/info", "POST /team/new", "POST /v2/key/info"} {
				for days := range 4 {
					for _, prompt := range []string{"none", "q", "r", "g", "h"} {
						method, path, _ := strings.Cut(path, " ")
						if !yield(attempt{model, method, path, now.Add(time.Duration(days)*24*time.Hour + time.Hour), 0, 0, prompt}) {
							return
						}
					}
					for bound := range 4 {
						method, path, _ := strings.Cut(path, " ")
						c := attempt{model, method, path, now.Add(time.Duration(days)*24*time.Hour + time.Hour), 0, 0, ""}
						if !yield(attempt{c.model, c.method, c.path, c.at, money.Pico(bound), 0, "p"}) || !yield(attempt{c.model, c.method, c.path, c.at, 0, uint32(bound), "p"}) {
							return
						}
					}
				}
			}
		}
	}
}

// infers reports whether a key can ask a model, or have a key made in a team, if one
// is given, that can: a user's list that is for keys without a team does not count
// there.
func (j judge) infers(k *tenancy.Key, c attempt, in id.Team) bool {
	switch {
	case c.path != "/v1/chat/completions" && c.path != "/embeddings", k.Type == access.TypeManagement || k.Type == access.TypeReadOnly,
		!routed(k, c), !k.Expires.IsZero() && !c.at.Before(k.Expires),
		k.Limits.MaxBudget != nil && c.spent > *k.Limits.MaxBudget, k.Limits.RPM != nil && c.rate > *k.Limits.RPM,
		!listed(k.Models, c.model, k.Team != ""), !prompted(k.Prompts, k.Guardrails, c):
		return false
	}
	if u, ok := j.Set.User(nil, k.User); ok && !listed(u.Models, c.model, false) {
		if !slices.Contains(u.Models, "no-default-models") || k.Team == "" && in == "" {
			return false
		}
	}
	if m, ok := j.Set.TeamMember(nil, k.Team, k.User); ok && !listed(m.AllowedModels, c.model, true) {
		return false
	}
	o := k.Organization
	if team, ok := j.Set.Team(nil, k.Team); ok {
		if o = team.Organization; !listed(team.Models, c.model, false) || !prompted(team.Prompts, team.Guardrails, c) {
			return false
		}
	}
	org, ok := j.Set.Organization(nil, o)
	return !ok || listed(org.Models, c.model, false) && prompted(org.Prompts, org.Guardrails, c)
}

// prompted reports whether rules let a request have its prompt, or guardrails leave it alone.
func prompted(r tenancy.PromptRules, guardrails []string, c attempt) bool {
	switch c.prompt {
	case "g", "h":
		return !slices.Contains(guardrails, c.prompt)
	case "":
		return true
	case "none":
		return !r.Required
	}
	return len(r.Allowed) == 0 || slices.Contains(r.Allowed, c.prompt)
}

// acts reports whether a key can do something in the management API as a user.
func (judge) acts(k *tenancy.Key, c attempt, u id.User) bool {
	switch {
	case u == "" || k.User != u, c.path == "/v1/chat/completions" || c.path == "/embeddings", k.Type == access.TypeInference,
		k.Type == access.TypeReadOnly && c.method != http.MethodGet && c.path != "/v2/key/info":
		return false
	}
	return routed(k, c) && (k.Expires.IsZero() || c.at.Before(k.Expires))
}

// routed reports whether the list of a key's routes, if there is one, has a path.
func routed(k *tenancy.Key, c attempt) bool {
	inference := c.path == "/v1/chat/completions" || c.path == "/embeddings"
	return len(k.AllowedRoutes) == 0 || slices.ContainsFunc(k.AllowedRoutes, func(r string) bool {
		return r == c.path || r == "llm_api_routes" && inference || r == "management_routes" && !inference ||
			r == "info_routes" && !inference && c.method == http.MethodGet || r == "info_routes" && c.path == "/v2/key/info" ||
			strings.HasSuffix(r, "*") && strings.HasPrefix(c.path, strings.TrimSuffix(r, "*"))
	})
}

// listed reports whether a list has a model.
func listed(list []string, model string, team bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(m string) bool {
		before, after, star := strings.Cut(m, "*")
		return m == model || m == "all-proxy-models" || m == "all-team-models" && team ||
			star && len(model) > len(before)+len(after) && strings.HasPrefix(model, before) && strings.HasSuffix(model, after)
	})
}

// beyond finds a model with one of some prompts that a change gives and the asking key has not.
func (j judge) beyond(t *rapid.T, what any, in id.Team, prompts []string, gives func(c attempt) bool) {
	for c := range cases(j.Time) {
		c.path, c.at, c.spent, c.rate = "/v1/chat/completions", j.Time, 0, 0
		wide := *j.asking // its models alone count here
		wide.Type, wide.AllowedRoutes, wide.Limits, wide.Expires = access.TypeDefault, nil, tenancy.Limits{}, time.Time{}
		for _, c.prompt = range prompts {
			if gives(c) && !j.infers(&wide, c, in) {
				t.Fatalf("%+v gives %s with the prompt %s in %+v", *j.asking, c.model, c.prompt, what)
			}
		}
	}
}

// bounded finds a bound of the asking key that is not kept.
func (j judge) bounded(t *rapid.T, what any, l tenancy.Limits, before *tenancy.Limits) {
	for n := range 4 {
		over := func(of tenancy.Limits) bool {
			return of.MaxBudget != nil && money.Pico(n) > *of.MaxBudget || of.RPM != nil && uint32(n) > *of.RPM
		}
		if over(j.asking.Limits) && !over(l) && (before == nil || over(*before)) {
			t.Fatalf("%+v has limits that %+v exceeds", *j.asking, what)
		}
	}
}
