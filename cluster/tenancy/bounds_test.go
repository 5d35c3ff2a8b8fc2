package tenancy_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// caller authenticates with a key of the office.
func (o *office) caller(key string) tenancy.Principal {
	o.TB.Helper()
	p, err := o.Set.Authenticate(tenancytest.Present("x-api-key", key), tenancytest.Now())
	if err != nil {
		o.TB.Fatal(err)
	}
	return p
}

// bounded is an office in which everything has a bound: the amounts say whose it is.
func bounded(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	models := func(rpm uint32) []tenancy.ModelLimits {
		return []tenancy.ModelLimits{{Model: "a"}, {Model: "m", RPM: new(rpm)}}
	}
	o.Must(createBudget(tenancy.Budget{ID: "gold", Limits: tenancy.Limits{
		MaxBudget: pico(900), SoftBudget: pico(90), BudgetDuration: "1mo", TPD: new(uint32(9)), TPM: new(uint32(99)), Models: models(109),
	}}))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme", Limits: tenancy.Limits{MaxBudget: pico(4), Models: models(104)}}))
	o.Must(tenancytest.CreateUser(tenancy.User{ID: "ada", Role: tenancy.RoleInternalUser, Limits: tenancy.Limits{MaxParallel: new(uint32(6)), Models: models(106)}}))
	o.Must(tenancytest.JoinOrganization(tenancy.OrganizationMember{Organization: "acme", User: "ada", Role: tenancy.RoleInternalUser, MaxBudget: pico(5)}))
	o.Must(tenancytest.CreateTeam(tenancy.Team{
		ID: "red", Organization: "acme", MemberBudget: pico(3), MemberBudgetDuration: "1w", MemberRPM: new(uint32(3)), MemberTPM: new(uint32(33)),
		Limits: tenancy.Limits{RPM: new(uint32(2)), Budget: "gold"},
	}))
	o.Must(tenancytest.JoinTeam(tenancy.TeamMember{Team: "red", User: "ada", Role: tenancy.TeamUser, RPM: new(uint32(333))}))
	o.Must(createCustomer(tenancy.Customer{ID: "eve", Limits: tenancy.Limits{BudgetDuration: "1h", Models: models(107)}}))
	o.Must(createCustomer(tenancy.Customer{ID: "eve", Organization: "acme", Limits: tenancy.Limits{RPM: new(uint32(7)), BudgetDuration: "1h", Models: models(107)}}))
	o.Must(createCustomer(tenancy.Customer{ID: "bob", Limits: tenancy.Limits{RPM: new(uint32(7))}}))
	o.Must(tenancytest.CreateKey(tenancy.Key{
		Hash: id.HashKey(good), Team: "red", User: "ada",
		Limits: tenancy.Limits{MaxBudget: pico(1), TPM: new(uint32(1)), Models: []tenancy.ModelLimits{{
			Model: "m", MaxBudget: pico(8), BudgetDuration: "1d", TPM: new(uint32(80)), RPM: new(uint32(81)), ModelTPM: new(uint32(79)), ModelRPM: new(uint32(82)),
		}}},
	}))
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey(other), Organization: "acme"}))
	return o
}

// account writes one in short.
func account(kind id.AccountKind, owner, part string) id.Account {
	return id.Account{Kind: kind, Owner: owner, Part: part}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	o := bounded(t)
	day := func(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }
	hash := id.HashKey(good)
	owner := hex.EncodeToString(hash[:])
	acme := tenancy.Bound{Account: account(id.AccountOrganization, "acme", ""), Max: pico(4)}
	acmeModel := tenancy.Bound{Account: account(id.AccountOrganizationModel, "acme", "m"), Model: "m", RPM: new(uint32(104))}
	eve := tenancy.Bound{Account: account(id.AccountCustomer, "eve", ""), Duration: "1h", Resets: tenancytest.Now().Add(time.Hour)}
	acmeEve := eve
	acmeEve.Account.Part, acmeEve.RPM = "acme", new(uint32(7))
	whole := []tenancy.Bound{
		{Account: account(id.AccountKey, owner, ""), Max: pico(1), TPM: new(uint32(1))},
		{Account: account(id.AccountTeam, "red", ""), Max: pico(900), Soft: pico(90), Duration: "1mo", Resets: day(12, 1), RPM: new(uint32(2)), TPM: new(uint32(99)), TPD: new(uint32(9))},
		{Account: account(id.AccountTeamMember, "red", "ada"), Max: pico(3), Duration: "1w", Resets: day(11, 23), RPM: new(uint32(333)), TPM: new(uint32(33))},
		acme,
		{Account: account(id.AccountOrganizationMember, "acme", "ada"), Max: pico(5)},
		{Account: account(id.AccountUser, "ada", ""), Parallel: new(uint32(6))},
	}
	models := []tenancy.Bound{
		{Account: account(id.AccountKeyModel, owner, "m"), Model: "m", Max: pico(8), Duration: "1d", Resets: day(11, 22), RPM: new(uint32(81)), TPM: new(uint32(79))},
		{Account: account(id.AccountTeamModel, "red", "m"), Model: "m", RPM: new(uint32(109))},
		{Account: account(id.AccountUserModel, "ada", "m"), Model: "m", RPM: new(uint32(106))},
		acmeModel,
	}
	join := func(lists ...[]tenancy.Bound) (out []tenancy.Bound) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	for _, test := range []struct {
		name     string
		key      string
		customer id.Customer
		model    id.ModelName
		want     []tenancy.Bound
	}{
		{"all there is", good, "eve", "m", join(whole, []tenancy.Bound{acmeEve}, models)},
		{"a model without a bound", good, "", "x", whole},
		{"a model whose bounds are empty", good, "", "a", whole},
		{"a customer whom nobody made", good, "nobody", "m", join(whole, models)},
		{"a customer of no organization", other, "bob", "x", []tenancy.Bound{acme}},
		{"a key without bounds in an organization", other, "", "m", []tenancy.Bound{acme, acmeModel}},
		{"the master key", tenancytest.Master, "", "m", nil},
		{"the master key for a customer", tenancytest.Master, "eve", "m", []tenancy.Bound{eve}},
	} {
		got := o.caller(test.key).Bounds(nil, test.customer, test.model, tenancytest.Now(), nil)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", test.name, diff)
		}
	}
	kept := o.caller(other).Bounds([]tenancy.Bound{eve}, "", "x", tenancytest.Now(), nil)
	if diff := cmp.Diff([]tenancy.Bound{eve, acme}, kept); diff != "" {
		t.Errorf("what was there before:\n%s", diff)
	}
	if got := (tenancy.Principal{}).Bounds(nil, "eve", "m", tenancytest.Now(), nil); got != nil {
		t.Errorf("of nobody: %v", got)
	}
}

