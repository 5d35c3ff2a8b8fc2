package event

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/money"
)

// Amount is a limit of spend or rates, or the version that a label names, with its old and new
// value. Details contain values of such fields only.
type Amount struct {
	Resource string `json:"resource_type"`
	ID       string `json:"resource_id"`
	Field    string `json:"field"`
	Old      any    `json:"old"` // nil: it was not set
	New      any    `json:"new"`
}

// Bounds are the limits of spend and rates of one resource, by field name.
type Bounds map[string]any

// Money adds an amount in USD, unless it is nil.
func (b Bounds) Money(field string, v *money.Pico) Bounds {
	if v != nil {
		b[field], _ = strconv.ParseFloat(v.String(), 64) // it is a decimal
	}
	return b
}

// Count adds a number, unless it is nil.
func (b Bounds) Count(field string, v *uint32) Bounds {
	if v != nil {
		b[field] = *v
	}
	return b
}

// Text adds a text, unless it is empty.
func (b Bounds) Text(field, v string) Bounds {
	if v != "" {
		b[field] = v
	}
	return b
}

// Changed returns the fields of a resource that differ, by name.
func Changed(resource, name string, before, after Bounds) []Amount {
	var out []Amount
	for field, v := range after {
		if before[field] != v {
			out = append(out, Amount{resource, name, field, before[field], v})
		}
	}
	for field, v := range before {
		if _, still := after[field]; !still {
			out = append(out, Amount{resource, name, field, v, nil})
		}
	}
	slices.SortFunc(out, func(a, b Amount) int { return cmp.Compare(a.Field, b.Field) })
	return out
}
