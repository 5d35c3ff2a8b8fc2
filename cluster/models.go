package cluster

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// CreateDeployment adds a deployment on every node. A specification without an id
// gets one. What the catalogue says against it comes back as catalog.New says it,
// with the fields' names; Exists if the id is taken.
func (n *Node) CreateDeployment(ctx context.Context, actor string, spec catalog.DeploymentSpec) (catalog.Stored, error) {
	if spec.ID == "" {
		spec.ID = string(catalog.NewDeploymentID())
	}
	// What a binary knows (providers, prices) is checked here and not when the
	// entry is applied: nodes of two versions would disagree.
	if _, taken := n.View().Catalog.Deployment(id.Deployment(spec.ID)); taken {
		return catalog.Stored{}, &fault.Error{Kind: fault.Exists, Code: "already_exists", Param: "model_info.id", Detail: "A deployment with that id exists already; choose another id, or leave it out."}
	}
	if _, err := n.View().Catalog.With(spec); err != nil {
		return catalog.Stored{}, err
	}
	record, err := catalog.ToRecord(spec, n.sealer.Seal)
	if err != nil {
		return catalog.Stored{}, err
	}
	index, err := n.submit(ctx, &clusterv1.Command{Actor: actor, Change: &clusterv1.Command_CreateDeployment{
		CreateDeployment: &clusterv1.CreateDeployment{Deployment: record},
	}})
	if err != nil {
		return catalog.Stored{}, err
	}
	n.spread(ctx, index)
	if stored, ok := n.View().Catalog.Stored(id.Deployment(spec.ID)); ok {
		return stored, nil
	}
	return catalog.Stored{Spec: spec}, nil // committed, and deleted or not yet here
}

// DeleteDeployment removes a deployment that was added at run time, on every node.
// NotFound if there is none; Conflict if it stands in the file. Requests under way
// end as they began.
func (n *Node) DeleteDeployment(ctx context.Context, actor string, d id.Deployment) error {
	if found, ok := n.View().Catalog.Deployment(d); ok && found.Static {
		return &fault.Error{Kind: fault.Conflict, Code: "defined_in_file", Param: "id", Detail: "That deployment stands in the configuration file; take it out there and restart."}
	}
	index, err := n.submit(ctx, &clusterv1.Command{Actor: actor, Change: &clusterv1.Command_DeleteDeployment{
		DeleteDeployment: &clusterv1.DeleteDeployment{Id: string(d)},
	}})
	if err == nil {
		n.fence(ctx, index)
	}
	return err
}

// UpdateRouter changes router settings on every node; what patch leaves out stays
// as it is. What does not fit the deployments comes back with the settings' names.
// With ifRevision other than 0 it is Conflict if the settings are of another
// revision than that.
func (n *Node) UpdateRouter(ctx context.Context, actor string, patch catalog.RouterPatch, ifRevision uint64) error {
	for {
		v := n.View()
		_, revision := v.Catalog.RouterSpec()
		if err := v.Catalog.CheckPatch(patch); err != nil {
			return err
		}
		expect := ifRevision
		if expect == 0 {
			expect = revision // the check above holds for that one only
		}
		index, err := n.submit(ctx, &clusterv1.Command{Actor: actor, Change: &clusterv1.Command_UpdateRouter{
			UpdateRouter: &clusterv1.UpdateRouter{Settings: patch.Record(), IfRevision: expect},
		}})
		if err == nil {
			n.spread(ctx, index)
			return nil
		}
		if ifRevision != 0 || fault.From(err).Kind != fault.Conflict {
			return err
		}
		// Somebody else was quicker. What was decided there has to be here before the
		// settings are looked at again.
		if err := n.consensus.WaitApplied(ctx, index); err != nil {
			return err
		}
	}
}
