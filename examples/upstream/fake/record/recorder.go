// Package record keeps what the fake provider was sent, for tests that ask what arrived.
package record

import (
	"context"
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
	// Escaped is the path as it was sent, if that has escapes.
	Escaped string `json:"escaped,omitempty"`
	Query   string `json:"query,omitempty"`
	Host    string `json:"host"`
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

// Entry is a kept request. Its fields are guarded by the recorder's lock.
type Entry struct {
	Request
	epoch int // of the recorder when the request began
	Nth   int // request for its model, from 1
}

// Recorder keeps the last requests. New makes one.
type Recorder struct {
	mu struct {
		sync.Mutex
		entries  []*Entry
		counters Counters
		changed  chan struct{} // closed, and replaced, at every change
		epoch    int           // counts the resets: an older request's end is not counted
	}
}

// New makes a Recorder.
func New() *Recorder {
	c := &Recorder{}
	c.Reset()
	return c
}

// Reset forgets all requests and counts.
func (c *Recorder) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.entries = nil
	c.mu.counters = Counters{ByModel: map[string]int{}}
	c.mu.epoch++
	c.notifyLocked()
}

func (c *Recorder) notifyLocked() {
	if c.mu.changed != nil {
		close(c.mu.changed)
	}
	c.mu.changed = make(chan struct{})
}

// Begin records a request that arrived. Hash is that of a body that is a form or sound, else empty.
func (c *Recorder) Begin(r *http.Request, body []byte, model, hash string) *Entry {
	headers := r.Header.Clone()
	escaped := r.URL.EscapedPath()
	if escaped == r.URL.Path {
		escaped = ""
	}
	e := &Entry{Request: Request{
		Method: r.Method, Path: r.URL.Path, Escaped: escaped, Query: r.URL.RawQuery, Host: r.Host, Headers: headers,
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
	e.Nth = c.mu.counters.ByModel[model]
	e.Seq = c.mu.counters.Total
	c.mu.entries = append(c.mu.entries, e)
	if extra := len(c.mu.entries) - keptRequests; extra > 0 {
		c.mu.entries = slices.Delete(c.mu.entries, 0, extra)
	}
	c.notifyLocked()
	return e
}

// Sent records the status that was sent.
func (c *Recorder) Sent(e *Entry, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Status = status
	c.notifyLocked()
}

// End records that the request's handler is done; left is its context's error,
// which is nil unless the caller went away.
func (c *Recorder) End(e *Entry, left error) {
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
func (c *Recorder) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Request, len(c.mu.entries))
	for i, e := range c.mu.entries {
		out[i] = e.Request
	}
	return out
}

// Counters returns the counts so far.
func (c *Recorder) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countersLocked()
}

func (c *Recorder) countersLocked() Counters {
	out := c.mu.counters
	out.ByModel = maps.Clone(out.ByModel)
	return out
}

// Await returns when the counters satisfy ok, or with the context's error. It is
// how a test learns, without sleeping, that a request arrived, ended or was
// aborted.
func (c *Recorder) Await(ctx context.Context, ok func(Counters) bool) error {
	for {
		c.mu.Lock()
		now, changed := c.countersLocked(), c.mu.changed
		c.mu.Unlock()
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
