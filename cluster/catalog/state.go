package catalog

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Fields of stamps that are older than record.StampField.
const (
	deploymentStamp = 19
	settingStamp    = 17
)

func deploymentAt(d id.Deployment) record.At {
	return record.At{Space: store.SpaceDeployment, Key: []byte(d), Field: deploymentStamp}
}

// routerKey is the key of the router settings in store.SpaceSetting.
const routerKey = "router"

func routerAt() record.At {
	return record.At{Space: store.SpaceSetting, Key: []byte(routerKey), Field: settingStamp}
}

// Apply returns the catalogue as changes of the replicated state leave it, and the
// deployments that are gone. What this node cannot use (a provider that its version
// does not know, a secret that it cannot open) is left out, and is among the
// errors: it is no reason to serve nobody.
func (c *Catalog) Apply(changes []record.Change, open vault.Open) (next *Catalog, gone []id.Deployment, broken []error) {
	next, broken = c.applyPrices(changes)
	for _, change := range changes {
		var bad []error
		switch {
		case change.Space == store.SpaceDeployment && change.Value == nil:
			d := id.Deployment(change.Key)
			next, gone = next.Without(d), append(gone, d)
		case change.Space == store.SpaceDeployment:
			next, bad = next.withRecord(change.Value, open)
		case change.Space == store.SpaceCredential:
			next, bad = next.applyCredential(change, open)
		case change.Space == store.SpaceSetting && string(change.Key) == routerKey:
			next, bad = next.applyRouter(change.Value)
		}
		broken = append(broken, bad...)
	}
	return next, gone, broken
}

// withRecord is WithStored for a record as the state has it.
func (c *Catalog) withRecord(value []byte, open vault.Open) (*Catalog, []error) {
	r := &clusterv1.Deployment{}
	if err := proto.Unmarshal(value, r); err != nil {
		return c, []error{err}
	}
	b := c.change()
	if err := b.take(r, open); err != nil {
		return b.catalog(), []error{fmt.Errorf("deployment %s: %w", quote(r.GetId()), err)}
	}
	return b.catalog(), nil
}

func (c *Catalog) applyRouter(value []byte) (*Catalog, []error) {
	var settings *clusterv1.RouterSettings
	if value != nil {
		settings = &clusterv1.RouterSettings{}
		if err := proto.Unmarshal(value, settings); err != nil {
			return c, []error{err}
		}
	}
	next, err := c.Adopt(settings)
	if err != nil {
		return next, []error{err}
	}
	return next, nil
}

// applyCredential takes a change of a credential, or of the mark of its namers.
func (c *Catalog) applyCredential(change record.Change, open vault.Open) (*Catalog, []error) {
	if name, ok := namersOf(change.Key); ok {
		b := c.change()
		err := b.mark(name, change.Value)
		if err != nil {
			return b.catalog(), []error{err}
		}
		return b.catalog(), nil
	}
	if change.Value == nil {
		return c.withCredential(string(change.Key), nil, open)
	}
	with, err := readCredential(change.Value, open)
	if err != nil {
		return c, []error{fmt.Errorf("credential %s: %w", quote(string(change.Key)), err)}
	}
	next, broken := c.withCredential(with.Name, with, open)
	if with.locked != nil {
		broken = append(broken, with.locked)
	}
	return next, broken
}

// namersOf returns the credential that the key of a mark is of.
func namersOf(key []byte) (name string, ok bool) {
	if len(key) == 0 || key[0] != 0 {
		return "", false
	}
	return string(key[1:]), true
}

// mark notes when a deployment has named a credential last.
func (b *builder) mark(name string, value []byte) error {
	if value == nil {
		b.marks.delete(name)
		return nil
	}
	r := &clusterv1.Mark{}
	if err := proto.Unmarshal(value, r); err != nil {
		return err
	}
	b.marks.set(name, r.GetStamp().GetRevision())
	return nil
}

// Load returns the catalogue with everything that the replicated state has, and
// what this node cannot use of it, as Apply does.
func (c *Catalog) Load(ctx context.Context, state table.Scanner, open vault.Open) (loaded *Catalog, broken []error, err error) {
	b := c.change()
	broken, err = b.loadPrices(ctx, c, state)
	if err != nil {
		return nil, nil, err
	}
	err = state.Scan(ctx, store.Range{Space: store.SpaceCredential}, func(key, value []byte) bool {
		broken = append(broken, b.load(key, value, open)...)
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	// The state has them ordered by id, so each goes to the end of its lists.
	err = state.Scan(ctx, store.Range{Space: store.SpaceDeployment}, func(_, value []byte) bool {
		r := &clusterv1.Deployment{}
		if err := proto.Unmarshal(value, r); err != nil {
			broken = append(broken, err)
			return true
		}
		if err := b.take(r, open); err != nil {
			broken = append(broken, fmt.Errorf("deployment %s: %w", quote(r.GetId()), err))
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	b.problems = problems{}
	loaded = b.catalog()
	err = state.Scan(ctx, store.Range{Space: store.SpaceSetting}, func(key, value []byte) bool {
		if string(key) == routerKey {
			var bad []error
			loaded, bad = loaded.applyRouter(value)
			broken = append(broken, bad...)
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	return loaded, broken, nil
}

// load takes a credential of the state, or the mark of its namers, before there are
// deployments.
func (b *builder) load(key, value []byte, open vault.Open) []error {
	if name, ok := namersOf(key); ok {
		if err := b.mark(name, value); err != nil {
			return []error{err}
		}
		return nil
	}
	with, err := readCredential(value, open)
	if err != nil {
		return []error{fmt.Errorf("credential %s: %w", quote(string(key)), err)}
	}
	b.credentials.set(with.Name, with)
	if with.locked != nil {
		return []error{with.locked}
	}
	return nil
}
