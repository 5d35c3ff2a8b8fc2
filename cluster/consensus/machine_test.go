package consensus_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// lists is a machine whose state is lists of words by name. An append shows which entries were
// applied, in which order and how often.
//
//	<id>	append <name> <word>	adds a word to a list
//	<id>	create <name> <word>	creates a list; Exists if there is one
//	<id>	poison	cannot be applied
type lists struct {
	mu struct {
		sync.Mutex
		now      map[string]string // published
		at       uint64            // published up to
		restored int
		times    []int64
	}
}

// space is the keyspace of the lists.
const space = store.SpaceSetting

// command returns a command with an id derived from name.
func command(name, format string, args ...any) []byte {
	id := make([]byte, 16)
	copy(id, name)
	return append(id, fmt.Sprintf(format, args...)...)
}

func commandID(command []byte) []byte {
	if bytes.Equal(command[:16], make([]byte, 16)) {
		return nil
	}
	return command[:16]
}

func (m *lists) Apply(tx *store.Tx, e consensus.Entry) consensus.Outcome {
	words := strings.Fields(string(e.Command[16:]))
	if len(words) != 3 {
		return consensus.Outcome{Err: fmt.Errorf("what is %q", words)}
	}
	key := []byte(words[1])
	value, ok, err := tx.Get(space, key)
	if err != nil {
		return consensus.Outcome{Err: err}
	}
	tx.Set(space, []byte("touched"), key) // stays only without a fault
	if ok && words[0] == "create" {
		return consensus.Outcome{Fault: fault.New(fault.Exists, "", "%q is taken.", words[1])}
	}
	value = append(value, words[2]+" "...)
	tx.Set(space, key, value)
	return consensus.Outcome{Publish: func(index uint64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.mu.now = maps.Clone(m.mu.now)
		m.mu.now[words[1]] = string(value)
		m.mu.now["touched"] = words[1]
		m.mu.at = index
		m.mu.times = append(m.mu.times, e.Time.UnixNano())
	}}
}

func (m *lists) Restored(state *store.Store, index uint64) error {
	now, err := read(state)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.now, m.mu.at = now, index
	m.mu.restored++
	return nil
}

// get returns the published content of a list.
func (m *lists) get(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.now[name]
}

// read reads the lists of a state.
func read(state *store.Store) (map[string]string, error) {
	out := map[string]string{}
	err := state.Scan(context.Background(), store.Range{Space: space}, func(key, value []byte) bool {
		out[string(key)] = string(value)
		return true
	})
	return out, err
}
