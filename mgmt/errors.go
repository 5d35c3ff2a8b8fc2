package mgmt

import (
	"log/slog"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	body := e.OpenAI()
	if managed, _ := r.Context().Value(managementKey{}).(bool); managed {
		body = withDetail(body, e.Message())
	}
	reply(w, e.HTTPStatus(), body)
}

// managementKey marks requests to routes whose errors have a detail.
type managementKey struct{}

// withDetail adds the message as a top-level member, where clients of the
// management API's predecessors look for it.
func withDetail(body []byte, message string) []byte {
	var v struct {
		Error  jsontext.Value `json:"error"`
		Detail string         `json:"detail"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return body
	}
	v.Detail = message
	out, err := json.Marshal(v)
	if err != nil { // the message is not UTF-8
		return body
	}
	return out
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
	_, _ = w.Write(body) //nolint:gosec // it is JSON, and its content type says so
}
