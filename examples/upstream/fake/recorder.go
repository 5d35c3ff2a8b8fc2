package fake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
)

const (
	// keptRequests is how many requests are remembered; older ones are only counted.
	keptRequests = 1000
	// keptBody is how many bytes of each body are remembered.
	keptBody = 1 << 20
)

// Request is one recorded request.
type Request struct {
	// Seq counts from 1 since the start or the last Reset.
	Seq    int    `json:"seq"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Host   string `json:"host"`
	// Headers are as they arrived, credentials included: they are what a test of
	// a gateway wants to see, and no one's real ones should ever come here.
	Headers http.Header `json:"headers"`
	// Model is the body's model id, or the path's, "" where there was none.
	Model string `json:"model,omitempty"`
	// Body is the body's first MiB, BodyBytes its whole length.
	Body      string `json:"body"`
	BodyBytes int    `json:"body_bytes"`
	// SHA256 is the hash of a whole body that is a form or sound, in hex.
	SHA256 string `json:"sha256,omitempty"`
	// Status is 0 until something is sent, and stays so when nothing ever is.
	Status int `json:"status"`
	// Ended says that the handler is done; Aborted, that the caller left first.
	Ended   bool `json:"ended"`
	Aborted bool `json:"aborted"`
}

// Counters count all requests since the start or the last Reset.
type Counters struct {
	Total   int            `json:"total"`
	Open    int            `json:"open"`
	Aborted int            `json:"aborted"`
	ByModel map[string]int `json:"by_model"`
}

// entry is a kept request. Its fields are guarded by the recorder's lock.
type entry struct {
	Request
	epoch int // of the recorder when the request began
	nth   int // request for its model, from 1
}

// recorder keeps the last requests.
type recorder struct {
	mu struct {
		sync.Mutex
		entries  []*entry
		counters Counters
		changed  chan struct{} // closed, and replaced, at every change
		epoch    int           // counts the resets: an older request's end is not counted
	}
}

func (c *recorder) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.entries = nil
	c.mu.counters = Counters{ByModel: map[string]int{}}
	c.mu.epoch++
	c.notifyLocked()
}

func (c *recorder) notifyLocked() {
	if c.mu.changed != nil {
		close(c.mu.changed)
	}
	c.mu.changed = make(chan struct{})
}

// modelOf returns the model of a request, "" if there is none, and the hash of a body that is a form or sound.
func modelOf(r *http.Request, body []byte) (model, hash string) {
	var ask struct {
		Model  string `json:"model"`
		Eleven string `json:"model_id"`
	}
	switch {
	case isForm(r.Header.Get("Content-Type")):
		f, _ := readForm(r.Header.Get("Content-Type"), body) // the handler reports what is wrong
		return cmp.Or(f.fields["model"], f.fields["model_id"]), fmt.Sprintf("%x", sha256.Sum256(body))
	case geminiModel(r.URL.Path) != "":
		return geminiModel(r.URL.Path), ""
	case isDeepgram(r.URL.Path):
		return r.URL.Query().Get("model"), fmt.Sprintf("%x", sha256.Sum256(body))
	}
	_ = json.Unmarshal(body, &ask) // a body that is not JSON has no model
	return cmp.Or(ask.Model, ask.Eleven), ""
}

// begin records a request that arrived.
func (c *recorder) begin(r *http.Request, body []byte) *entry {
	model, hash := modelOf(r, body)
	headers := r.Header.Clone()
	e := &entry{Request: Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Host: r.Host, Headers: headers,
		Model: model, Body: string(body[:min(len(body), keptBody)]), BodyBytes: len(body), SHA256: hash,
	}}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.epoch = c.mu.epoch
	c.mu.counters.Total++
	c.mu.counters.Open++
	if model != "" {
		c.mu.counters.ByModel[model]++
	}
	e.nth = c.mu.counters.ByModel[model]
	e.Seq = c.mu.counters.Total
	c.mu.entries = append(c.mu.entries, e)
	if extra := len(c.mu.entries) - keptRequests; extra > 0 {
		c.mu.entries = slices.Delete(c.mu.entries, 0, extra)
	}
	c.notifyLocked()
	return e
}

// sent records the status that was sent.
func (c *recorder) sent(e *entry, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Status = status
	c.notifyLocked()
}

// end records that the request's handler is done; left is its context's error,
// which is nil unless the caller went away.
func (c *recorder) end(e *entry, left error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Ended, e.Aborted = true, left != nil
	if e.epoch == c.mu.epoch {
		c.mu.counters.Open--
		if left != nil {
			c.mu.counters.Aborted++
		}
	}
	c.notifyLocked()
}

// Requests returns the last requests, oldest first: at most a thousand.
func (s *Server) Requests() []Request {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	out := make([]Request, len(s.rec.mu.entries))
	for i, e := range s.rec.mu.entries {
		out[i] = e.Request
	}
	return out
}

// Counters returns the counts so far.
func (s *Server) Counters() Counters {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	return s.rec.countersLocked()
}

func (c *recorder) countersLocked() Counters {
	out := c.mu.counters
	out.ByModel = maps.Clone(out.ByModel)
	return out
}

// Await returns when the counters satisfy ok, or with the context's error. It is
// how a test learns, without sleeping, that a request arrived, ended or was
// aborted.
func (s *Server) Await(ctx context.Context, ok func(Counters) bool) error {
	for {
		s.rec.mu.Lock()
		now, changed := s.rec.countersLocked(), s.rec.mu.changed
		s.rec.mu.Unlock()
		if ok(now) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Reset forgets all requests and counts, the flaky models' among them, and all stored responses.
func (s *Server) Reset() {
	s.rec.reset()
	s.kept.reset()
}

// listRequests serves the record; ?model= keeps one model's requests.
func (s *Server) listRequests(w http.ResponseWriter, r *http.Request) {
	model := r.URL.Query().Get("model")
	requests := s.Requests()
	if model != "" {
		requests = slices.DeleteFunc(requests, func(q Request) bool { return q.Model != model })
	}
	writeJSON(w, http.StatusOK, map[string]any{"requests": requests, "counters": s.Counters()})
}
