package keys

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// masterAlias is what logs and audit records call the master key.
const masterAlias = "master"

// Names with a meaning of their own in a key's list of models.
const (
	everyModel = "all-proxy-models"
	noModel    = "no-default-models" // grants nothing by itself
)

// Principal is who makes a request.
type Principal struct {
	Hash    id.KeyHash
	Alias   string
	Master  bool
	Cluster bool // the key comes from the replicated state, whose deletion this node may not have heard of

	allowed *allowed
}

// Allows reports whether the principal may ask for a model, by the name that the
// caller sends. An empty list allows everything, as do `all-proxy-models` and the
// master key; `openai/*` allows every name of that form; a list of nothing but
// `no-default-models` allows nothing.
func (p Principal) Allows(model id.ModelName) bool {
	return p.Master || p.allowed == nil || p.allowed.has(string(model))
}

// allowed is a compiled list of models.
type allowed struct {
	names    map[string]struct{}
	patterns [][2]string // what comes before and after the star
}

// compile returns nil for a list that allows everything. bad is the index of a
// pattern with more than one star, or -1.
func compile(models []string) (list *allowed, bad int) {
	if len(models) == 0 {
		return nil, -1
	}
	a := &allowed{names: make(map[string]struct{}, len(models))}
	everything := false
	for i, m := range models {
		prefix, suffix, star := strings.Cut(m, "*")
		switch {
		case strings.Contains(suffix, "*"):
			return nil, i
		case m == everyModel, m == "*":
			everything = true
		case m == noModel:
		case star:
			a.patterns = append(a.patterns, [2]string{prefix, suffix})
		default:
			a.names[m] = struct{}{}
		}
	}
	if everything {
		return nil, -1
	}
	return a, -1
}

func (a *allowed) has(model string) bool {
	if _, ok := a.names[model]; ok {
		return true
	}
	for _, p := range a.patterns {
		if len(model) > len(p[0])+len(p[1]) && strings.HasPrefix(model, p[0]) && strings.HasSuffix(model, p[1]) {
			return true
		}
	}
	return false
}
