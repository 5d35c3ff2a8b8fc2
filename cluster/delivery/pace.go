package delivery

import (
	"cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of a Pace.
const (
	MaxBatch    = 1000
	MaxParallel = 64
)

// Names of the settings, as the file and the API have them.
const (
	FieldBatch    = "alerting_webhook_batch"
	FieldParallel = "alerting_webhook_parallel"
)

// Pace is how many records the webhook gets at a time. A number that is 0 is not set.
type Pace struct {
	Batch    int // records in one request; with 1 the body is a record, with more it is an array
	Parallel int // requests at a time; with more than 1 only records of the same key or organization keep their order
}

// Check is Malformed for numbers that are out of bounds, and names the setting.
func (p Pace) Check() error {
	if p.Batch < 0 || p.Batch > MaxBatch {
		return fault.Field(FieldBatch, "invalid_value", "%s must be from 1 to %d.", FieldBatch, MaxBatch)
	}
	if p.Parallel < 0 || p.Parallel > MaxParallel {
		return fault.Field(FieldParallel, "invalid_value", "%s must be from 1 to %d.", FieldParallel, MaxParallel)
	}
	return nil
}

// Or returns the pace with what is not set taken from other, and 1 where that does
// not set it either.
func (p Pace) Or(other Pace) Pace {
	return Pace{Batch: cmp.Or(p.Batch, other.Batch, 1), Parallel: cmp.Or(p.Parallel, other.Parallel, 1)}
}
