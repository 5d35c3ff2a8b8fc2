package mgmt

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
)

// codeValidation is the code of every error that names a field of the request.
// What exactly is wrong with it is in the detail.
const codeValidation = "validation_error"

// placeKey marks requests to routes of the management API: their errors have a detail.
type placeKey struct{}

// reject sends an error, in the form that the caller's SDK reads: OpenAI's, or that of another provider outside the
// management API.
func (s *Server) reject(w http.ResponseWriter, r *http.Request, err error) {
	c := *operation.Of(r.Context())
	c.ID = w.Header().Get(headerRequestID)
	e := s.failed(r.Context(), &c, err, client{route: routeOf(r), path: r.URL.Path, address: lastAddress(r.Header.Values(headerForwardedFor)), agent: r.UserAgent()})
	for _, h := range e.Headers() {
		w.Header().Set(h.Name, h.Value)
	}
	at, managed := r.Context().Value(placeKey{}).(rest.Place)
	switch {
	case !managed && isAnthropic(r):
		reply(w, e.HTTPStatus(), e.Anthropic(c.ID))
	case !managed && isGoogle(r):
		reply(w, e.HTTPStatus(), e.Google(c.ID))
	case !managed && dataplane.Language(sentPath(r)) == "converse":
		reply(w, e.HTTPStatus(), e.AWS(c.ID))
	case !managed && isCohere(r):
		reply(w, e.HTTPStatus(), e.Cohere(c.ID))
	case !managed:
		reply(w, e.HTTPStatus(), e.OpenAI())
	case field.IsInvalid(e):
		named := *e
		named.Code = codeValidation
		reply(w, http.StatusUnprocessableEntity, rest.WithDetail(named.OpenAI(), at.Detail(e)))
	default:
		reply(w, e.HTTPStatus(), rest.WithDetail(e.OpenAI(), e.Message()))
	}
}

// failed logs an error of a request and records it in the audit log, as far as it belongs
// there. A bug of the gateway's is logged in full; the caller does not get it.
func (s *Server) failed(ctx context.Context, c *operation.Call, err error, from client) *fault.Error {
	e := fault.From(err)
	if e.Kind == fault.Internal {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "management request failed",
			slog.String("request_id", c.ID), slog.String("path", cmp.Or(from.path, from.route)), slog.String("error", e.Error()))
	}
	s.blocked(c, e, from.route)
	s.logRefusal(ctx, c, e, from)
	return e
}

// symbolic returns the code of an error that callers see.
func symbolic(e *fault.Error) string {
	if e.Code != "" {
		return e.Code
	}
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(e.OpenAI(), &body) // it is ours
	return body.Error.Code
}

// The headers with the id of a request: those that the SDKs of OpenAI and Anthropic show, and the
// gateway's own.
const (
	headerRequestID        = "x-request-id"
	headerAnthropicID      = "request-id"
	headerGatewayRequestID = "x-gateway-request-id"
)

// stamp sets the id of the request in the headers of the response.
func stamp(w http.ResponseWriter, r *http.Request) {
	request := string(id.RequestFromUUID(r.Header.Get(headerRequestID)))
	w.Header().Set(headerRequestID, request)
	w.Header().Set(headerGatewayRequestID, request)
	if isAnthropic(r) {
		w.Header().Set(headerAnthropicID, request)
	}
}

// reply writes a JSON response. It ignores that the caller may have left.
func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // it is JSON, and its content type says so
}
