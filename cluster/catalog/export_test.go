package catalog

import (
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// ToRecord returns the record of a deployment that replaces none.
func ToRecord(s DeploymentSpec, seal vault.Seal) (*clusterv1.Deployment, error) {
	return toRecord(&s, &Stored{}, seal)
}
