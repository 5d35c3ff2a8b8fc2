package mgmt

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// State is what the nodes agree on, as the API sees and changes it. All of its
// parts are safe for concurrent use, and a node is all of them. A method that
// changes something returns nil only when the change is committed and this
// node's View has it; where it cannot know in time, it is a fault.Unavailable
// and the change may or may not come about. An actor is what tenancy.Principal.Actor
// returns, never a key.
type State struct {
	Changes operation.Changes
	Members Members
	Backups Backups
}

// Members shows the nodes and takes nodes out.
type Members interface {
	// Status asks the nodes how they are, with checksum also what their states hash
	// to. One that does not answer in a moment is shown as not alive.
	Status(ctx context.Context, checksum bool) (cluster.Status, error)
	// RemoveMember takes a node out for good. fault.NotFound: it is no member.
	RemoveMember(ctx context.Context, node id.Node) error
	// Removed reports whether a node was taken out.
	Removed(ctx context.Context, node id.Node) (bool, error)
}

// Backups copies the whole agreed state out and in.
type Backups interface {
	// Backup writes the state as of one moment.
	Backup(ctx context.Context, w io.Writer) error
	// Restore makes the settings of all nodes those of a file that Backup wrote, and
	// returns what that changed. It changes nothing before it has read and checked all
	// of the file.
	Restore(ctx context.Context, r io.Reader, in cluster.RestoreRequest) (*cluster.Restored, error)
	// RestoredBy returns what a restore has changed, by its name; nil if that is too
	// long ago.
	RestoredBy(ctx context.Context, name []byte) (*cluster.Restored, error)
	// RestoreAll replaces the whole state of a new cluster.
	RestoreAll(ctx context.Context, r io.Reader) error
}

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
