package fake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/record"
)

// Request is one recorded request.
type Request = record.Request

// Counters count all requests since the start or the last Reset.
type Counters = record.Counters

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
	case bedrockModel(r.URL.Path) != "":
		return bedrockModel(r.URL.Path), ""
	case geminiModel(r.URL.Path) != "":
		return geminiModel(r.URL.Path), ""
	case isDeepgram(r.URL.Path):
		return r.URL.Query().Get("model"), fmt.Sprintf("%x", sha256.Sum256(body))
	}
	_ = json.Unmarshal(body, &ask) // a body that is not JSON has no model
	return cmp.Or(ask.Model, ask.Eleven), ""
}

// Requests returns the last requests, oldest first: at most a thousand.
func (s *Server) Requests() []Request { return s.rec.Requests() }

// Counters returns the counts so far.
func (s *Server) Counters() Counters { return s.rec.Counters() }

// Await returns when the counters satisfy ok, or with the context's error. It is
// how a test learns, without sleeping, that a request arrived, ended or was
// aborted.
func (s *Server) Await(ctx context.Context, ok func(Counters) bool) error {
	return s.rec.Await(ctx, ok)
}

// Reset forgets all requests and counts, the flaky models' among them, and all stored responses.
func (s *Server) Reset() {
	s.rec.Reset()
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
