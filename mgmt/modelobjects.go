package mgmt

import (
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// created is the constant that LiteLLM gives every model. The gateway does not know when a
// model was made, and clients that sort by it must see a stable order.
const created = 1677610602

// modelObject is one model as OpenAI's GET /v1/models shows it.
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

// models lists the models that the caller's key may use, in the language of the caller.
func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	p, catalog := operation.Principal(r.Context()), s.cfg.View().Catalog
	var names []id.ModelName
	for _, name := range catalog.Models() {
		if p.Allows(name) {
			names = append(names, name)
		}
	}
	if isAnthropic(r) {
		page, err := modelPage(catalog, names, r.URL.RawQuery)
		if err != nil {
			s.reject(w, r, err)
			return
		}
		s.write(w, r, page)
		return
	}
	if isGoogle(r) {
		page, err := googleModelPage(catalog, names, r.URL.RawQuery)
		switch {
		case err != nil:
			s.reject(w, r, err)
		case onVertex(sentPath(r)):
			s.write(w, r, googlePublisherModels(page))
		default:
			s.write(w, r, page)
		}
		return
	}
	if isCohere(r) {
		page, err := cohereModelPage(catalog, names, r.URL.RawQuery)
		if err != nil {
			s.reject(w, r, err)
			return
		}
		s.write(w, r, page)
		return
	}
	list := modelList{Object: "list", Data: make([]modelObject, 0, len(names))}
	for _, name := range names {
		list.Data = append(list.Data, object(name))
	}
	s.write(w, r, list)
}

// model shows one model. A model that the key may not use does not exist for the caller.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	name, p, catalog := id.ModelName(r.PathValue("model")), operation.Principal(r.Context()), s.cfg.View().Catalog
	real := p.Resolve(name)
	g, ok := catalog.Group(real)
	switch {
	case !ok || !p.Allows(real):
		s.reject(w, r, &fault.Error{Kind: fault.NotFound, Code: "model_not_found", Param: "model", Detail: "There is no model of that name, or this API key may not use it."})
	case isAnthropic(r):
		s.write(w, r, anthropicModelOf(name, g.Deployments))
	case isGoogle(r):
		s.write(w, r, googleModelOf(name, g.Deployments))
	case isCohere(r):
		s.write(w, r, cohereModelOf(name, g.Deployments))
	default:
		s.write(w, r, object(name))
	}
}
