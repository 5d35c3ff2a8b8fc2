package cluster_test

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	records "github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// The operations that the tests make, as the management API makes its own.

func createKey(ctx context.Context, n *cluster.Node, k tenancy.Key) error {
	_, err := n.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error {
		_, err := v.Keys.CreateKey(tx, k)
		return err
	})
	return err
}

func deleteKeys(ctx context.Context, n *cluster.Node, hashes ...id.KeyHash) error {
	_, err := n.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error { return v.Keys.DeleteKeys(tx, hashes) })
	return err
}

// findKey shows every change that was acknowledged before it began.
func findKey(ctx context.Context, n *cluster.Node, h id.KeyHash) (bool, error) {
	v, err := n.Current(ctx)
	if err != nil {
		return false, err
	}
	_, ok := v.Keys.Get(h)
	return ok, nil
}

func findAlias(ctx context.Context, n *cluster.Node, alias string) (tenancy.Key, bool, error) {
	v, err := n.Current(ctx)
	if err != nil {
		return tenancy.Key{}, false, err
	}
	for k := range v.Keys.ByAlias(alias) {
		return *k, true, nil
	}
	return tenancy.Key{}, false, nil
}

func createDeployment(ctx context.Context, n *cluster.Node, s catalog.DeploymentSpec) error {
	_, err := n.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error {
		_, err := v.Catalog.Create(tx, s, parts().sealer.Seal)
		return err
	})
	return err
}

func deleteDeployment(ctx context.Context, n *cluster.Node, d id.Deployment) error {
	_, err := n.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error { return v.Catalog.Delete(tx, d) })
	return err
}

func updateRouter(ctx context.Context, n *cluster.Node, p catalog.RouterSpec, ifRevision uint64) error {
	_, err := n.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error { return v.Catalog.UpdateRouter(tx, p, ifRevision) })
	return err
}
