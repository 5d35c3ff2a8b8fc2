package mgmt

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// alive says that the process runs and answers. It looks at nothing else: what
// restarts the process must not do so because a disk or a provider is away.
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

// readiness says whether traffic should come here: Envoy has its configuration
// and the journal can be written.
func (s *Server) readiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readinessTime)
	defer cancel()
	if err := s.cfg.Ready(ctx); err != nil {
		e := fault.From(err)
		s.reject(w, r, &fault.Error{Kind: fault.Unavailable, Code: "not_ready", Detail: "The gateway is not ready: " + e.Message(), Err: err})
		return
	}
	body, err := json.Marshal(health{Status: "healthy", Version: s.cfg.Version})
	if err != nil {
		s.reject(w, r, err)
		return
	}
	reply(w, http.StatusOK, body)
}
