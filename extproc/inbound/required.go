package inbound

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// RequireParams rejects a request that lacks one of the parameters. A dot in a name leads
// into an object. null and the empty string count as lacking.
func RequireParams(facts *splice.Request, names []string) error {
	for _, name := range names {
		switch string(splice.Lookup(facts.Document(), strings.Split(name, ".")...)) {
		case "", "null", `""`:
			return fault.Field(name, "missing_required_parameter", "The operator of this gateway requires the parameter %s in each request. Add it to the body.", name)
		}
	}
	return nil
}
