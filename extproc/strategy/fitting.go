package strategy

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// Fitting returns the candidates whose context window fits a prompt of this size; a deployment
// with an unknown window counts as fitting. It implements `enable_pre_call_checks`. The result
// may be empty.
func Fitting(candidates []*catalog.Deployment, promptTokens int64) []*catalog.Deployment {
	tooSmall := func(d *catalog.Deployment) bool { return d.MaxInputTokens > 0 && d.MaxInputTokens < promptTokens }
	if !slices.ContainsFunc(candidates, tooSmall) {
		return candidates
	}
	return slices.DeleteFunc(slices.Clone(candidates), tooSmall)
}
