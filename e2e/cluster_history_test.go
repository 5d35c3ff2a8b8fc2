//go:build linux

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// verdict is what a writer knows of a change that it asked for.
type verdict int

const (
	done    verdict = iota + 1 // it was made
	not                        // it was certainly not made
	unknown                    // it may have been, or may still be
)

// promisedRefusal is when a node that reaches no majority has said so: five
// seconds, and as many for the way there and back on a busy machine, less one, or no
// answer would be too late.
const promisedRefusal = tryTime - time.Second

// change asks a node for a change. It may be called from any goroutine. wrong is
// what no answer may be.
func (c *testCluster) change(i int, path string, body any) (v verdict, a *answer, wrong error) {
	text, err := json.Marshal(body)
	if err != nil {
		return unknown, nil, err
	}
	began := time.Now()
	a, err = c.try(i, http.MethodPost, path, string(text), adminKey)
	took := time.Since(began)
	if err != nil {
		return unknown, nil, nil //nolint:nilerr // a connection that breaks is what the tests do to it
	}
	var e errorBody
	code := ""
	if json.Unmarshal([]byte(a.body), &e) == nil && e.Error.Code != nil {
		code = *e.Error.Code
	}
	switch {
	case a.status == http.StatusOK:
		return done, a, nil
	case a.status == http.StatusServiceUnavailable && took > promisedRefusal:
		wrong = fmt.Errorf("POST %s on node %d: 503 %s after %v", path, i, code, took)
	case (code == "no_leader" || code == "outcome_unknown") && (a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == ""):
		wrong = fmt.Errorf("POST %s on node %d: %d %s with Retry-After %q", path, i, a.status, code, a.header.Get("Retry-After"))
	case a.status == http.StatusInternalServerError && code != "":
		wrong = fmt.Errorf("POST %s on node %d: %d %s", path, i, a.status, a.body)
	}
	if code == "no_leader" || a.status >= 400 && a.status < 500 {
		return not, a, wrong
	}
	return unknown, a, wrong
}

// chosen is the text of a key that a test makes up for an alias: so the key is
// known also where the answer is not.
func chosen(alias string) string { return "sk-chosen-by-the-test-" + alias }

// makeKey asks a node for a key of an alias, whose text is that of another name.
func (c *testCluster) makeKey(i int, alias, name string) (verdict, *answer, error) {
	return c.change(i, "/key/generate", map[string]any{"key_alias": alias, "key": chosen(name)})
}

// history is writers that make and delete keys, each its own and all of them some
// of the same alias, and what they were told.
type history struct {
	c      *testCluster
	name   string // no other history's
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu struct {
		sync.Mutex
		keys   map[string]verdict // by alias: done: it is there; not: it is not
		owners map[string]string  // of an alias that all want: who was told to have it
		counts map[verdict]int    // of changes
		wrong  []error
	}
}

// writePause is how long a writer waits between two changes: the writers are to
// leave the machine to the nodes.
const writePause = 20 * time.Millisecond

