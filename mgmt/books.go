package mgmt

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
)

// Ledger is what was spent, as this node has it: what all nodes' requests have cost,
// but for those that ended within the last moments. It is safe for concurrent use.
type Ledger interface {
	Accounts
	// Logs calls fn for each posted event that f wants, until it returns false.
	Logs(ctx context.Context, f ledger.LogFilter, fn func(ledger.Record) bool) error
	// Daily calls fn for each row that f wants, until it returns false.
	Daily(ctx context.Context, f ledger.DailyFilter, fn func(ledger.DailyRow) bool) error
}

// Accounts are what was spent by whom, and on what.
type Accounts interface {
	// Account returns what an account has spent; the zero State for one that nothing
	// was posted to.
	Account(ctx context.Context, a id.Account) (ledger.State, error)
	// KeyAccount returns the key whose account another one has used that may be gone; the
	// key itself where it has used no other.
	KeyAccount(ctx context.Context, key id.KeyHash) (id.KeyHash, error)
	// Customers calls fn for each customer that something was posted to, from one on in
	// the order of id.EndUser.Compare, until it returns false.
	Customers(ctx context.Context, from id.EndUser, fn func(id.EndUser) bool) error
	// Models calls fn for each model that something was posted to as one owner uses it, in
	// the order of the bytes of their names, until it returns false. kind is that of the
	// models' accounts.
	Models(ctx context.Context, kind id.AccountKind, owner string, fn func(model string, s ledger.State) bool) error
}

// AuditLog is the audit log, as this node has it. It is safe for concurrent use.
type AuditLog interface {
	// Query calls fn for each record that f wants, until it returns false.
	Query(ctx context.Context, f audit.Filter, fn func(audit.Record) bool) error
	// Record returns the record with a number, if it is there.
	Record(ctx context.Context, number uint64) (r audit.Record, ok bool, err error)
	// Export writes the records from one on as audit.VerifyExport reads them.
	Export(ctx context.Context, out io.Writer, from uint64) error
	// Verify checks the records from one to another, 0 for the first and the last.
	Verify(ctx context.Context, from, to uint64) (audit.Report, error)
}

// Notices takes what belongs into the audit log and changes nothing else. Where it
// is told of more than it can keep, it keeps what it can.
type Notices interface {
	Notify(ev journal.Event)
}
