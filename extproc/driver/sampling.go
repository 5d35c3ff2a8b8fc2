package driver

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Sampling returns the temperature and top_p of a request to a vendor whose temperatures end at 1. Many clients send a top_p of 1, which
// changes nothing, with each request: a model that takes one of the two gets the temperature then.
func Sampling(s *wire.Sampling, t Target, vendor string) (temperature, topP *float64, err error) {
	temperature, topP = s.Temperature, s.TopP
	if t.Features.OneSampling && temperature != nil && topP != nil {
		if *topP != 1 && !t.DropParams {
			return nil, nil, fault.Field("top_p", CodeUnsupported, "top_p next to temperature is not supported by the model at %s; leave one of them out, or set drop_params on the deployment.", vendor)
		}
		topP = nil
	}
	if temperature != nil && *temperature > 1 {
		if !t.DropParams {
			return nil, nil, fault.Field("temperature", CodeUnsupported, "temperature above 1 is not supported by %s; lower it, or set drop_params on the deployment.", vendor)
		}
		temperature = new(1.0)
	}
	return temperature, topP, nil
}
