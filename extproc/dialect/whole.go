package dialect

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Whole is a whole number. It may have any notation (1e3 is 1000), and numbers
// beyond usage.Limit become usage.Limit: callers send 1e18 for "as much as there
// is", and sums over it must not overflow.
type Whole int64

// UnmarshalJSONFrom reads a whole number; null leaves it alone.
func (w *Whole) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == 'n' {
		return nil
	}
	if raw.Kind() == '0' {
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil && f == math.Trunc(f) || math.IsInf(f, 0) {
			*w = Whole(max(-usage.Limit, min(usage.Limit, f)))
			return nil
		}
	}
	param := Path(dec.StackPointer())
	return fault.Field(param, CodeType, "%s must be a whole number.", param)
}

// In checks that a number, if there is one, lies in a range.
func In[T Whole | float64](v *T, low, high T, param string) error {
	if v == nil || *v >= low && *v <= high {
		return nil
	}
	return fault.Field(param, CodeValue, "%s must be between %v and %v.", param, low, high)
}
