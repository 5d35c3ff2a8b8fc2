package mgmt

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// codeValidation is the code of every error that names a field of the request.
// What exactly is wrong with it is in the detail.
const codeValidation = "validation_error"

// place says where a route of the management API has its parameters.
type place struct {
	path []string // names of those in the path
	body bool     // whether the others are in the body; else they are in the query
}

// placeKey marks requests to routes of the management API, whose errors have a
// detail.
type placeKey struct{}

// refuse answers with an error, in the shape that OpenAI's SDKs read.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := fault.From(err)
	s.logInternal(r.Context(), e, r.URL.Path, w.Header().Get(headerRequestID))
	c := *callOf(r.Context())
	c.id = w.Header().Get(headerRequestID)
	s.blocked(&c, e, routeOf(r))
	s.logRefusal(r.Context(), &c, e, routeOf(r), client{path: r.URL.Path, address: lastAddress(r.Header.Values(headerForwardedFor)), agent: r.UserAgent()})
	for _, h := range e.Headers() {
		w.Header().Set(h.Name, h.Value)
	}
	at, managed := r.Context().Value(placeKey{}).(place)
	switch {
	case !managed:
		reply(w, e.HTTPStatus(), e.OpenAI())
	case isInvalid(e):
		named := *e
		named.Code = codeValidation
		reply(w, http.StatusUnprocessableEntity, withDetail(named.OpenAI(), at.detail(e)))
	default:
		reply(w, e.HTTPStatus(), withDetail(e.OpenAI(), e.Message()))
	}
}

// logInternal logs what is a bug of ours. The caller is not told.
func (s *Server) logInternal(ctx context.Context, e *fault.Error, where, request string) {
	if e.Kind == fault.Internal {
		s.cfg.Logger.LogAttrs(ctx, slog.LevelError, "management request failed",
			slog.String("request_id", request), slog.String("path", where), slog.String("error", e.Error()))
	}
}

// isInvalid reports whether an error is about a field of the request, and not about
// its form.
func isInvalid(e *fault.Error) bool {
	return e.Kind == fault.Malformed && e.Param != "" && e.Status == 0
}

// symbolic is the code that callers know an error by.
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

// problemsOf returns all that is wrong with the fields of a request.
func problemsOf(e *fault.Error) []problem {
	if all, ok := e.Details[detailProblems].([]problem); ok {
		return all
	}
	return []problem{{e.Message(), e.Param, e.Code}}
}

// invalid is an entry of the detail of an invalid request, as FastAPI has it.
type invalid struct {
	Type    string `json:"type"`
	Where   []any  `json:"loc"`
	Message string `json:"msg"`
}

func (p place) detail(e *fault.Error) []invalid {
	var out []invalid
	for _, one := range problemsOf(e) {
		out = append(out, invalid{one.Code, p.locate(one.Param), one.Message})
	}
	return out
}

// locate is a param as a list: where it is, names and indices.
func (p place) locate(param string) []any {
	if param == HeaderIfMatch || param == HeaderIdempotency {
		return []any{"header", param}
	}
	out := []any{"query"}
	for part := range strings.SplitSeq(param, ".") {
		name, index, indexed := strings.Cut(part, "[")
		switch {
		case len(out) == 1 && slices.Contains(p.path, name):
			out[0] = "path"
		case len(out) == 1 && p.body:
			out[0] = "body"
		}
		out = append(out, name)
		if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); indexed && err == nil {
			out = append(out, n)
		}
	}
	return out
}

// withDetail adds the detail as a top-level member, where clients of the
// management API's predecessors look for it.
func withDetail(body []byte, detail any) []byte {
	var v struct {
		Error  jsontext.Value `json:"error"`
		Detail any            `json:"detail"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return body
	}
	v.Detail = detail
	out, err := json.Marshal(v)
	if err != nil { // a message is not UTF-8
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
