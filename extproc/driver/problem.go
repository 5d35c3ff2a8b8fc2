package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// StatusOverloaded is the status of a provider without capacity: Anthropic's own, and that of the
// class of such errors.
const StatusOverloaded = statusOverloaded

// Problem is a provider's error of a shape that Classify does not read. A driver that knows its
// provider's words names the class by a status, and by a code of OpenAI's where a status does not
// suffice: context_length_exceeded, content_filter, insufficient_quota, invalid_api_key.
type Problem struct {
	Status  int
	Code    string
	Message string // the provider's words
	Param   string // request field at fault; empty if none is
}

// Failure classifies the problem.
func (p *Problem) Failure() *wire.Failure {
	return judge(p.Status, apiError{Message: p.Message, Code: p.Code, Param: p.Param})
}
