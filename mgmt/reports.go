package mgmt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// Bounds of reports, which sum up what the ledger has. Together with the bounds of one
// report they bound the memory that all of them take.
const (
	reportsAtOnce  = 2  // that are computed at the same time
	reportsWaiting = 64 // that wait for their turn
)

// reports bounds how many reports are computed at a time, and computes equal ones that
// are asked for at the same time once. It is safe for concurrent use.
type reports struct {
	turns chan struct{} // holds an element for each report that is computed
	// begin is called before a report is computed, and what it returns afterwards.
	begin func() (end func())
	mu    struct {
		sync.Mutex
		waiting int
		running map[string]*report
	}
}

// report is one that is computed or waits for its turn. Those that wait for done share
// the answer, which nobody changes.
type report struct {
	done   chan struct{}
	answer proto.Message
	err    error
}

func newReports(begin func() (end func())) *reports {
	if begin == nil {
		begin = func() func() { return func() {} }
	}
	r := &reports{turns: make(chan struct{}, reportsAtOnce), begin: begin}
	r.mu.running = map[string]*report{}
	return r
}

// reportKey is the same for requests that get the same answer: of the same operation,
// with the same parameters, by callers that may see the same.
func reportKey(ctx context.Context, in proto.Message) (string, error) {
	may := "all"
	who := operation.Principal(ctx)
	if !rights.Of(operation.View(ctx).Keys, nil, who).SeesAll() {
		may = fmt.Sprintf("%x %q %q", who.Hash, who.User, who.Team)
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(in)
	return string(in.ProtoReflect().Descriptor().FullName()) + " " + may + " " + string(body), err
}

// shared returns the answer to a request. It computes the answer unless an equal request
// does so already.
func shared[T proto.Message](ctx context.Context, r *reports, in proto.Message, compute func() (T, error)) (T, error) {
	var none T
	key, err := reportKey(ctx, in)
	if err != nil {
		return none, err
	}
	for {
		one, mine, err := r.join(key)
		switch {
		case err != nil:
			return none, err
		case mine:
			one.answer, one.err = r.run(ctx, func() (proto.Message, error) { return compute() })
			r.leave(key, one)
		default:
			select {
			case <-one.done:
			case <-ctx.Done():
				return none, context.Cause(ctx)
			}
			if isCanceled(one.err) && ctx.Err() == nil {
				continue // the caller that it was computed for is gone
			}
		}
		if one.err != nil {
			return none, one.err
		}
		answer, ok := one.answer.(T)
		if !ok {
			return none, fmt.Errorf("a report is %T", one.answer)
		}
		return answer, nil
	}
}

func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// join returns the report of a key. It is the caller's to compute if nobody does yet.
func (r *reports) join(key string) (one *report, mine bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one = r.mu.running[key]; one != nil {
		return one, false, nil
	}
	if r.mu.waiting >= reportsAtOnce+reportsWaiting {
		return nil, false, &fault.Error{
			Kind: fault.Unavailable, Code: "overloaded", RetryAfter: time.Second,
			Detail: "Too many reports are asked for at a time. Try again, or ask for fewer at once.",
		}
	}
	r.mu.waiting++
	one = &report{done: make(chan struct{})}
	r.mu.running[key] = one
	return one, true, nil
}

func (r *reports) leave(key string, one *report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.waiting--
	delete(r.mu.running, key)
	close(one.done)
}

// run computes a report when it is its turn.
func (r *reports) run(ctx context.Context, compute func() (proto.Message, error)) (proto.Message, error) {
	select {
	case r.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-r.turns }()
	defer r.begin()()
	return compute()
}
