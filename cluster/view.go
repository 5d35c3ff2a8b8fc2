package cluster

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// View is everything a request is decided by, at one revision. It is immutable.
type View struct {
	Revision uint64 // grows by one with every change
	Catalog  *catalog.Catalog
	Keys     *keys.Set
}
