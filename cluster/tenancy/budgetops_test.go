package tenancy_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func createBudget(b tenancy.Budget) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateBudget(tx, b)
		return err
	}
}

func updateBudget(b tenancy.Budget, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateBudget(tx, b, ifRevision)
		return err
	}
}

func deleteBudget(b id.Budget) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.DeleteBudget(tx, "id", b)
		return err
	}
}

func createCustomer(c tenancy.Customer) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateCustomer(tx, c)
		return err
	}
}

func updateCustomer(c tenancy.Customer, ifRevision uint64) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.UpdateCustomer(tx, c, ifRevision)
		return err
	}
}

func blockCustomer(c id.Customer) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.BlockCustomer(tx, id.EndUser{ID: c})
		return err
	}
}

func unblockCustomer(c id.Customer) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		return s.UnblockCustomer(tx, "user_ids[0]", id.EndUser{ID: c})
	}
}

func deleteCustomer(c id.Customer) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		return s.DeleteCustomer(tx, "user_ids[0]", id.EndUser{ID: c})
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	gold := tenancy.Budget{ID: "gold", Limits: tenancy.Limits{MaxBudget: pico(10), RPM: new(uint32(5))}}
	if o.Must(createBudget(gold)) {
		t.Error("a new budget revokes")
	}
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
		kind fault.Kind
	}{
		{"id taken", createBudget(gold), "budget_id already_exists", fault.Exists},
		{"soft budget", createBudget(tenancy.Budget{ID: "x", Limits: tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(2)}}), "soft_budget invalid_value", fault.Malformed},
		{"update: not there", updateBudget(tenancy.Budget{ID: "x"}, 0), "budget_id budget_not_found", fault.NotFound},
		{"update: revision", updateBudget(gold, 99), "revision_conflict", fault.Conflict},
		{"delete: not there", deleteBudget("x"), "id budget_not_found", fault.NotFound},
	} {
		_, err := o.Try(test.op)
		if got := tenancytest.Refusal(err); got != test.want || fault.KindOf(err) != test.kind {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	less := gold
	less.Limits = tenancy.Limits{MaxBudget: pico(9), RPM: new(uint32(5))}
	if !o.Must(updateBudget(less, 1)) {
		t.Error("a lower bound does not revoke")
	}
	if o.Must(updateBudget(tenancy.Budget{ID: "gold"}, 0)) {
		t.Error("no bound revokes")
	}
}

// TestBudgetInUse makes one of each that can have the terms of a budget.
func TestBudgetInUse(t *testing.T) {
	t.Parallel()
	of := tenancy.Limits{Budget: "gold"}
	for name, use := range map[string]func(*tenancy.Set, *record.Txn) error{
		"organization": tenancytest.CreateOrganization(tenancy.Organization{ID: "x", Alias: "X", Limits: of}),
		"team":         tenancytest.CreateTeam(tenancy.Team{ID: "x", Limits: of}),
		"user":         tenancytest.CreateUser(tenancy.User{ID: "x", Role: tenancy.RoleInternalUser, Limits: of}),
		"customer":     createCustomer(tenancy.Customer{ID: "x", Limits: of}),
		"key":          tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-with-a-budget-0123"), Limits: of}),
	} {
		o := newOffice(t)
		if _, err := o.Try(use); tenancytest.Refusal(err) != "budget_id budget_not_found" {
			t.Errorf("%s with a budget that is not there: %v", name, err)
		}
		o.Must(createBudget(tenancy.Budget{ID: "gold"}))
		late := o.Begin()
		if err := deleteBudget("gold")(o.Set, late); err != nil {
			t.Fatal(err)
		}
		o.Must(use)
		if _, err := o.Try(deleteBudget("gold")); tenancytest.Refusal(err) != "id budget_in_use" || fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: the budget was deleted, or %v", name, err)
		}
		if _, err := o.Commit(late); tenancytest.Refusal(err) != record.CodeStale {
			t.Errorf("%s: a deletion that was decided before it was there: %v", name, err)
		}
	}
}

func TestBudgetIsFreeAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(createBudget(tenancy.Budget{ID: "gold"}))
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "red", Limits: tenancy.Limits{Budget: "gold"}}))
	o.Must(createCustomer(tenancy.Customer{ID: "c", Limits: tenancy.Limits{Budget: "gold"}}))
	o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "red"}, 0))
	o.Must(deleteCustomer("c"))
	o.Must(deleteBudget("gold"))
	if _, ok := o.Set.Budget(nil, "gold"); ok {
		t.Error("the budget is there")
	}
}

func TestCustomers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, test := range []struct {
		name    string
		op      func(*tenancy.Set, *record.Txn) error
		want    string
		revokes bool
	}{
		{"new", createCustomer(tenancy.Customer{ID: "a", Alias: "A"}), "", false},
		{"new with a bound", createCustomer(tenancy.Customer{ID: "b", Limits: tenancy.Limits{RPM: new(uint32(1))}}), "", true},
		{"id taken", createCustomer(tenancy.Customer{ID: "a"}), "user_id already_exists", false},
		{"pattern", createCustomer(tenancy.Customer{ID: "c", Models: []string{"**"}}), "models[0] invalid_value", false},
		{"update: not there", updateCustomer(tenancy.Customer{ID: "c"}, 0), "user_id customer_not_found", false},
		{"update: revision", updateCustomer(tenancy.Customer{ID: "a"}, 99), "revision_conflict", false},
		{"update", updateCustomer(tenancy.Customer{ID: "a", Models: []string{"m"}}, 1), "", true},
		{"block", blockCustomer("a"), "", true},
		{"block again", blockCustomer("a"), "", false},
		{"block who is not there", blockCustomer("d"), "", true},
		{"unblock", unblockCustomer("a"), "", false},
		{"unblock again", unblockCustomer("a"), "", false},
		{"unblock: not there", unblockCustomer("e"), "user_ids[0] customer_not_found", false},
		{"delete", deleteCustomer("b"), "", false},
		{"delete: not there", deleteCustomer("b"), "user_ids[0] customer_not_found", false},
	} {
		revokes, err := o.Try(test.op)
		if got := tenancytest.Refusal(err); got != test.want || revokes != test.revokes {
			t.Errorf("%s: %q, revokes %v", test.name, got, revokes)
		}
	}
	got := map[id.Customer]bool{}
	for c := range o.Set.Customers() {
		got[c.ID] = c.Blocked
	}
	if len(got) != 2 || got["a"] || !got["d"] {
		t.Errorf("customers, and whether they are blocked: %v", got)
	}
}

