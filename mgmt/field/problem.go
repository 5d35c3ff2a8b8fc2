package field

import "github.com/modelgateway/modelgateway/cluster/fault"

// Problem is one of several things that are wrong with a request.
type Problem struct {
	Message string `json:"message"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

// detailProblems is where an error has all of its problems.
const detailProblems = "problems"

// Join makes one error of several, of which the first counts and all are told.
func Join(err error) error {
	joined, ok := err.(interface{ Unwrap() []error }) // what was joined at the top, and no deeper
	if !ok || len(joined.Unwrap()) < 2 {
		return err
	}
	var list []Problem
	for _, one := range joined.Unwrap() {
		if e := fault.From(one); e.Kind != fault.Internal {
			list = append(list, Problem{e.Message(), e.Param, e.Code})
		}
	}
	first := *fault.From(err)
	first.Details = map[string]any{detailProblems: list}
	return &first
}

// Problems returns all that is wrong with the fields of a request.
func Problems(e *fault.Error) []Problem {
	if all, ok := e.Details[detailProblems].([]Problem); ok {
		return all
	}
	return []Problem{{e.Message(), e.Param, e.Code}}
}

// IsInvalid reports whether an error is about a field of the request, and not about
// its form.
func IsInvalid(e *fault.Error) bool {
	return e.Kind == fault.Malformed && e.Param != "" && e.Status == 0
}
