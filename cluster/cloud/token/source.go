package token

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
)

const (
	// fetchTime bounds a fetch, which may be several calls.
	fetchTime = 15 * time.Second
	// leastWait and mostWait bound the time between two fetches.
	leastWait = time.Second
	mostWait  = time.Minute
	// look is how often the clock is read while a token is valid: while a machine sleeps, timers stand still.
	look = time.Minute

	notYet = "its first token is being fetched"
)

// source keeps the token of one credential.
type source struct {
	m  *Manager
	of cloud.Credential

	state    atomic.Pointer[state]
	answered atomic.Bool        // has answered, or has made requests wait long enough
	waited   sync.Once          // the time in which requests wait has begun
	stop     context.CancelFunc // ends the goroutine; nil until it starts. Owned by Manager.Run

	mu struct {
		sync.Mutex
		names    string // of the models whose deployments have this credential
		ended    bool
		reported string // what the node's problems say that this problem is about; empty: nothing
		failing  bool   // the last state that was logged
	}
}

// state is what the last fetch has left. Nobody changes it.
type state struct {
	token cloud.Token // zero if there is none
	why   string      // the last fetch failed; empty if it did not
}

func newSource(m *Manager, of cloud.Credential) *source {
	s := &source{m: m, of: of}
	s.state.Store(&state{})
	return s
}

// start starts the goroutine of a new source.
func (s *source) start(ctx context.Context) {
	if s.stop != nil {
		return
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.m.running.Go(func() { s.run(ctx) })
}

// end drops the token and ends the goroutine.
func (s *source) end() {
	s.stop()
	s.answered.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.ended = true
	s.state.Store(&state{})
	s.reportLocked("")
}

// name notes the models whose deployments have this credential.
func (s *source) name(models []string) {
	const most = 3
	slices.Sort(models)
	models = slices.Compact(models)
	names := strings.Join(models[:min(len(models), most)], ", ")
	if more := len(models) - most; more > 0 {
		names += " and " + strconv.Itoa(more) + " more"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.names = names
	if s.mu.failing {
		s.reportLocked(s.state.Load().why)
	}
}

// token returns the token if it is valid.
func (s *source) token(now time.Time) (cloud.Token, bool) {
	t := s.state.Load().token
	return t, valid(t, now)
}

func valid(t cloud.Token, now time.Time) bool {
	return !t.IsZero() && (t.Expires.IsZero() || now.Before(t.Expires))
}

// reason returns why there is no valid token; empty if there is one.
func (s *source) reason(now time.Time) string {
	at := s.state.Load()
	if valid(at.token, now) {
		return ""
	}
	return cmp.Or(at.why, notYet)
}

// await reports whether a request should wait for the first answer.
func (s *source) await() bool {
	if s.answered.Load() {
		return false
	}
	s.waited.Do(func() { time.AfterFunc(patience, s.answer) })
	return true
}

// answer ends the waiting of requests.
func (s *source) answer() {
	if !s.answered.Swap(true) {
		s.m.move()
	}
}

// run fetches tokens until the source ends.
func (s *source) run(ctx context.Context) {
	fetcher, err := s.m.cfg.New(s.of)
	failures := 0
	for ctx.Err() == nil {
		t, why := cloud.Token{}, err
		if err == nil {
			t, why = s.fetch(ctx, fetcher)
		}
		now := time.Now()
		if why != nil {
			failures++
		} else {
			failures = 0
		}
		s.took(ctx, t, why, now)
		if err != nil || why == nil && t.Expires.IsZero() {
			return // nothing changes until the credential does
		}
		if !sleep(ctx, now.Add(s.wait(now, failures))) {
			return
		}
	}
}

// fetch fetches a token when there is a place. The error holds no secret.
func (s *source) fetch(running context.Context, f Fetcher) (cloud.Token, error) {
	select {
	case s.m.places <- struct{}{}:
		defer func() { <-s.m.places }()
	case <-running.Done():
		return cloud.Token{}, running.Err()
	}
	return Fetch(running, f, s.of)
}

// Fetch fetches a token of a credential once. It gives up after 15 seconds. The error holds no secret.
func Fetch(ctx context.Context, f Fetcher, of cloud.Credential) (cloud.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	ctx, clock := outbound.WithClock(ctx)
	t, err := f.Fetch(ctx)
	if err == nil && !valid(t, time.Now()) {
		err = errors.New("the token service returned a token that has expired")
	}
	if err == nil {
		return t, nil
	}
	if ctx.Err() != nil {
		err = errors.New("the token service did not respond within " + fetchTime.String())
	}
	text := outbound.Scrub(err.Error(), of)
	if p := clock.Problem(); p != "" {
		text = p + ", so it rejects what this machine signs; correct the clock (" + text + ")"
	}
	return cloud.Token{}, errors.New(text)
}

// took notes the result of a fetch.
func (s *source) took(ctx context.Context, t cloud.Token, why error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ended || ctx.Err() != nil {
		return
	}
	next := &state{token: t}
	if why != nil {
		next.why = why.Error()
		if before := s.state.Load().token; valid(before, now) {
			next.token = before
		}
	}
	s.state.Store(next)
	s.m.fetches.add(s.of.Of, why == nil)
	s.answer()
	s.logLocked(ctx, next, now)
}

// logLocked logs and reports a change of state.
func (s *source) logLocked(ctx context.Context, at *state, now time.Time) {
	failing, usable := at.why != "", valid(at.token, now)
	logger := s.m.cfg.Logger.With("cloud", string(s.of.Of), "models", s.mu.names)
	switch {
	case failing && !usable && s.mu.reported == "":
		logger.LogAttrs(ctx, slog.LevelError, "deployments are left out: the credential for their provider cannot be obtained", slog.String("error", at.why))
	case failing && !s.mu.failing:
		logger.LogAttrs(ctx, slog.LevelWarn, "the credential for a provider cannot be renewed; it is used until it expires", slog.String("error", at.why))
	case !failing && s.mu.failing:
		logger.LogAttrs(ctx, slog.LevelInfo, "the credential for a provider is obtained again")
	}
	s.mu.failing = failing
	if usable {
		s.reportLocked("")
		return
	}
	s.reportLocked(at.why)
}

// reportLocked puts the reason into the node's problems; empty: there is no problem.
func (s *source) reportLocked(why string) {
	about := "credential at " + string(s.of.Of) + " of " + s.mu.names
	if before := s.mu.reported; before != "" && (why == "" || before != about) {
		s.m.cfg.Report(before, nil)
		s.mu.reported = ""
	}
	if why != "" {
		s.m.cfg.Report(about, errors.New(why))
		s.mu.reported = about
	}
}

// wait returns the time until the next fetch.
func (s *source) wait(now time.Time, failures int) time.Duration {
	left := s.state.Load().token.Expires.Sub(now)
	if failures == 0 {
		return max(left-left/5, leastWait)
	}
	backoff := min(leastWait<<min(failures-1, 10), mostWait)
	if left > 0 {
		backoff = min(backoff, left) // what follows from its end is noticed at once
	}
	return max(backoff, leastWait)
}

// sleep waits until the clock shows a time, and reports whether the source goes on.
func sleep(ctx context.Context, until time.Time) bool {
	until = until.Round(0) // the wall clock
	for {
		left := until.Sub(time.Now().Round(0))
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(min(left, look))
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
}
