package price

import (
	"errors"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxProblems bounds the answer to a price map that cannot be used.
const maxProblems = 100

// problems collects what is wrong with a price map, so that one run shows all of it.
type problems struct{ list []error }

func (p *problems) add(format string, args ...any) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, fault.Field(Param, "invalid_value", format, args...))
	}
}

func (p *problems) err() error { return errors.Join(p.list...) }
