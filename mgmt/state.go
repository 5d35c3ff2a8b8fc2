package mgmt

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/ledger"
	"github.com/modelgateway/modelgateway/cluster/restore"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// State reads and changes the replicated state. All parts are safe for concurrent use, and
// a node is all of them. A method that changes something returns nil only when the change
// is committed and this node's View includes it. If it cannot know that in time it returns
// fault.Unavailable, and the change may still be committed. An actor is what tenancy.Principal.Actor
// returns, never a key.
type State struct {
	Changes operation.Changes
	Members Members
	Backups Backups
}

// Members shows and removes nodes.
type Members interface {
	// Status returns the status of the nodes, with checksum also the hash of their states.
	// A node that does not respond soon is shown as not alive.
	Status(ctx context.Context, checksum bool) (cluster.Status, error)
	// RemoveMember removes a node forever. It is fault.NotFound if the node is no member.
	RemoveMember(ctx context.Context, node id.Node) error
	// Removed reports whether a node was removed.
	Removed(ctx context.Context, node id.Node) (bool, error)
}

// Backups exports and imports the whole replicated state.
type Backups interface {
	// Backup writes the state as of one moment.
	Backup(ctx context.Context, w io.Writer) error
	// Restore replaces the settings of all nodes by those of a file of Backup, and returns
	// what that changed. It changes nothing before it has read and checked the whole file.
	Restore(ctx context.Context, r io.Reader, in cluster.RestoreRequest) (*restore.Report, error)
	// RestoredBy returns what the restore of a name changed; nil if that is too long ago.
	RestoredBy(ctx context.Context, name []byte) (*restore.Report, error)
	// RestoreAll replaces the whole state of a new cluster.
	RestoreAll(ctx context.Context, r io.Reader) error
}

// Ledger is the spend of the requests of all nodes, as this node has it. The latest
// requests may be missing. It is safe for concurrent use.
type Ledger interface {
	Accounts
	// Logs calls fn for each posted event that f matches, until fn returns false.
	Logs(ctx context.Context, f ledger.LogFilter, fn func(ledger.Record) bool) error
	// Daily calls fn for each row that f matches, until fn returns false.
	Daily(ctx context.Context, f ledger.DailyFilter, fn func(ledger.DailyRow) bool) error
}

// Accounts are the spend by owner and by model.
type Accounts interface {
	// Account returns the spend of an account; the zero State for one without postings.
	Account(ctx context.Context, a id.Account) (ledger.State, error)
	// KeyAccount returns the key whose account a key uses or used before it was deleted; the
	// key itself if it used no other.
	KeyAccount(ctx context.Context, key id.KeyHash) (id.KeyHash, error)
	// Customers calls fn for each customer with postings, from one on in the order of
	// id.EndUser.Compare, until fn returns false.
	Customers(ctx context.Context, from id.EndUser, fn func(id.EndUser) bool) error
	// Models calls fn for each model with postings of an owner, in the order of the bytes of
	// their names, until fn returns false. kind is that of the models' accounts.
	Models(ctx context.Context, kind id.AccountKind, owner string, fn func(model string, s ledger.State) bool) error
}

// AuditLog is the audit log, as this node has it. It is safe for concurrent use.
type AuditLog interface {
	// Query calls fn for each record that f matches, until fn returns false.
	Query(ctx context.Context, f audit.Filter, fn func(audit.Record) bool) error
	// Record returns the record with a number.
	Record(ctx context.Context, number uint64) (r audit.Record, ok bool, err error)
	// Export writes the records from a number on, in the form that audit.VerifyExport reads.
	Export(ctx context.Context, out io.Writer, from uint64) error
	// Verify checks the records between two numbers; 0 is the first or the last one.
	Verify(ctx context.Context, from, to uint64) (audit.Report, error)
}

// Notices records audit events that change nothing else. It drops events that it has no
// room for.
type Notices interface {
	Notify(ev journal.Event)
}
