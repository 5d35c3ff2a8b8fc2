package extproc

import (
	"errors"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// failureOf returns a driver's error as the Failure that it is.
func failureOf(err error) *wire.Failure {
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		return f
	}
	return &wire.Failure{Kind: fault.Upstream, Code: "upstream_invalid_response", Message: "The provider's answer could not be understood.", Retryable: true, CoolDown: true}
}
