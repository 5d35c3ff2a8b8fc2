package tenancy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// oldKey writes a key of the team free with the alias ci as versions did in which an alias was unique in the whole gateway.
func oldKey(name string) func(*tenancy.Set, *record.Txn) error {
	return func(_ *tenancy.Set, tx *record.Txn) error {
		h := tenancytest.HashOf(name)
		tx.Put(record.At{Space: store.SpaceKey, Key: h[:], Field: 8}, &clusterv1.VirtualKey{Hash: h[:], Name: "sk-..." + name, Alias: "ci", TeamId: "free"})
		tx.Claim(store.SpaceKeyAlias, []byte("ci"), h[:])
		return nil
	}
}

// TestAliasesAreUniqueInTheirPlace: keys of different places may have one alias. Keys of one
// place may not, by any operation of any caller.
func TestAliasesAreUniqueInTheirPlace(t *testing.T) {
	t.Parallel()
	in := func(team id.Team, org id.Organization, user id.User) func(*tenancy.Key) {
		return func(k *tenancy.Key) { k.Alias, k.Team, k.Organization, k.User = "ci", team, org, user }
	}
	places := map[string]func(*tenancy.Key){
		"research": func(k *tenancy.Key) {
			k.Alias, k.Team, k.Expires = "ci", "research", tenancytest.Now().AddDate(0, 0, 9)
		},
		"free": in("free", "", ""), "nobody": in("", "", ""), "acme": in("", "acme", ""), "zeta": in("", "zeta", ""),
		"ada": in("", "", "ada"), "bob": in("", "", "bob"), "ada/acme": in("", "acme", "ada"), "ada/zeta": in("", "zeta", "ada"),
	}
	o := newKeys(newOffice(t))
	for place, change := range places {
		o.Must(tenancytest.CreateKey(tenancytest.Called(place, change)))
	}
	const taken = "key_alias already_exists"
	for place, change := range places {
		o.Must(tenancytest.CreateKey(tenancytest.Called("other "+place, func(k *tenancy.Key) { change(k); k.Alias = "other" })))
		for what, op := range map[string]func(*tenancy.Set, *record.Txn) error{
			"made":        tenancytest.CreateKey(tenancytest.Called("twin", change)),
			"renamed":     changeKey("other "+place, 0, func(k *tenancy.Key) { k.Alias = "ci" }),
			"regenerated": rotateKey("other "+place, "twin", time.Hour, func(k *tenancy.Key) { k.Alias = "ci" }),
		} {
			if _, err := o.Try(op); tenancytest.Refusal(err) != taken || fault.KindOf(err) != fault.Exists {
				t.Errorf("%s: %s: %v", place, what, err)
			}
		}
		o.check()
	}
	move := changeKey("free", 0, func(k *tenancy.Key) { k.Team = "" })
	if _, err := o.Try(move); tenancytest.Refusal(err) != taken {
		t.Errorf("moved to a place where the alias is taken: %v", err)
	}
	o.Must(deleteKeys("nobody"))
	o.Must(move)
	o.Must(tenancytest.CreateKey(tenancytest.Called("next", in("free", "", ""))))
	// The keys of a team keep their aliases when the team moves.
	o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "research", Organization: "zeta", MemberKeyDuration: "30d"}, 0))
	o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "free", Organization: "zeta"}, 0))
	o.check()
	if n := len(slices.Collect(o.Set.ByAlias("ci"))); n != len(places) {
		t.Errorf("%d keys have the alias, want %d", n, len(places))
	}
}

// Aliases that earlier versions stored stay taken in their place, and in no other.
func TestAliasesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	claims := func(want ...string) {
		t.Helper()
		got := []string{}
		for name := range o.claims(store.SpaceKeyAlias) {
			got = append(got, name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		o.check()
	}
	ci := func(team id.Team) func(*tenancy.Key) {
		return func(k *tenancy.Key) { k.Alias, k.Team = "ci", team }
	}
	o.Must(oldKey("old"))
	if _, err := o.Try(tenancytest.CreateKey(tenancytest.Called("twin", ci("free")))); tenancytest.Refusal(err) != "key_alias already_exists" {
		t.Errorf("a second key in the place: %v", err)
	}
	o.Must(tenancytest.CreateKey(tenancytest.Called("new", ci(""))))
	claims("\x00u\x00\x00\x00ci", "ci")
	o.Must(changeKey("old", 0, func(k *tenancy.Key) { k.Tags = []string{"x"} }))
	claims("\x00u\x00\x00\x00ci", "ci")
	o.Must(rotateKey("old", "rotated", 0, nil))
	claims("\x00t\x00free\x00ci", "\x00u\x00\x00\x00ci")
	o.Must(oldKey("older"))
	o.Must(changeKey("rotated", 0, func(k *tenancy.Key) { k.Alias = "" }))
	claims("\x00u\x00\x00\x00ci", "ci")
	o.Must(changeKey("older", 0, func(k *tenancy.Key) { k.Alias = "cd" }))
	claims("\x00t\x00free\x00cd", "\x00u\x00\x00\x00ci")
	o.Must(oldKey("oldest"))
	o.Must(deleteKeys("oldest"))
	claims("\x00t\x00free\x00cd", "\x00u\x00\x00\x00ci")
}

// While nodes of an earlier version still run, an alias is not given twice in one place.
func TestAliasRacesWithEarlierVersions(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	tx := o.Begin()
	if err := tenancytest.CreateKey(tenancytest.Called("new", func(k *tenancy.Key) { k.Alias, k.Team = "ci", "free" }))(o.Set, tx); err != nil {
		t.Fatal(err)
	}
	o.Must(oldKey("old"))
	if _, err := o.Commit(tx); tenancytest.Refusal(err) != record.CodeStale {
		t.Errorf("committed with %v, want it to be stale", err)
	}
	o.check()
}
