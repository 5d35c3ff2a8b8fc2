package extproc

import (
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// throttle lets a share of an account's requests pass. Each request adds the share, and one
// passes when the sum reaches 1; an account's first one passes. It is not random, so a caller
// that retries passes after 1/share attempts.
type throttle struct {
	mu struct {
		sync.Mutex
		grown map[id.Account]float64 // the sum of shares since the last request that passed; from 1 on one passes
	}
}

// maxThrottled bounds the accounts that are remembered. When there are more, all of them
// start again.
const maxThrottled = 1 << 16

// turn is an account that lets a share of its requests pass.
type turn struct {
	account id.Account
	share   float64
}

// pass reports whether the next request may pass at all of these accounts. If not, none of
// them counts it as passed.
func (t *throttle) pass(turns []turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.mu.grown)+len(turns) > maxThrottled || t.mu.grown == nil {
		t.mu.grown = make(map[id.Account]float64)
	}
	passes := true
	for _, of := range turns {
		grown, met := t.mu.grown[of.account]
		passes = passes && (!met || grown >= 1)
	}
	for _, of := range turns {
		grown, met := t.mu.grown[of.account]
		if !met {
			grown = 1
		}
		if passes {
			grown--
		}
		t.mu.grown[of.account] = grown + max(of.share, 0)
	}
	return passes
}

// undo reverts pass for a request that passed and was rejected elsewhere.
func (t *throttle) undo(turns []turn) {
	if len(turns) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, of := range turns {
		if grown, met := t.mu.grown[of.account]; met {
			t.mu.grown[of.account] = grown + 1 - max(of.share, 0)
		}
	}
}
