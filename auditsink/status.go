package auditsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// Status is how the delivery to one place does.
type Status struct {
	Place     delivery.Place
	Active    bool      // this node delivers to it
	Next      uint64    // number of the next record, where it is active
	Delivered uint64    // records, since the start of this process
	Failures  uint64    // attempts that failed, since then
	Since     time.Time // since when it fails; zero where it does not
	Problem   string    // why it fails
}

// warnAfter is how long a failure must last before it is logged. A receiver that fails
// a request now and then is in the metrics, not in the log.
const warnAfter = time.Second

// state is what becomes known of a place on the way. It logs when a place begins to
// fail and when it works again, and not each attempt: a receiver that is down for a
// day is one line.
type state struct {
	logger *slog.Logger
	report func(err error)
	mu     struct {
		sync.Mutex
		Status
		failing map[int]failure // by lane: what is sent one after the other
		logged  time.Time       // since when it fails, as the log says; zero where it does not
	}
}

// failure is that of a lane.
type failure struct {
	since   time.Time
	problem string
}

func newState(c Config, place delivery.Place) *state {
	s := &state{logger: c.Logger.With("place", string(place)), report: func(err error) { c.Report("delivery "+string(place), err) }}
	s.mu.Place = place
	s.mu.failing = map[int]failure{}
	return s
}

// status is how the place does. It shows the failure that has lasted longest.
func (s *state) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.mu.Status
	for _, f := range s.mu.failing {
		if out.Since.IsZero() || f.since.Before(out.Since) {
			out.Since, out.Problem = f.since, f.problem
		}
	}
	return out
}

func (s *state) begin(next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Active, s.mu.Next = true, next
}

func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Active, s.mu.logged = false, time.Time{}
	clear(s.mu.failing)
	s.report(nil)
}

// forget drops the failures of all lanes, which nobody is in any more. What the log
// says stays, until an attempt does not fail.
func (s *state) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.mu.failing)
}

// reached notes that n records were taken and what the next one is.
func (s *state) reached(next, n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Next = max(s.mu.Next, next)
	s.mu.Delivered += n
}

// failed notes that an attempt of a lane failed. The error's text is safe to show.
func (s *state) failed(ctx context.Context, lane int, err error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return
	}
	s.mu.Lock()
	s.mu.Failures++
	f, again := s.mu.failing[lane]
	if !again {
		f.since = time.Now()
	}
	f.problem = err.Error()
	s.mu.failing[lane] = f
	warn := s.mu.logged.IsZero() && time.Since(f.since) >= warnAfter
	if warn {
		s.mu.logged = f.since
	}
	next, lasts := s.mu.Next, !s.mu.logged.IsZero()
	s.mu.Unlock()
	if lasts {
		s.report(fmt.Errorf("records from %d on cannot be delivered, and are tried again until they are: %w", next, err))
	}
	if warn {
		s.logger.WarnContext(ctx, "records cannot be delivered", "error", err, "next", next)
	}
}

// worked notes that an attempt of a lane did not fail.
func (s *state) worked(lane int) {
	s.mu.Lock()
	delete(s.mu.failing, lane)
	since := s.mu.logged
	if len(s.mu.failing) == 0 {
		s.mu.logged = time.Time{}
	}
	over := !since.IsZero() && s.mu.logged.IsZero()
	s.mu.Unlock()
	if over {
		s.report(nil)
		s.logger.Info("records are delivered again", "after", time.Since(since).Round(time.Second).String())
	}
}
