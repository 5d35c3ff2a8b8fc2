package mgmt

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// readerOf returns the caller as the tables of named resources know it. tx is nil
// for a request that changes nothing.
func readerOf(ctx context.Context, v *cluster.View, tx *record.Txn) resource.Who {
	r := v.Keys.Rights(tx, operation.Principal(ctx))
	return resource.Who{Organization: r.Organization(), MaySee: r.MayUseResource, MayChange: r.MayChangeResource}
}

// ownerFor returns the organization that owns a new resource: the one in the
// request, or else the caller's. An admin without an organization creates a resource
// without one, which every organization may use.
func ownerFor(ctx context.Context, v *cluster.View, tx *record.Txn, requested *string) (id.Organization, error) {
	r := v.Keys.Rights(tx, operation.Principal(ctx))
	org := r.Organization()
	if requested != nil {
		org = id.Organization(*requested)
	}
	if err := r.MayChangeResource(org); err != nil {
		return "", err
	}
	if org != "" {
		if err := v.Keys.JoinOrganization(tx, "organization_id", org); err != nil {
			return "", err
		}
	}
	return org, nil
}
