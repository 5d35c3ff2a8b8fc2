package field

import "github.com/modelgateway/modelgateway/cluster/fault"

// Problem is one of several errors of a request.
type Problem struct {
	Message string `json:"message"`
	Param   string `json:"param"`
	Code    string `json:"code"`
}

// detailProblems is the key under which an error has all its problems.
const detailProblems = "problems"

// Join makes one error of several. The first one decides, and the response lists all.
func Join(err error) error {
	joined, ok := err.(interface{ Unwrap() []error }) // only errors that were joined at the top
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

// Problems returns all problems of an error.
func Problems(e *fault.Error) []Problem {
	if all, ok := e.Details[detailProblems].([]Problem); ok {
		return all
	}
	return []Problem{{e.Message(), e.Param, e.Code}}
}

// IsInvalid reports whether an error is about a field of the request. Others are about the
// form of the whole request.
func IsInvalid(e *fault.Error) bool {
	return e.Kind == fault.Malformed && e.Param != "" && e.Status == 0
}
