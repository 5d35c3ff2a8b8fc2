// Package throttle lets a share of the requests of an account pass that is over its soft budget.
package throttle

import (
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Throttle lets a share of an account's requests pass. Each request adds the share, and one
// passes when the sum reaches 1; an account's first one passes. It is not random, so a caller
// that retries passes after 1/share attempts. Its zero value is ready, and it is safe for
// concurrent use.
type Throttle struct {
	mu struct {
		sync.Mutex
		grown map[id.Account]float64 // the sum of shares since the last request that passed; from 1 on one passes
	}
}

// MaxAccounts bounds the accounts that are remembered. When there are more, all of them
// start again.
const MaxAccounts = 1 << 16

// Share is an account that lets a share of its requests pass.
type Share struct {
	Account id.Account
	Share   float64 // from 0 to 1
}

// Pass reports whether the next request may pass at all of these accounts. If not, none of
// them counts it as passed.
func (t *Throttle) Pass(shares []Share) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mu.grown)+len(shares) > MaxAccounts || t.mu.grown == nil {
		t.mu.grown = make(map[id.Account]float64)
	}
	passes := true
	for _, of := range shares {
		grown, met := t.mu.grown[of.Account]
		passes = passes && (!met || grown >= 1)
	}
	for _, of := range shares {
		grown, met := t.mu.grown[of.Account]
		if !met {
			grown = 1
		}
		if passes {
			grown--
		}
		t.mu.grown[of.Account] = grown + max(of.Share, 0)
	}
	return passes
}

// Undo reverts Pass for a request that passed and was rejected elsewhere.
func (t *Throttle) Undo(shares []Share) {
	if len(shares) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range shares {
		if grown, met := t.mu.grown[of.Account]; met {
			t.mu.grown[of.Account] = grown + 1 - max(of.Share, 0)
		}
	}
}