// aliases are those of an operator.
type aliases map[id.ModelName]id.ModelName

// Serves: what an alias stands for is served, and nothing else.
func (a aliases) Serves(name id.ModelName) bool {
	for _, to := range a {
		if to == name {
			return true
		}
	}
	return false
}

func (a aliases) Alias(name id.ModelName) id.ModelName {
	if to, ok := a[name]; ok {
		return to
	}
	return name
}

// TestLimitsNameAliases: a limit under an alias is one of what that stands for, and of
// several limits of one model the tightest hold.
func TestLimitsNameAliases(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateTeam(tenancy.Team{
		ID: "red", ModelAliases: map[string]string{"ours": "routed", "mine": "x"},
		Limits: tenancy.Limits{Models: []tenancy.ModelLimits{
			{Model: "mine", BudgetDuration: "1w", ModelTPM: new(uint32(4))}, {Model: "ours", MaxBudget: pico(9)}, {Model: "x", MaxBudget: pico(1)},
		}},
	}))
	o.Must(tenancytest.CreateKey(tenancy.Key{
		Hash: id.HashKey(good), Team: "red", Aliases: map[string]string{"mine": "m", "other": "x"},
		Limits: tenancy.Limits{Models: []tenancy.ModelLimits{
			{Model: "m", MaxBudget: pico(7), BudgetDuration: "1h", RPM: new(uint32(5)), ModelTPM: new(uint32(50))},
			{Model: "mine", MaxBudget: pico(5), BudgetDuration: "1d", RPM: new(uint32(6)), TPM: new(uint32(60))},
			{Model: "other", RPM: new(uint32(1))},
			{Model: "routed", MaxBudget: pico(6)},
		}},
	}))
	hash := id.HashKey(good)
	got := o.caller(good).Bounds(nil, "", "m", tenancytest.Now(), aliases{"routed": "m"})
	want := []tenancy.Bound{
		{
			Account: account(id.AccountKeyModel, hex.EncodeToString(hash[:]), "m"), Model: "m", Max: pico(5), Duration: "1d",
			Resets: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), RPM: new(uint32(5)), TPM: new(uint32(50)),
		},
		{Account: account(id.AccountTeamModel, "red", "m"), Model: "m", Max: pico(9), TPM: new(uint32(4))},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBoundsFollowTheBudget: a budget that is changed holds at once for all who have its
// terms, and what somebody has of their own stays.
func TestBoundsFollowTheBudget(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(createBudget(tenancy.Budget{ID: "gold", Limits: tenancy.Limits{MaxBudget: pico(1), RPM: new(uint32(1))}}))
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey(good), Limits: tenancy.Limits{RPM: new(uint32(7)), Budget: "gold"}}))
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateBudget(tx, tenancy.Budget{ID: "gold", Limits: tenancy.Limits{MaxBudget: pico(2), RPM: new(uint32(2))}}, 0)
		return err
	})
	got := o.caller(good).Bounds(nil, "", "m", tenancytest.Now(), nil)
	if len(got) != 1 || *got[0].Max != 2 || *got[0].RPM != 7 {
		t.Errorf("bounds: %+v", got)
	}
}

func TestNoBoundsAllocateNothing(t *testing.T) {
	o := newOffice(t)
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "red"}))
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey(good), Team: "red"}))
	p, at := o.caller(good), tenancytest.Now()
	if n := testing.AllocsPerRun(100, func() {
		if got := p.Bounds(nil, "somebody", "m", at, nil); got != nil {
			t.Fatalf("bounds: %v", got)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkBounds(b *testing.B) {
	o := newOffice(b)
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "red", Limits: tenancy.Limits{MaxBudget: pico(5), BudgetDuration: "1mo"}}))
	o.Must(tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey(good), Team: "red", Limits: tenancy.Limits{RPM: new(uint32(7))}}))
	p, at, space := o.caller(good), tenancytest.Now(), make([]tenancy.Bound, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		if len(p.Bounds(space, "", "m", at, nil)) != 2 {
			b.Fatal("not the bounds")
		}
	}
}
