package journal

import (
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Config says where the journal writes. Store is required; the zero value of
// everything else works.
type Config struct {
	Store  *store.Store
	Logger *slog.Logger
	// MaxPending is how many intents and settles may wait for the disk before
	// new intents are refused; settles are taken always, for they are money.
	// 0 means 65,536: 15 s of 2,000 requests per second and both their
	// writes, in about 50 MB.
	MaxPending int
	// IntentDelay is how long an intent may wait for company before it is written:
	// until a settle is, or somebody waits for it, or the delay is over. An answer
	// that is faster than that takes its intent away before it was ever written,
	// which halves the syncs of short requests. 0 means no delay. A crash within
	// it leaves no trace of a request of which the caller has seen nothing.
	IntentDelay time.Duration
	// MaxBacklog, MaxOwed and MaxAge bound what may be recorded here and not be
	// posted yet: how many events, what they cost in all, and how old the oldest is.
	// Beyond one of them Healthy says no: it is what the destruction of this disk
	// would lose. 0 means 10 million (about 5 GB), 100 dollars and 72 hours.
	MaxBacklog int64
	MaxOwed    money.Pico
	MaxAge     time.Duration
	// Time dates an instant of this node's clock. Records are written with the cluster's
	// time. Time is not called before Open has returned. nil: this node's clock is right.
	Time func(instant time.Time) Date
	// Committed is told of each commit, from the committing goroutine; nil
	// means nobody is. It must be quick.
	Committed func(Commit)
}

// The defaults.
const (
	defaultMaxPending = 1 << 16
	defaultMaxBacklog = 10_000_000
	defaultMaxOwed    = 100 * money.USD
	defaultMaxAge     = 72 * time.Hour
)

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.MaxPending <= 0 {
		c.MaxPending = defaultMaxPending
	}
	if c.MaxBacklog <= 0 {
		c.MaxBacklog = defaultMaxBacklog
	}
	if c.MaxOwed <= 0 {
		c.MaxOwed = defaultMaxOwed
	}
	if c.MaxAge <= 0 {
		c.MaxAge = defaultMaxAge
	}
	if c.Time == nil {
		c.Time = func(instant time.Time) Date { return Date{At: instant} }
	}
	if c.Committed == nil {
		c.Committed = func(Commit) {}
	}
	return c
}
