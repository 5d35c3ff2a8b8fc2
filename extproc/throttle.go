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

// mostThrottled bounds the accounts that are remembered. When there are more, all
// begin anew.
const mostThrottled = 1 << 16

// pass reports whether the account's next request is of the share that passes.
func (t *throttle) pass(account id.Account, share float64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	grown, met := t.mu.grown[account]
	if !met {
		if t.mu.grown == nil || len(t.mu.grown) >= mostThrottled {
			t.mu.grown = make(map[id.Account]float64)
		}
		grown = 1
	}
	passes := grown >= 1
	if passes {
		grown--
	}
	t.mu.grown[account] = grown + max(share, 0)
	return passes
}
