package mgmt

import (
	"log/slog"
	"net/http"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// refuse answers with an error, in the shape that OpenAI's SDKs read.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := fault.From(err)
	if e.Kind == fault.Internal {
		s.cfg.Logger.LogAttrs(r.Context(), slog.LevelError, "management request failed",
			slog.String("request_id", w.Header().Get(headerRequestID)), slog.String("path", r.URL.Path), slog.String("error", e.Error()))
	}
	for _, h := range e.Headers() {
		w.Header().Set(h.Name, h.Value)
	}
	reply(w, e.HTTPStatus(), e.OpenAI())
}

// The request id goes by two names: the gateway's own, and the one that SDKs show.
const (
	headerRequestID        = "x-request-id"
	headerGatewayRequestID = "x-gateway-request-id"
)

// stamp puts the request's id on its answer.
func stamp(w http.ResponseWriter, r *http.Request) {
	request := string(id.RequestFromUUID(r.Header.Get(headerRequestID)))
	w.Header().Set(headerRequestID, request)
	w.Header().Set(headerGatewayRequestID, request)
}

// reply writes a JSON answer. That the caller has left is nobody's error.
func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
