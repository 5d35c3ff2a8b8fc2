package catalog

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Stored is a deployment as it was written down, and by whom.
type Stored struct {
	Spec      DeploymentSpec // ID is filled in; prices and limits are only those that were given
	Sealed    Sealed         // its secrets as the state has them
	Static    bool           // it comes from the file: it has no revision and cannot be deleted
	CreatedAt time.Time      // zero for one from the file, as all that follows
	CreatedBy string         // the actor, as tenancy.Principal.Actor writes it
	UpdatedAt time.Time
	Revision  uint64 // index of the log entry that wrote it last
}

// Sealed are a deployment's secrets as the state has them. The zero Sealed is of one
// that is not in the state.
type Sealed struct {
	APIKey  []byte
	Headers map[string][]byte // by the names in ExtraHeaders
	Cloud   map[string][]byte // the secret settings, by the names in Cloud
}

// NewDeploymentID returns a fresh random id: 32 hex digits. Deployments that are
// added at run time get one where they bring none; unlike those of the file
// they cannot derive it from their names, for two that differ only in their key
// may be added on two nodes at once.
func NewDeploymentID() id.Deployment {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand.Read aborts the process instead
	return id.Deployment(hex.EncodeToString(b[:]))
}
