package mgmt

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
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