// TestCustomersOfOrganizations: customers of one id in two organizations and in none are
// three. Those of an organization are gone with it.
func TestCustomersOfOrganizations(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "Acme"}))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "initech", Alias: "Initech"}))
	if _, err := o.Try(createCustomer(tenancy.Customer{ID: "alice", Organization: "none"})); tenancytest.Refusal(err) != "organization_id organization_not_found" {
		t.Errorf("of an organization that is not there: %v", err)
	}
	for _, of := range []id.Organization{"acme", "initech", ""} {
		o.Must(createCustomer(tenancy.Customer{ID: "alice", Organization: of, Alias: "alice of " + string(of)}))
	}
	all := func() (out []id.Organization) {
		for c := range o.Set.Customers() {
			if c.ID != "alice" || c.Alias != "alice of "+string(c.Organization) {
				t.Errorf("a customer is %+v", c)
			}
			out = append(out, c.Organization)
		}
		return out
	}
	if got := all(); !slices.Equal(got, []id.Organization{"", "acme", "initech"}) {
		t.Errorf("customers of %q", got)
	}
	late := o.Begin()
	if err := createCustomer(tenancy.Customer{ID: "bob", Organization: "acme"})(o.Set, late); err != nil {
		t.Fatal(err)
	}
	o.Must(tenancytest.DeleteOrganization("acme"))
	if got := all(); !slices.Equal(got, []id.Organization{"", "initech"}) {
		t.Errorf("after the deletion, customers of %q", got)
	}
	if _, err := o.Commit(late); tenancytest.Refusal(err) != record.CodeStale {
		t.Errorf("a customer that was decided before the deletion: %v", err)
	}
}

// TestCustomerOfAnOlderVersion: a record without an organization binds keys without one,
// with the limits that it has. The bytes are those that such a version wrote.
func TestCustomerOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	o := bounded(t)
	value, err := proto.Marshal(&clusterv1.Customer{Id: "old", Blocked: true, Stamp: &clusterv1.Stamp{Revision: 9}})
	if err != nil {
		t.Fatal(err)
	}
	set, broken := o.Set.With([]record.Change{{Space: store.SpaceCustomer, Key: []byte("old"), Value: value}})
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	if c, ok := set.Customer(nil, id.EndUser{ID: "old"}); !ok || !c.Blocked || c.Organization != "" || c.Revision != 9 {
		t.Errorf("the record is read as %+v", c)
	}
	if err := set.CheckCustomer(id.EndUser{ID: "old"}, "m"); tenancytest.Refusal(err) != "user customer_blocked" {
		t.Errorf("a key without an organization: %v", err)
	}
	if err := set.CheckCustomer(id.EndUser{Organization: "acme", ID: "old"}, "m"); err != nil {
		t.Errorf("a key of an organization: %v", err)
	}
}

// TestNobodyHasABudgetThatIsGone runs operations that are decided by sets that
// others have changed meanwhile.
func TestNobodyHasABudgetThatIsGone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := newOffice(t)
		var waiting []*record.Txn
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			if len(waiting) == 3 {
				i := rapid.IntRange(0, 2).Draw(t, "which")
				if _, err := o.Commit(waiting[i]); err != nil && fault.From(err).Code != record.CodeStale {
					t.Fatal(err)
				}
				waiting = append(waiting[:i], waiting[i+1:]...)
			}
			budget := id.Budget(rapid.SampledFrom([]string{"b1", "b2", ""}).Draw(t, "budget"))
			customer, team := tenancy.Customer{ID: "c", Limits: tenancy.Limits{Budget: budget}}, tenancy.Team{ID: "t", Limits: tenancy.Limits{Budget: budget}}
			op := rapid.SampledFrom([]func(*tenancy.Set, *record.Txn) error{
				createBudget(tenancy.Budget{ID: "b1"}), createBudget(tenancy.Budget{ID: "b2"}), deleteBudget(budget), deleteBudget(budget),
				createCustomer(customer), updateCustomer(customer, 0), tenancytest.CreateTeam(team), tenancytest.UpdateTeam(team, 0), tenancytest.DeleteTeam("t"), deleteCustomer("c"),
			}).Draw(t, "operation")
			if tx := o.Begin(); op(o.Set, tx) == nil && !tx.Empty() {
				waiting = append(waiting, tx)
			}
			if c, ok := o.Set.Customer(nil, id.EndUser{ID: "c"}); ok && c.Limits.Budget != "" {
				if _, ok := o.Set.Budget(nil, c.Limits.Budget); !ok {
					t.Fatalf("the customer has the budget %s, which is gone", c.Limits.Budget)
				}
			}
			if team, ok := o.Set.Team(nil, "t"); ok && team.Limits.Budget != "" {
				if _, ok := o.Set.Budget(nil, team.Limits.Budget); !ok {
					t.Fatalf("the team has the budget %s, which is gone", team.Limits.Budget)
				}
			}
		}
	})
}
