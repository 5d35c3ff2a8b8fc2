package pipeline

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Bounds of the model names that providers report. Without them a provider could create
// any number of series.
const (
	maxModelNames    = 16 // of one deployment; further ones become otherModel
	longestModelName = 128
	otherModel       = "other"
)

// modelNames has the model names in responses, as metrics show them. It is safe for
// concurrent use.
type modelNames struct {
	mu struct {
		sync.Mutex
		names map[id.Deployment]map[string]string
	}
}

// name returns the model's name in a response of a deployment, given as JSON with its
// quotes; empty if there is none. It allocates nothing for a known name.
func (n *modelNames) name(d id.Deployment, raw []byte) string {
	if len(raw) <= len(`""`) {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	n.mu.Lock()
	defer n.mu.Unlock()
	names := n.mu.names[d]
	if name, ok := names[string(raw)]; ok {
		return name
	}
	if len(names) >= maxModelNames || len(raw) > longestModelName || !utf8.Valid(raw) || strings.ContainsFunc(string(raw), unicode.IsControl) {
		return otherModel
	}
	if names == nil {
		names = make(map[string]string)
		if n.mu.names == nil {
			n.mu.names = make(map[id.Deployment]map[string]string)
		}
		n.mu.names[d] = names
	}
	name := string(raw)
	names[name] = name
	return name
}

// answeredBy records the model that the provider reports, given as JSON. The first name of a
// stream counts.
func (p *Pipeline) answeredBy(x *Exchange, raw []byte) {
	if p.deps.Metrics != nil && x.answered == "" {
		x.answered = p.deps.Metrics.models.name(x.last().Deployment.ID, raw)
	}
}
