package catalog

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Getter reads a record of the replicated state. The value is the caller's.
type Getter interface {
	Get(space store.Space, key []byte) (value []byte, ok bool, err error)
}

// Scanner reads the replicated state. The slices are fn's until it returns.
type Scanner interface {
	Scan(ctx context.Context, r store.Range, fn func(key, value []byte) bool) error
}

// Tx changes the replicated state and sees its own changes. Whoever calls a
// state function commits the changes, or drops them if there was a fault.
type Tx interface {
	Getter
	Set(space store.Space, key, value []byte)
	Delete(space store.Space, key []byte)
}

// Stamp says which entry of the log makes a change, when by the state's clock,
// and who asked for it.
type Stamp struct {
	Index uint64
	Time  time.Time
	Actor string // alias of a key, never the key
}

// The functions below are what an entry of the log does. Every node calls them
// with the same entries on the same state and must come to the same bytes, also
// where the nodes run different versions. So they look at the command and the
// state and at nothing else: not at the clock, not at the file, and not at what a
// version knows, such as the providers. What depends on that is checked before
// the command is proposed, by With and WithRouter.
//
// A fault of kind Internal or StorageUnavailable is no outcome of the entry but
// of this node's disk: the node that has it must stop.

// CreateDeployment adds a deployment and returns it with its stamp. It faults
// with Exists where the id is taken.
func CreateDeployment(tx Tx, c *clusterv1.CreateDeployment, by Stamp) (*clusterv1.Deployment, *fault.Error) {
	d := c.GetDeployment()
	if d.GetId() == "" {
		return nil, fault.Field(paramID, codeMissing, "The deployment has no id.")
	}
	key := []byte(d.GetId())
	_, taken, err := tx.Get(store.SpaceDeployment, key)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case taken:
		return nil, &fault.Error{
			Op: "catalog", Kind: fault.Exists, Code: codeExists, Param: paramID,
			Detail: "There is a deployment of the id " + quote(d.GetId()) + " already; choose another, or delete that one first.",
		}
	}
	// A clone keeps the fields that a newer version may have added.
	d = proto.CloneOf(d)
	d.Stamp = by.created()
	value, err := marshal(d)
	if err != nil {
		return nil, unreadable(err)
	}
	tx.Set(store.SpaceDeployment, key, value)
	return d, nil
}

// DeleteDeployment removes a deployment. It faults with NotFound where the state
// has none of that id.
func DeleteDeployment(tx Tx, c *clusterv1.DeleteDeployment) *fault.Error {
	key := []byte(c.GetId())
	_, ok, err := tx.Get(store.SpaceDeployment, key)
	switch {
	case err != nil:
		return unreadable(err)
	case !ok:
		return &fault.Error{
			Op: "catalog", Kind: fault.NotFound, Code: "model_not_found", Param: "id",
			Detail: "There is no deployment of the id " + quote(c.GetId()) + " that was added at run time; GET /model/info lists those that there are.",
		}
	}
	tx.Delete(store.SpaceDeployment, key)
	return nil
}

// UpdateRouter sets router settings and returns all that are set now, with their
// stamp. It faults with Conflict where the command expects another revision.
func UpdateRouter(tx Tx, c *clusterv1.UpdateRouter, by Stamp) (*clusterv1.RouterSettings, *fault.Error) {
	settings, err := LoadRouter(tx)
	if err != nil {
		return nil, unreadable(err)
	}
	is := settings.GetStamp().GetRevision()
	if want := c.GetIfRevision(); want != 0 && want != is {
		return nil, fault.New(fault.Conflict, "revision_conflict", "The router settings are of revision %d, not %d; read them again and decide anew.", is, want)
	}
	if settings == nil {
		settings = &clusterv1.RouterSettings{Stamp: by.created()}
	}
	overlay(settings, c.GetSettings())
	settings.Stamp.UpdatedUnixNano, settings.Stamp.UpdatedBy, settings.Stamp.Revision = nanos(by.Time), by.Actor, by.Index
	value, err := marshal(settings)
	if err != nil {
		return nil, unreadable(err)
	}
	tx.Set(store.SpaceSetting, []byte(routerKey), value)
	return settings, nil
}

// routerKey is the key of the router settings in store.SpaceSetting.
const routerKey = "router"

// overlay replaces in settings what is set in change, each field as a whole, but
// for the stamp. proto.Merge would join the lists. Fields that this version does
// not know are left out: a command that has some is not proposed before every node
// knows them.
func overlay(settings, change *clusterv1.RouterSettings) {
	to, stamp := settings.ProtoReflect(), settings.GetStamp()
	proto.CloneOf(change).ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to.Set(f, v)
		return true
	})
	settings.Stamp = stamp
}

// LoadRouter returns the settings that were changed at run time; nil if none
// ever were.
func LoadRouter(state Getter) (*clusterv1.RouterSettings, error) {
	value, ok, err := state.Get(store.SpaceSetting, []byte(routerKey))
	if err != nil || !ok {
		return nil, err
	}
	settings := &clusterv1.RouterSettings{}
	if err := proto.Unmarshal(value, settings); err != nil {
		return nil, unreadable(err)
	}
	return settings, nil
}

// LoadDeployments returns every deployment of the state, sorted by id.
func LoadDeployments(ctx context.Context, state Scanner) ([]*clusterv1.Deployment, error) {
	var all []*clusterv1.Deployment
	var broken error
	err := state.Scan(ctx, store.Range{Space: store.SpaceDeployment}, func(_, value []byte) bool {
		d := &clusterv1.Deployment{}
		if broken = proto.Unmarshal(value, d); broken != nil {
			return false
		}
		all = append(all, d)
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case broken != nil:
		return nil, unreadable(broken)
	}
	return all, nil
}

// created is the stamp of a record that is new.
func (s Stamp) created() *clusterv1.Stamp {
	return &clusterv1.Stamp{
		CreatedUnixNano: nanos(s.Time), CreatedBy: s.Actor,
		UpdatedUnixNano: nanos(s.Time), UpdatedBy: s.Actor,
		Revision: s.Index,
	}
}

// unreadable is the fault of a state that cannot be read; the store's own faults
// stay as they are.
func unreadable(err error) *fault.Error {
	f := fault.From(err)
	if f.Kind == fault.Internal && f.Op == "" {
		return &fault.Error{Op: "catalog.state", Kind: fault.Internal, Detail: "A record of the replicated state cannot be read.", Err: err}
	}
	return f
}
