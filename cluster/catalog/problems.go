package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Codes of a configuration's errors.
const (
	codeMissing   = "missing_required_parameter"
	codeInvalid   = "invalid_value"
	codeDuplicate = "duplicate_id"
	codeProvider  = "unknown_provider"
	codeUnknown   = "unknown_model"
	codeCycle     = "fallback_cycle"
	codeTooLong   = "too_long"
	codeStrategy  = "unknown_strategy"
	codeExists    = "already_exists"
)

// paramID is the field of a deployment's id.
const paramID = "model_info.id"

// maxProblems bounds the answer to a hopeless configuration.
const maxProblems = 100

// problems collects what is wrong, so that one run shows all of it.
type problems struct{ list []error }

// add takes a problem. A param that begins with a dot is that of a deployment by
// itself, not of a list.
func (p *problems) add(param, code, format string, args ...any) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, fault.Field(strings.TrimPrefix(param, "."), code, format, args...))
	}
}

func (p *problems) err() error { return errors.Join(p.list...) }

// quote shows a name from the configuration, cut to a readable length.
func quote(name string) string {
	const most = 64
	if len(name) > most {
		return fmt.Sprintf("%.*q…", most, name)
	}
	return fmt.Sprintf("%q", name)
}
