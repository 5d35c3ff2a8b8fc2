package sealed

import (
	"sync"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Sealer seals and opens ids. It is safe for concurrent use.
type Sealer struct {
	Seal vault.Seal // with a key that all nodes have, as is Open
	Open vault.Open

	packers sync.Pool // of *flate.Writer
}
