package pipeline

import (
	"context"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// enforce rejects a request without a parameter that the operator requires in each
// request, or in those with keys of service accounts.
func (p *Pipeline) enforce(_ context.Context, x *Exchange) error {
	s := &p.deps.Settings
	if err := x.requireParams(s.EnforcedParams); err != nil || !x.Principal.ServiceAccount() {
		return err
	}
	return x.requireParams(s.EnforcedServiceParams)
}

// requireParams rejects a request that lacks one of the parameters. A dot in a name leads
// into an object. null and the empty string count as lacking.
func (x *Exchange) requireParams(names []string) error {
	for _, name := range names {
		switch string(splice.Lookup(x.Facts.Document(), strings.Split(name, ".")...)) {
		case "", "null", `""`:
			return fault.Field(name, "missing_required_parameter", "The operator of this gateway requires the parameter %s in each request. Add it to the body.", name)
		}
	}
	return nil
}
