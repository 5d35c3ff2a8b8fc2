package fake

import (
	"encoding/json"
	"slices"
	"sync"
)

// keptResponses is how many responses are stored.
const keptResponses = 1000

// kept is the responses that the provider has stored: the last thousand.
type kept struct {
	mu struct {
		sync.Mutex
		order     []string // of the ids of responses, oldest first
		responses map[string][]item
		items     map[string]item
	}
}

// add stores a response: its id, what it was made of, and its output.
func (k *kept) add(id string, input []item, output []any) {
	all := slices.Clone(input)
	for _, o := range output {
		var t item
		if raw, err := json.Marshal(o); err == nil && json.Unmarshal(raw, &t) == nil {
			all = append(all, t)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.responses == nil {
		k.mu.responses, k.mu.items = map[string][]item{}, map[string]item{}
	}
	k.mu.order = append(k.mu.order, id)
	k.mu.responses[id] = all
	for _, t := range all[len(input):] {
		k.mu.items[t.ID] = t
	}
	if len(k.mu.order) > keptResponses {
		oldest := k.mu.order[0]
		for _, t := range k.mu.responses[oldest] {
			delete(k.mu.items, t.ID)
		}
		delete(k.mu.responses, oldest)
		k.mu.order = slices.Delete(k.mu.order, 0, 1)
	}
}

// history returns the items of a stored response, its input first.
func (k *kept) history(id string) ([]item, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	items, ok := k.mu.responses[id]
	return slices.Clone(items), ok
}

// item returns one item of a stored response's output.
func (k *kept) item(id string) (item, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.mu.items[id]
	return t, ok
}

func (k *kept) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.order, k.mu.responses, k.mu.items = nil, nil, nil
}
