package mgmt

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/operation"
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

// created is the constant that LiteLLM gives every model. The gateway does not know when a
// model was made, and clients that sort by it must see a stable order.
const created = 1677610602

// modelObject is one model as GET /v1/models shows it.
type modelObject struct {
	ID      id.ModelName `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	OwnedBy string       `json:"owned_by"`
}

type modelList struct {
	Object string        `json:"object"`
	Data   []modelObject `json:"data"`
}

func object(name id.ModelName) modelObject {
	return modelObject{ID: name, Object: "model", Created: created, OwnedBy: "modelgateway"}
}

// models lists the models that the caller's key may use.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	p := operation.Principal(r.Context())
	list := modelList{Object: "list", Data: []modelObject{}}
	for _, name := range s.cfg.View().Catalog.Models() {
		if p.Allows(name) {
			list.Data = append(list.Data, object(name))
		}
	}
	s.write(w, r, list)
}

// model shows one model. A model that the key may not use does not exist for the caller.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	name, p := id.ModelName(r.PathValue("model")), operation.Principal(r.Context())
	real := p.Resolve(name)
	if _, ok := s.cfg.View().Catalog.Group(real); !ok || !p.Allows(real) {
		s.reject(w, r, &fault.Error{Kind: fault.NotFound, Code: "model_not_found", Param: "model", Detail: "There is no model of that name, or this API key may not use it."})
		return
	}
	s.write(w, r, object(name))
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.reject(w, r, err)
		return
	}
	reply(w, http.StatusOK, body)
}
