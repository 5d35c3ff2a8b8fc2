package deliver

import (
	"context"
	"errors"
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

// state is what becomes known of a place on the way. It logs when a place begins to
// fail and when it works again, and not each attempt: a receiver that is down for a
// day is one line.
type state struct {
	logger *slog.Logger
	mu     struct {
		sync.Mutex
		Status
	}
}

func newState(c Config, place delivery.Place) *state {
	s := &state{logger: c.Logger.With("place", string(place))}
	s.mu.Place = place
	return s
}

func (s *state) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.Status
}

func (s *state) begin(next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Active, s.mu.Next = true, next
}

func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Active, s.mu.Since, s.mu.Problem = false, time.Time{}, ""
}

// reached notes that n records were taken and what the next one is.
func (s *state) reached(next, n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.Next = next
	s.mu.Delivered += n
}

// failed notes that an attempt failed. The error's text is safe to show.
func (s *state) failed(ctx context.Context, err error) {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return
	}
	s.mu.Lock()
	first := s.mu.Since.IsZero()
	s.mu.Failures++
	s.mu.Problem = err.Error()
	if first {
		s.mu.Since = time.Now()
	}
	next := s.mu.Next
	s.mu.Unlock()
	if first {
		s.logger.WarnContext(ctx, "the audit log cannot be delivered", "error", err, "next", next)
	}
}

// worked notes that an attempt did not fail.
func (s *state) worked() {
	s.mu.Lock()
	since := s.mu.Since
	s.mu.Since, s.mu.Problem = time.Time{}, ""
	s.mu.Unlock()
	if !since.IsZero() {
		s.logger.Info("the audit log is delivered again", "after", time.Since(since).Round(time.Second).String())
	}
}