// startHistory has n writers write, each to one node after the other, until end.
func startHistory(c *testCluster, name string, n int) *history {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.t.Context()))
	h := &history{c: c, name: name, cancel: cancel}
	h.mu.keys, h.mu.owners, h.mu.counts = map[string]verdict{}, map[string]string{}, map[verdict]int{}
	for w := range n {
		h.ended.Go(func() {
			tick := time.NewTicker(writePause)
			defer tick.Stop()
			for turn := 0; ctx.Err() == nil; turn++ {
				h.write(w, turn)
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	c.t.Cleanup(h.end)
	return h
}

// end lets the writers finish what they are at.
func (h *history) end() {
	h.cancel()
	h.ended.Wait()
}

// written is how many changes were confirmed so far.
func (h *history) written() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.counts[done]
}

// via is the node that a writer asks in its turn.
func (h *history) via(w, turn int) int { return (w+turn)%len(h.c.nodes) + 1 }

// write is one turn of a writer.
func (h *history) write(w, turn int) {
	if turn%5 == 4 {
		h.compete(w, turn)
		return
	}
	alias := fmt.Sprintf("%s-%d-%d", h.name, w, turn)
	v, a, wrong := h.c.makeKey(h.via(w, turn), alias, alias)
	if v == not && a.status != http.StatusServiceUnavailable { // such as 409: it was made twice
		wrong = fmt.Errorf("a key that nobody has made is refused: %+v", a)
	}
	h.note(alias, v, wrong)
	if v != done {
		return
	}
	h.read(h.via(w, turn+1), alias, http.StatusOK)
	if turn%3 != 0 {
		return
	}
	v, a, wrong = h.c.change(h.via(w, turn+1), "/key/delete", map[string]any{"keys": []string{chosen(alias)}})
	if v == not && a.status != http.StatusServiceUnavailable { // such as 404: it is lost
		wrong = fmt.Errorf("a key that was made cannot be deleted: %+v", a)
	}
	switch v {
	case done:
		h.note(alias, not, wrong)
		h.read(h.via(w, turn+2), alias, http.StatusNotFound)
	case not:
		h.note(alias, done, wrong)
	case unknown:
		h.note(alias, unknown, wrong)
	}
}

// compete asks for an alias that the other writers ask for as well.
func (h *history) compete(w, turn int) {
	alias := fmt.Sprintf("%s-shared-%d", h.name, turn)
	name := fmt.Sprintf("%s-by-%d", alias, w)
	v, a, wrong := h.c.makeKey(h.via(w, turn), alias, name)
	if v == not && a.status != http.StatusServiceUnavailable && a.status != http.StatusConflict {
		wrong = fmt.Errorf("an alias that others want: %+v", a)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.counts[v]++
	if other := h.mu.owners[alias]; v == done && other != "" {
		wrong = fmt.Errorf("alias %s was given to %s and to %s", alias, other, name)
	}
	if v == done {
		h.mu.owners[alias] = name
	}
	if wrong != nil {
		h.mu.wrong = append(h.mu.wrong, wrong)
	}
}

// read asks a node for a key. Where it can say anything, it must be current.
func (h *history) read(i int, alias string, want int) {
	a, err := h.c.try(i, http.MethodGet, "/key/info?key="+chosen(alias), "", adminKey)
	if err == nil && a.status != want && (a.status == http.StatusOK || a.status == http.StatusNotFound) {
		h.note("", 0, fmt.Errorf("key %s on node %d: %d after a change that was confirmed, want %d: %s", alias, i, a.status, want, a.body))
	}
}

// note writes down what is known of a key; an alias of "" is none.
func (h *history) note(alias string, v verdict, wrong error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if alias != "" {
		h.mu.keys[alias] = v
		h.mu.counts[v]++
	}
	if wrong != nil {
		h.mu.wrong = append(h.mu.wrong, wrong)
	}
}

// check ends the history and compares what the nodes have with what the writers
// were told: everything that was confirmed is there, nothing that was refused,
// and of what nobody knows either, on all nodes the same.
func (h *history) check() {
	h.c.t.Helper()
	h.end()
	h.c.awaitAgreement()
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.c.t
	t.Logf("%s: %d changes confirmed, %d refused, %d unknown", h.name, h.mu.counts[done], h.mu.counts[not], h.mu.counts[unknown])
	for _, err := range h.mu.wrong {
		t.Errorf("%s: %v", h.name, err)
	}
	if h.mu.counts[done] == 0 {
		t.Errorf("%s: nothing was confirmed, so nothing was shown", h.name)
	}
	first, firstAt := map[string]string(nil), 0
	for _, n := range h.c.nodes {
		if !n.running {
			continue
		}
		has := h.c.aliases(n.i)
		h.compareLocked(t, n.i, has)
		if first == nil {
			first, firstAt = has, n.i
		}
		if len(has) != len(first) {
			t.Errorf("node %d has %d keys, node %d %d", n.i, len(has), firstAt, len(first))
		}
		for alias, token := range has {
			if first[alias] != token {
				t.Errorf("alias %s is %q on node %d and %q on node %d", alias, token, n.i, first[alias], firstAt)
			}
		}
	}
}

// compareLocked compares what one node has.
func (h *history) compareLocked(t *testing.T, node int, has map[string]string) {
	t.Helper()
	for alias, v := range h.mu.keys {
		token, ok := has[alias]
		switch {
		case v == done && !ok:
			t.Errorf("key %s was confirmed, and node %d does not have it", alias, node)
		case v == not && ok:
			t.Errorf("key %s was not made, or deleted, and node %d has it", alias, node)
		case ok && token != tokenOf(chosen(alias)):
			t.Errorf("alias %s on node %d is of another key", alias, node)
		}
	}
	for alias, owner := range h.mu.owners {
		if has[alias] != tokenOf(chosen(owner)) {
			t.Errorf("alias %s was given to %s, and on node %d it is %q", alias, owner, node, has[alias])
		}
	}
}

func tokenOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// aliases returns the tokens of all keys that a node has, by alias.
func (c *testCluster) aliases(i int) map[string]string {
	c.t.Helper()
	out := map[string]string{}
	for page, pages := 1, 1; page <= pages; page++ {
		var list struct {
			Keys []struct {
				Token string `json:"token"`
				Alias string `json:"key_alias"`
			} `json:"keys"`
			TotalPages int `json:"total_pages"`
		}
		a, err := c.try(i, http.MethodGet, fmt.Sprintf("/key/list?return_full_object=true&size=100&page=%d", page), "", adminKey)
		if err == nil && a.status == http.StatusOK {
			err = json.Unmarshal([]byte(a.body), &list)
		}
		if err != nil || a.status != http.StatusOK {
			c.t.Fatalf("/key/list on node %d: %v %+v", i, err, a)
		}
		pages = list.TotalPages
		for _, k := range list.Keys {
			out[k.Alias] = k.Token
		}
	}
	return out
}
