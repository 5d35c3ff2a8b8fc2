package cluster

import (
	"context"
	"iter"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// View is everything a request is decided by, at one revision. It is immutable.
type View struct {
	// Revision is the index of the last entry that changed it: the same number
	// means the same View on every node with the same file. It never goes back.
	Revision uint64
	Catalog  *catalog.Catalog
	Keys     *tenancy.Set

	Prompts    *prompts.Set
	Guardrails *guardrails.Set
	Delivery   delivery.Settings // of the audit log's webhook

	keyring keyring
}

// NewView returns the view of a node that has agreed to nothing yet: what its file
// says.
func NewView(c *catalog.Catalog, k *tenancy.Set) *View {
	v := &View{Catalog: c, Keys: k.Named(c)}
	for _, r := range v.resources() {
		r.clear()
	}
	return v
}

// load returns v, the view of a node's file, with everything that is in the state. Records that
// the node cannot use are left out and are in broken.
func (v *View) load(ctx context.Context, state table.Scanner, open vault.Open) (next *View, broken []error, err error) {
	copied := *v
	next = &copied
	next.Revision = 0
	if next.keyring, err = loadKeyring(ctx, state); err != nil {
		return nil, nil, err
	}
	note := func(bad []error, err2 error) {
		broken = append(broken, bad...)
		if err == nil {
			err = err2
		}
	}
	var bad []error
	var failed error
	next.Catalog, bad, failed = v.Catalog.Load(ctx, state, open)
	note(bad, failed)
	next.Keys, bad, failed = v.Keys.Load(ctx, state)
	note(bad, failed)
	if next.Keys != nil && next.Catalog != nil {
		next.Keys = next.Keys.Named(next.Catalog)
	}
	for _, r := range next.resources() {
		note(r.load(ctx, state))
	}
	next.Delivery, bad, failed = delivery.Load(ctx, state, open)
	note(bad, failed)
	return next, broken, err
}

// With returns the view as changes of the state leave it, and the deployments that
// are gone. What cannot be used is left as it was, and is among broken. v stays as
// it is, and the revision is to be set.
func (v *View) With(changes []record.Change, open vault.Open) (next *View, gone []id.Deployment, broken []error) {
	copied := *v
	next = &copied
	next.keyring = v.keyring.with(changes)
	var bad []error
	next.Catalog, gone, broken = v.Catalog.Apply(changes, open)
	next.Keys, bad = v.Keys.With(changes)
	next.Keys = next.Keys.Named(next.Catalog)
	broken = append(broken, bad...)
	for _, r := range next.resources() {
		broken = append(broken, r.with(changes)...)
	}
	next.Delivery, bad = v.Delivery.With(changes, open)
	return next, gone, append(broken, bad...)
}

// DeleteOrganization removes an organization with all that it owns, and returns it as
// it was. Creating a resource reads the record of its organization, so none can be
// added while that record is deleted.
func (v *View) DeleteOrganization(tx *record.Txn, o id.Organization) (*tenancy.Organization, error) {
	old, err := v.Keys.DeleteOrganization(tx, o)
	if err != nil {
		return nil, err
	}
	for _, r := range v.resources() {
		r.deleteOf(tx, o)
	}
	return old, nil
}

// resources returns the named resources of a view that is not shared yet: clear, load and with
// replace its fields.
func (v *View) resources() []namedResource {
	return []namedResource{
		named(&v.Prompts, prompts.New),
		named(&v.Guardrails, guardrails.New),
	}
}

// namedResource is what a View does with each sort of named resources.
type namedResource struct {
	clear    func()
	load     func(context.Context, table.Scanner) (broken []error, err error)
	with     func([]record.Change) (broken []error)
	deleteOf func(*record.Txn, id.Organization)
}

// resourceSet is a set of named resources. It is immutable.
type resourceSet[S, R any] interface {
	Load(context.Context, table.Scanner) (S, []error, error)
	With([]record.Change) (S, []error)
	Of(id.Organization) iter.Seq[*R]
	Delete(*record.Txn, *R)
}

func named[S resourceSet[S, R], R any](field *S, empty func() S) namedResource {
	return namedResource{
		clear: func() { *field = empty() },
		load: func(ctx context.Context, state table.Scanner) (broken []error, err error) {
			*field, broken, err = (*field).Load(ctx, state)
			return broken, err
		},
		with: func(changes []record.Change) (broken []error) {
			*field, broken = (*field).With(changes)
			return broken
		},
		deleteOf: func(tx *record.Txn, o id.Organization) {
			for r := range (*field).Of(o) {
				(*field).Delete(tx, r)
			}
		},
	}
}

// View returns the view in force.
func (n *Node) View() *View { return n.view.Load() }

// Changed returns a channel that is closed when the view is not the one any more
// that was in force at the call. Who wants to follow the view asks for the
// channel first and looks at the view then.
func (n *Node) Changed() <-chan struct{} { return *n.changed.Load() }

// recorded says that the audit log has grown.
func (n *Node) recorded() {
	next := make(chan struct{})
	if last := n.news.Swap(&next); last != nil {
		close(*last)
	}
}

// Recorded returns a channel that is closed when the audit log has grown since the
// call. Who follows the log asks for the channel first and looks at the log then.
func (n *Node) Recorded() <-chan struct{} { return *n.news.Load() }

// publish puts a view in force.
func (n *Node) publish(v *View) {
	n.view.Store(v)
	next := make(chan struct{})
	if last := n.changed.Swap(&next); last != nil {
		close(*last)
	}
}
