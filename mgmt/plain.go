package mgmt

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// alive is the liveness probe. It checks nothing but that the process responds: a supervisor
// must not restart the process because a disk or a provider is unavailable.
func (s *Server) alive(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, []byte(`"I'm alive!"`))
}

// health is the body of the readiness probe.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// readinessTime bounds the readiness probe.
const readinessTime = 2 * time.Second

// readiness is the readiness probe: Envoy has its configuration and the journal can be written.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readinessTime)
	defer cancel()
	if err := s.cfg.Ready(ctx); err != nil {
		e := fault.From(err)
		s.reject(w, r, &fault.Error{Kind: fault.Unavailable, Code: "not_ready", Detail: "The gateway is not ready: " + e.Message(), Err: err})
		return
	}
	s.write(w, r, health{Status: "healthy", Version: s.cfg.Version})
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.reject(w, r, err)
		return
	}
	reply(w, http.StatusOK, body)
}
