package estimate

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// The estimate of a request's output: what the caller allows, but not all that a model
// could write. Reserving that would reject requests for money that almost none of them
// spend.
const (
	usualOutput = 1024 // of a choice, if the caller sets no limit
	MostOutput  = 4096 // of a choice, whatever the caller allows
)

// Output estimates the output of all choices together.
func Output(facts *splice.Request, d *catalog.Deployment) int64 {
	each := int64(usualOutput)
	if facts.MaxTokens > 0 {
		each = min(facts.MaxTokens, MostOutput)
	}
	if d.MaxOutputTokens > 0 {
		each = min(each, d.MaxOutputTokens)
	}
	return max(facts.N, 1) * each
}
