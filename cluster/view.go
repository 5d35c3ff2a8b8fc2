package cluster

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// View is everything a request is decided by, at one revision. It is immutable.
type View struct {
	// Revision is the index of the last entry that changed it: the same number
	// means the same View on every node with the same file. It never goes back.
	Revision uint64
	Catalog  *catalog.Catalog
	Keys     *keys.Set
}

// View returns the view in force.
func (n *Node) View() *View { return n.view.Load() }

// Changed returns a channel that is closed when the view is not the one any more
// that was in force at the call. Who wants to follow the view asks for the
// channel first and looks at the view then.
func (n *Node) Changed() <-chan struct{} { return *n.changed.Load() }

// publish puts a view in force.
func (n *Node) publish(v *View) {
	n.view.Store(v)
	next := make(chan struct{})
	if last := n.changed.Swap(&next); last != nil {
		close(*last)
	}
}
