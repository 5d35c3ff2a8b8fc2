package mgmt

import (
	"context"
	"io"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// State is what the nodes agree on, as the API sees and changes it. All of its
// parts are safe for concurrent use, and a node is all of them. A method that
// changes something returns nil only when the change is committed and this
// node's View has it; where it cannot know in time, it is a fault.Unavailable
// and the change may or may not come about. An actor is the alias of the key that
// asks, never the key.
type State struct {
	Deployments Deployments
	Keys        Keys
	Router      Router
	Members     Members
	Backups     Backups
}

// Deployments adds and removes deployments at run time. Which there are is in
// the View's catalogue.
type Deployments interface {
	// CreateDeployment adds a deployment, whose ID is given. What the catalogue says
	// against it comes back as *fault.Errors, perhaps several joined, whose Param is
	// the request's field, such as gateway_params.model. fault.Exists: the id is taken.
	CreateDeployment(ctx context.Context, actor string, spec catalog.DeploymentSpec) (catalog.Stored, error)
	// DeleteDeployment removes one. fault.NotFound: there is none of that id.
	DeleteDeployment(ctx context.Context, actor string, d id.Deployment) error
}

// Keys makes, reads and deletes virtual keys. The reads of one key see every
// change that was acknowledged before they began, on whichever node; the master
// key is not among the keys.
type Keys interface {
	// CreateKey adds a key and returns it with who made it and when. fault.Exists,
	// with the Param key_alias or key: one of them is taken.
	CreateKey(ctx context.Context, actor string, k keys.Key) (keys.Key, error)
	// DeleteKeys deletes all of them or none. It returns when every connected node
	// has acknowledged it, or two seconds after the commit. fault.NotFound: one is not
	// there.
	DeleteKeys(ctx context.Context, actor string, hashes []id.KeyHash) error
	// Key returns a key that was made at run time or stands in the file.
	Key(ctx context.Context, hash id.KeyHash) (keys.Key, bool, error)
	// KeyByAlias returns a key that was made at run time.
	KeyByAlias(ctx context.Context, alias string) (keys.Key, bool, error)
	// Keys returns at most limit of the keys that were made at run time, without the
	// first offset, in an order that does not change, and how many there are in all.
	Keys(ctx context.Context, offset, limit int) ([]keys.Key, int, error)
}

// Router changes the settings of the router. What they are is in the View's
// catalogue.
type Router interface {
	// UpdateRouter sets what the patch gives. fault.Conflict: ifRevision is not 0 and
	// not the settings' revision. Faults of the catalogue have the field as Param.
	UpdateRouter(ctx context.Context, actor string, patch catalog.RouterPatch, ifRevision uint64) error
}

// Members shows the nodes and takes nodes out.
type Members interface {
	// Status asks the nodes how they are, with checksum also what their states hash
	// to. One that does not answer in a moment is shown as not alive.
	Status(ctx context.Context, checksum bool) (cluster.Status, error)
	// RemoveMember takes a node out for good. fault.NotFound: it is no member.
	RemoveMember(ctx context.Context, node id.Node) error
}

// Backups copies the whole agreed state out and in.
type Backups interface {
	// Backup writes the state as of one moment.
	Backup(ctx context.Context, w io.Writer) error
	// Restore replaces the state, on every node, by one that Backup wrote. It changes
	// nothing before it has read and checked all of it.
	Restore(ctx context.Context, r io.Reader) error
}

// routerSpec returns what the file and the changes at run time come to in a view,
// and the revision of those changes; 0 if there are none.
func routerSpec(v *cluster.View) (spec catalog.RouterSpec, revision uint64) {
	return v.Catalog.RouterSpec()
}

// stored returns a deployment as it was written down.
func stored(v *cluster.View, d *catalog.Deployment) catalog.Stored {
	s, _ := v.Catalog.Stored(d.ID)
	return s
}
