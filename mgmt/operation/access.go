package operation

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// MayUse denies an operation to callers below its access, and every change to roles
// that only read. The caller has been authenticated already, where a key is needed.
func MayUse(op surface.Operation, who tenancy.Principal) error {
	role := who.Role()
	switch {
	case op.Access <= surface.AnyKey, role == tenancy.RoleProxyAdmin:
		return nil
	case op.Access == surface.Admin:
		return fault.New(fault.Denied, "insufficient_permissions", "Only an admin key may do that.")
	case op.Effect.Changes() && (role == tenancy.RoleProxyAdminViewer || role == tenancy.RoleInternalUserViewer):
		return fault.New(fault.Denied, "insufficient_permissions", "The role %s of this API key changes nothing.", role)
	case op.Access == surface.Viewer && role != tenancy.RoleProxyAdminViewer, role == tenancy.RoleNone:
		return fault.New(fault.Denied, "insufficient_permissions", "This API key has no role that may do that.")
	}
	return nil
}
