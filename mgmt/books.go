package mgmt

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// Ledger is what was spent, as this node has it: what all nodes' requests have cost,
// but for those that ended within the last moments. It is safe for concurrent use.
type Ledger interface {
	// Account returns what an account has spent; the zero State for one that nothing
	// was posted to.
	Account(ctx context.Context, a id.Account) (ledger.State, error)
	// Logs calls fn for each posted event that f wants, until it returns false.
	Logs(ctx context.Context, f ledger.LogFilter, fn func(ledger.Record) bool) error
	// Daily calls fn for each row that f wants, until it returns false.
	Daily(ctx context.Context, f ledger.DailyFilter, fn func(ledger.DailyRow) bool) error
}

// AuditLog is the audit log, as this node has it. It is safe for concurrent use.
type AuditLog interface {
	// Query calls fn for each record that f wants, until it returns false.
	Query(ctx context.Context, f audit.Filter, fn func(audit.Record) bool) error
	// Record returns the record with a number, if it is there.
	Record(ctx context.Context, number uint64) (r audit.Record, ok bool, err error)
	// Verify checks the records from one to another, 0 for the first and the last.
	Verify(ctx context.Context, from, to uint64) (audit.Report, error)
}

// Notices takes what belongs into the audit log and changes nothing else. Where it
// is told of more than it can keep, it keeps what it can.
type Notices interface {
	Notify(ev journal.Event)
}
