package mgmt

import "github.com/modelgateway/modelgateway/cluster/fault"

// problem is one of several things that are wrong with a request.
type problem struct {
	Message string `json:"message"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

// detailProblems is where an error has all of its problems.
const detailProblems = "problems"

// problems makes one error of several, of which the first counts and all are told.
func problems(err error) error {
	joined, ok := err.(interface{ Unwrap() []error }) // what was joined at the top, and no deeper
	if !ok || len(joined.Unwrap()) < 2 {
		return err
	}
	var list []problem
	for _, one := range joined.Unwrap() {
		if e := fault.From(one); e.Kind != fault.Internal {
			list = append(list, problem{e.Message(), e.Param, e.Code})
		}
	}
	first := *fault.From(err)
	first.Details = map[string]any{detailProblems: list}
	return &first
}

// problemsOf returns all that is wrong with the fields of a request.
func problemsOf(e *fault.Error) []problem {
	if all, ok := e.Details[detailProblems].([]problem); ok {
		return all
	}
	return []problem{{e.Message(), e.Param, e.Code}}
}

// isInvalid reports whether an error is about a field of the request, and not about
// its form.
func isInvalid(e *fault.Error) bool {
	return e.Kind == fault.Malformed && e.Param != "" && e.Status == 0
}
