package pipeline

import (
	"context"

	"github.com/modelgateway/modelgateway/extproc/inbound"
)

// enforce rejects a request without a parameter that the operator requires in each
// request, or in those with keys of service accounts.
func (p *Pipeline) enforce(_ context.Context, x *Exchange) error {
	s := &p.deps.Settings
	if err := inbound.RequireParams(&x.Facts, s.EnforcedParams); err != nil || !x.Principal.ServiceAccount() {
		return err
	}
	return inbound.RequireParams(&x.Facts, s.EnforcedServiceParams)
}
