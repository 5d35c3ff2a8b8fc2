package auditsink

import (
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// Source is the audit log of one workspace, as this node has it. It is called from
// several goroutines.
type Source interface {
	// Head returns the number of the last record; 0 if there is none.
	Head(ctx context.Context) (uint64, error)
	// From calls fn for the records from a number on, in the order of the chain,
	// until fn returns false. It begins with the first that is still there.
	From(ctx context.Context, number uint64, fn func(audit.Record) bool) error
	// Wait returns nil when there is a record of that number, or a later one.
	Wait(ctx context.Context, number uint64) error
	// Export writes the records from first to last in the form that external
	// systems get, as lines of JSON.
	Export(ctx context.Context, w io.Writer, first, last uint64) error
}

// Usage are the usage records, as this node has them. It is called from several goroutines.
type Usage interface {
	// Count returns how many records have a number from first to last, which may be less
	// than the difference.
	Count(ctx context.Context, first, last uint64) (uint64, error)
	// From calls fn for the records from a number on, in the order of recording, until fn
	// returns false. It begins with the first that is still there.
	From(ctx context.Context, number uint64, fn func(number uint64, r ledger.Record) bool) error
}

// Cursors are how far each place has got, as the nodes have agreed.
type Cursors interface {
	// Load returns what a place has taken; the zero Progress if nothing was ever
	// saved.
	Load(ctx context.Context, place delivery.Place) (delivery.Progress, error)
	// Save returns nil when it is committed. It is Conflict where another node
	// has got further.
	Save(ctx context.Context, place delivery.Place, to delivery.Progress) error
}

// Config says what is delivered where. Source, Cursors, Leads and Settings are
// required; the zero value of everything else works.
type Config struct {
	Source Source
	// Usage are put into the bucket as well; nil for none.
	Usage   Usage
	Cursors Cursors
	// Leads reports whether this node is the one that delivers.
	Leads func() bool
	// Settings are those of the webhook that are in force.
	Settings func() delivery.Settings
	// Pace is how many records the webhook gets at a time where the settings do not
	// say it.
	Pace delivery.Pace
	// Guard says what the webhook may reach.
	Guard delivery.Guard
	// QueueURL is where each record is published; empty if there is no queue. Its schemes
	// are nats, tls (NATS over TLS), kafka and kafkas. It may hold a password.
	QueueURL string
	// BucketURL is where objects are put: audit records as lines of JSON and as
	// Parquet, usage records as Parquet. Empty if there is no bucket. Its schemes are s3, azblob
	// and file.
	BucketURL string
	// Workspace is whose audit log it is; empty means audit.DefaultWorkspace.
	Workspace string
	// Period is what one object covers; 0 means an hour.
	Period time.Duration
	// Roots are who may vouch for a webhook's certificate; nil means those of the
	// operating system.
	Roots *x509.CertPool
	// Transport carries the webhook's requests; nil means one that asks Guard
	// before each connection. Tests use it.
	Transport http.RoundTripper
	// Report is called with the failure of a place that lasts, and with nil when it is
	// over; nil means nobody needs it.
	Report func(about string, err error)
	// Logger gets what goes wrong; nil means nobody does.
	Logger *slog.Logger
}

const (
	tick       = time.Second // how often it is looked whether anything else is so by now
	batchSize  = 500         // records that are read at once, and after which a cursor is saved
	saveEvery  = time.Second
	saveWithin = 2 * time.Second // for the last save at the end
)

func (c Config) withDefaults() Config {
	if c.Workspace == "" {
		c.Workspace = audit.DefaultWorkspace
	}
	if c.Period <= 0 {
		c.Period = time.Hour
	}
	if c.Report == nil {
		c.Report = func(string, error) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
