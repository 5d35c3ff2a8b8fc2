package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeNodes are three that agree at once, as far as the API goes, but for the
// last, which accepts a deleted key so many times more.
type fakeNodes struct {
	mu    sync.Mutex
	keys  map[string]bool
	made  map[string]int // by alias
	stale int
}

func (f *fakeNodes) serve(last bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		var body struct {
			Alias string   `json:"key_alias"`
			Keys  []string `json:"keys"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		switch key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); r.URL.Path {
		case "/key/generate":
			f.keys["sk-"+body.Alias] = true
			f.made[body.Alias]++
			_ = json.NewEncoder(w).Encode(map[string]string{"key": "sk-" + body.Alias})
		case "/key/delete":
			delete(f.keys, body.Keys[0])
		case "/v1/chat/completions":
			if !f.keys[key] && (!last || f.stale == 0) {
				w.WriteHeader(http.StatusUnauthorized)
			} else if !f.keys[key] {
				f.stale--
			}
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func startFakes(t *testing.T, stale int) (*cluster, *fakeNodes) {
	t.Helper()
	f := &fakeNodes{keys: map[string]bool{}, made: map[string]int{}, stale: stale}
	c := &cluster{admin: "sk-admin", client: &http.Client{}}
	for i := range nodes {
		s := httptest.NewServer(f.serve(i == nodes-1))
		t.Cleanup(s.Close)
		c.nodes = append(c.nodes, &node{url: s.URL})
	}
	return c, f
}

func TestDeletionsAreMeasured(t *testing.T) {
	for _, stale := range []int{0, 30} {
		c, _ := startFakes(t, stale)
		d, err := c.deletion(context.Background(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if d.answered <= 0 {
			t.Errorf("answered after %v", d.answered)
		}
		if stale == 0 && d.late > 0 {
			t.Errorf("%d requests were accepted late by nodes that accept none", d.late)
		}
		// One of them may have begun before the answer, and the last check may take one.
		if stale > 0 && (d.late == 0 || d.inForce <= d.answered) {
			t.Errorf("%+v with a node that accepts %d requests too many", d, stale)
		}
	}
}

func TestWritesAreMeasured(t *testing.T) {
	c, f := startFakes(t, 0)
	for range 2 {
		times, err := c.write(context.Background(), 50, 4)
		if err != nil || len(times) != 50 {
			t.Fatalf("%d times, %v", len(times), err)
		}
		for _, d := range times {
			if d <= 0 {
				t.Errorf("a write took %v", d)
			}
		}
	}
	if len(f.made) != 100 {
		t.Errorf("%d aliases, want 100", len(f.made))
	}
	for alias, n := range f.made {
		if n != 1 {
			t.Errorf("%s was made %d times", alias, n)
		}
	}
}

// A refused write is an error: the program measures no failures.
func TestRefusedWrite(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	c := &cluster{client: &http.Client{Timeout: time.Minute}, nodes: []*node{{url: s.URL}, {url: s.URL}, {url: s.URL}}}
	if _, err := c.write(context.Background(), 1, 1); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

// What was answered counts until it is seen.
func TestSpendIsCompleteWhenAllOfItIsSeen(t *testing.T) {
	var shown sync.Map
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows := []map[string]string{}
		if r.URL.Path == "/v1/chat/completions" {
			var body struct {
				User string `json:"user"`
			}
			_ = json.NewDecoder(r.Body).Decode(&body)
			shown.Store(body.User, true)
			return
		}
		shown.Range(func(name, _ any) bool {
			rows = append(rows, map[string]string{"end_user": name.(string)})
			return true
		})
		_ = json.NewEncoder(w).Encode(rows)
	}))
	t.Cleanup(s.Close)
	at := &node{url: s.URL}
	c := &cluster{admin: "sk-admin", client: &http.Client{}, nodes: []*node{at, at, at}}
	m := &spending{cluster: c, answered: map[string]answered{}, seen: map[string]time.Time{}}
	loaded, unload := context.WithCancel(t.Context())
	called := make(chan error, 1)
	go func() { called <- m.load(t.Context(), loaded) }()
	for m.made.Load() < 3 {
		m.look(t.Context(), at)
	}
	unload()
	if err := <-called; err != nil {
		t.Error(err)
	}
	m.look(t.Context(), at)
	if len(m.answered) < 2 || !m.complete() {
		t.Errorf("%d answers, and what is seen is not complete: %v", len(m.answered), m.seen)
	}
	m.answered["nobody has seen this one"] = answered{by: at, at: time.Now()}
	if m.complete() {
		t.Error("what nobody has seen counts as seen")
	}
}
