package journal

import (
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// Config configures the journal. Store is required; the other fields have useful zero values.
type Config struct {
	Store  *store.Store
	Logger *slog.Logger
	// MaxPending is how many intents and settles may wait for the disk before new intents are
	// rejected. Settles are always accepted, because they are money. 0 means 65,536: 15 s of
	// 2,000 requests per second with two writes each, in about 50 MB.
	MaxPending int
	// IntentDelay is how long an intent may wait for other records before it is written. A
	// settle or a waiting caller ends the delay. If the response is complete within it, the
	// intent is never written, which halves the syncs of short requests. A crash within it
	// leaves no trace of a request whose caller has received nothing. 0 means no delay.
	IntentDelay time.Duration
	// MaxBacklog, MaxOwed and MaxAge limit the unposted events: their number, their total cost,
	// and the age of the oldest. Beyond a limit Healthy returns an error, because the loss of
	// this disk would lose these events. 0 means 10 million (about 5 GB), 100 dollars and 72
	// hours.
	MaxBacklog int64
	MaxOwed    money.Pico
	MaxAge     time.Duration
	// Time converts an instant of this node's clock to the cluster's time, for the records. It
	// is not called before Open has returned. nil means that this node's clock is right.
	Time func(instant time.Time) Date
	// Committed is called after each commit by the committing goroutine. It must not block. nil
	// means no callback.
	Committed func(Commit)
}

// The defaults of Config.
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
