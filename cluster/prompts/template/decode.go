package template

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Values are the values of a template's variables. The zero Values has none. Values are
// immutable and safe for concurrent use.
type Values struct{ vars map[string]any }

// Decode reads Values from a JSON object. The error is a *fault.Error with code
// invalid_prompt_variables, without a Param.
func Decode(object []byte) (Values, error) {
	var v Values
	if err := json.Unmarshal(object, &v.vars); err != nil || v.vars == nil {
		return Values{}, fault.Field("", "invalid_prompt_variables", "The variables are no JSON object. Send an object with a member for each variable.")
	}
	return v, nil
}
