package throttle

import (
	"strconv"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// A request passes at all of its throttled accounts or at none.
func TestThrottlingIsAllOrNothing(t *testing.T) {
	t.Parallel()
	var f Throttle
	key, team := Share{id.Account{Kind: id.AccountKey, Owner: "key"}, 0.25}, Share{id.Account{Kind: id.AccountKey, Owner: "key"}, 0.25}
	team.Account.Owner = "team"
	if !f.Pass([]Share{team}) {
		t.Fatal("the first of an account does not pass")
	}
	for range 3 {
		if f.Pass([]Share{key, team}) {
			t.Fatal("it passes before the share of the team is whole")
		}
	}
	if !f.Pass([]Share{key}) {
		t.Error("the key has lost its share to requests that did not pass")
	}
}

// The number of accounts that are remembered is bounded.
func TestThrottleForgetsBeforeItGrows(t *testing.T) {
	t.Parallel()
	var f Throttle
	for n := range 2 * MaxAccounts {
		if !f.Pass([]Share{{id.Account{Owner: strconv.Itoa(n)}, 0.5}}) {
			t.Fatal("the first of an account does not pass")
		}
	}
	if n := len(f.mu.grown); n > MaxAccounts {
		t.Errorf("%d accounts are remembered", n)
	}
}
