package metrics

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

// Model returns the name of the model in a response of a deployment, given as JSON with its
// quotes. It is "other" beyond the bounds of names, and empty if there is none.
func (m *Metrics) Model(d id.Deployment, raw []byte) string {
	if m == nil {
		return ""
	}
	return m.models.name(d, raw)
}
