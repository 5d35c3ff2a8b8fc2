package extproc

import (
	"sync"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// throttle lets a share of an account's requests pass: of each account the first,
// and then every one that the share has grown to. It does not draw lots, so a
// caller who retries gets through after as many tries as the share says.
type throttle struct {
	mu struct {
		sync.Mutex
		grown map[id.Account]float64 // what has grown since the last that passed; from 1 on one passes
	}
}

// maxThrottled bounds the accounts that are remembered. When there are more, all
// begin anew.
const maxThrottled = 1 << 16

// turn is an account that lets a share of its requests pass.
type turn struct {
	account id.Account
	share   float64
}

// pass reports whether the next request of all these accounts is of the share that
// passes at each of them. Where it is not, none of them counts it as passed.
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

// giveBack undoes what a request did that passed and was refused elsewhere.
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
