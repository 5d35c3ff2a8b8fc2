package driver

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Through is a Driver whose provider gets requests to paths that no operation has, as their callers send them.
// Implementations are safe for concurrent use and do not block.
type Through interface {
	// PassThrough returns where a request to a path of the provider's API goes, with credentials. path begins with a
	// slash and has no dot segments. The path of the call may have a query, whose parameters the caller's replace. The error is a
	// *fault.Error that says why the target does not have the path.
	PassThrough(t Target, path string) (Call, error)
}

// RootOf returns a base path without the first of the endings that it has.
func RootOf(base string, endings ...string) string {
	base = strings.TrimRight(base, "/")
	for _, ending := range endings {
		if before, ok := strings.CutSuffix(base, ending); ok {
			return strings.TrimRight(before, "/")
		}
	}
	return base
}

// NoSuchPlace is the error for a path that names another account, or another place in it, than the deployment has.
func NoSuchPlace(what string) error {
	return fault.New(fault.NotFound, "deployment_not_found", "No deployment that this API key may use has the %s in the path.", what)
}
