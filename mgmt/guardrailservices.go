package mgmt

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// minSigningSecret is how short a secret may be that requests are signed with.
const minSigningSecret = 16

// engines returns the engines in a request for a guardrail, which has had those of before. Their addresses are checked, and their secrets
// sealed.
func (s guardrailService) engines(guardrail string, in []*gatewayv1.GuardrailEngine, before []guardrails.Engine) ([]guardrails.Engine, error) {
	out := enginesOf(in)
	for i := range out {
		e, at := &out[i], fmt.Sprintf("engines[%d].config.", i)
		e.Of = guardrail
		had := sameService(before, e)
		if err := s.checkAddress(at, e, had); err != nil {
			return nil, err
		}
		c := orEmpty(in[i].GetConfig())
		if secret := c.GetSigningSecret(); c.SigningSecret != nil && secret != hidden && len(secret) < minSigningSecret {
			return nil, fault.Field(at+guardrails.SigningSecret, "invalid_value", "signing_secret must have 16 to 256 characters.")
		}
		var err error
		if e.SealedKey, err = s.sealed(at, guardrails.KeySecret, c.ApiKey, e, had.SealedKey); err != nil {
			return nil, err
		}
		if e.SealedSecret, err = s.sealed(at, guardrails.SigningSecret, c.SigningSecret, e, had.SealedSecret); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sameService returns the engine among several that asks the same service at the same address; an empty one if there is none. Its
// secrets may be used: they go where they went before.
func sameService(among []guardrails.Engine, e *guardrails.Engine) guardrails.Engine {
	for i := range among {
		if e.APIBase != "" && among[i].Name == e.Name && among[i].APIBase == e.APIBase {
			return among[i]
		}
	}
	return guardrails.Engine{}
}

// checkAddress rejects an address that is none, or that the gateway may not call.
func (s guardrailService) checkAddress(at string, e *guardrails.Engine, had guardrails.Engine) error {
	if e.APIBase == "" {
		return nil
	}
	if _, _, err := catalog.ParseBase(e.APIBase); err != nil {
		return field.Named(at+"api_base", err)
	}
	return s.reach.check(at+"api_base", had.APIBase, e.APIBase)
}

// sealed returns a secret of a request, sealed, or the one that is there if the request does not give another.
func (s guardrailService) sealed(at, name string, given *string, e *guardrails.Engine, there []byte) ([]byte, error) {
	if given == nil || *given == hidden && len(there) > 0 {
		return there, nil
	}
	if err := checkSecret(at+name, *given); err != nil {
		return nil, err
	}
	return s.sealer.Seal(vault.NewSecret(*given), e.SecretContext(name))
}

// showService shows how the service of an engine is called, without its secrets.
func showService(c *gatewayv1.GuardrailConfig, e *guardrails.Engine) {
	c.ApiBase = given(e.APIBase)
	if len(e.SealedKey) > 0 {
		c.ApiKey = given(hidden)
	}
	if len(e.SealedSecret) > 0 {
		c.SigningSecret = given(hidden)
	}
	if e.TimeoutMillis > 0 {
		c.Timeout = new(float64(e.TimeoutMillis) / thousandths)
	}
	if e.MaxParallel > 0 {
		c.MaxParallelRequests = new(int32(e.MaxParallel))
	}
}
