package mgmt

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// route adds all routes.
func (s *Server) route() error {
	generated, err := rest.Handlers(s.services(), rest.Backend{
		Operations: s.operations, Reject: s.reject,
		Headers: func(ctx context.Context, response proto.Message) map[string]string {
			return operation.Of(ctx).Headers(response)
		},
		Instead: instead,
	})
	if err != nil {
		return err
	}
	for _, r := range s.plain() {
		for _, p := range r.paths {
			s.handle(r.method, p, s.guard(surface.Operation{Access: r.access}, r.handler))
		}
	}
	for _, r := range s.files() {
		for _, p := range r.paths {
			s.handle(r.method, p, managed(rest.Place{}, s.guard(surface.Operation{Access: r.access}, r.handler)))
		}
	}
	for _, r := range surface.Routes() {
		op, ok := s.operations.All[r.RPC]
		if !ok {
			return fmt.Errorf("%s %s leads to %s, which no service has", r.Method, r.Path, r.RPC)
		}
		next, ok := generated[r.RPC+" "+r.Path]
		if !ok {
			return fmt.Errorf("there is nothing generated for %s %s", r.Method, r.Path)
		}
		pattern, names := rest.Pattern(r.Path)
		form := s.transcode(op, r, names, next)
		if r.RPC == gatewayv1.AuditService_ListAuditLog_FullMethodName {
			form = s.withFiles(form)
		}
		s.handle(r.Method, pattern, managed(rest.Place{Path: names, Body: r.Body}, s.guard(op.Operation, form)))
	}
	slices.Sort(s.paths)
	s.paths = slices.Compact(s.paths)
	s.preventRedirects()
	s.mux.HandleFunc("/", s.unknown)
	return nil
}

// instead returns what is sent for a response instead of its JSON: nothing for one that the
// caller has, and the text of a difference that is to be text.
func instead(ctx context.Context, response proto.Message) *rest.Body {
	c := operation.Of(ctx)
	if c.Unchanged(response) {
		return &rest.Body{Status: http.StatusNotModified}
	}
	diff, ok := response.(*gatewayv1.PromptDiff)
	if asked, is := c.Request.(*gatewayv1.DiffPromptRequest); ok && is && asked.GetFormat() == "text" {
		return &rest.Body{Status: http.StatusOK, Media: "text/plain; charset=utf-8", Text: diff.GetText()}
	}
	return nil
}

// handle adds a route.
func (s *Server) handle(method, pattern string, h http.Handler) {
	s.mux.Handle(method+" "+pattern, h)
	s.paths = append(s.paths, strings.Replace(pattern, "...}", "}", 1))
}

// route is one row of the table of the routes that are not generated.
type route struct {
	method  string
	paths   []string
	access  surface.Access
	handler http.HandlerFunc
}

// plain returns the routes whose errors have OpenAI's form only.
func (s *Server) plain() []route {
	return []route{
		{http.MethodGet, []string{"/health/liveliness", "/health/liveness"}, surface.Public, s.alive},
		{http.MethodGet, []string{"/health/readiness"}, surface.Public, s.readiness},
		{http.MethodGet, []string{"/v1/models", "/models"}, surface.AnyKey, s.models},
		{http.MethodGet, []string{"/v1/models/{model...}", "/models/{model...}"}, surface.AnyKey, s.model},
		{http.MethodGet, []string{"/openapi.json"}, surface.Public, s.shows(s.reference.Document)},
		{http.MethodGet, []string{"/docs"}, surface.Public, s.shows(s.reference.Page)},
		{http.MethodGet, []string{"/metrics"}, surface.Viewer, s.cfg.Metrics.ServeHTTP},
		{http.MethodPost, dataplane.Paths(), surface.AnyKey, s.bodyless},
	}
}

// shows makes a handler of a part of the API's description.
func (s *Server) shows(part func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := part(w, r); err != nil {
			s.reject(w, r, err)
		}
	}
}

// files returns the routes of the management API that carry files. They are not generated.
func (s *Server) files() []route {
	return []route{
		{http.MethodGet, []string{"/cluster/snapshot"}, surface.Admin, s.snapshot},
		{http.MethodPost, []string{"/cluster/restore"}, surface.Admin, s.restore},
	}
}

// managed marks the requests to a route of the management API.
func managed(at rest.Place, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), placeKey{}, at)))
	})
}

// guard rejects callers that may not use a route. It does not read the body.
func (s *Server) guard(op surface.Operation, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stamp(w, r)
		if op.Access == surface.Public {
			next(w, r)
			return
		}
		c := &operation.Call{Presented: presented(r.Header.Values), ID: w.Header().Get(headerRequestID), IfMatch: r.Header.Values(field.HeaderIfMatch), IfNoneMatch: r.Header.Values(field.HeaderIfNoneMatch), Idempotency: r.Header.Values(field.HeaderIdempotency)}
		if isGoogle(r) {
			c.Presented.AddQuery(r.URL.RawQuery)
		}
		err := s.identify(c)
		if err == nil {
			err = c.Principal.MayUse(r.Method, sentPath(r))
		}
		if err == nil {
			err = operation.MayUse(op, c.Principal)
		}
		r = r.WithContext(operation.With(r.Context(), c))
		if err != nil {
			s.reject(w, r, err)
			return
		}
		next(w, r)
	})
}

// presented collects the credentials of a request. Two headers of one name are two
// credentials.
func presented(values func(header string) []string) credential.Presented {
	var p credential.Presented
	for _, name := range []string{credential.HeaderAuthorization, credential.HeaderAnthropic, credential.HeaderAzure, credential.HeaderGoogle, credential.HeaderGateway} {
		for _, v := range values(name) {
			p.Add(name, v)
		}
	}
	return p
}

// identify sets the caller of a call.
func (s *Server) identify(c *operation.Call) (err error) {
	c.View = s.cfg.View()
	c.Principal, err = s.cfg.Identify(c.View, c.Presented, time.Now())
	return err
}

// bodyless rejects a request for inference that came without a body. One with a body
// came by another way than the listener of callers, and no model is served there.
func (s *Server) bodyless(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		s.reject(w, r, fault.New(fault.NotFound, "", "Models are not served at this address, but at the one that listen names. Send the request there."))
		return
	}
	s.reject(w, r, fault.New(fault.Malformed, "invalid_json", "The body is empty; send a JSON object with a model and what the model is to work on."))
}

// straight rejects paths that http.ServeMux would clean first. A proxy in front of the
// gateway that protects some of the paths may read them differently.
func (s *Server) straight(w http.ResponseWriter, r *http.Request) {
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
		stamp(w, r)
		s.reject(w, r, fault.New(fault.NotFound, "not_found", "There is nothing at the path %s: it has dot segments or empty ones.", rest.ShortPath(r.URL.Path)))
		return
	}
	s.mux.ServeHTTP(w, usualPath(r))
}

// unknown serves every path that is not in the table, and methods that a path does not
// accept.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	stamp(w, r)
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" && !s.unredirected[pattern] {
			allowed = append(allowed, method)
		}
	}
	// The mux has no patterns for models with a verb behind them, such as {model}:countTokens.
	if _, known := dataplane.Find(r.URL.Path); known {
		if r.Method == http.MethodPost {
			s.bodyless(w, r)
			return
		}
		if !slices.Contains(allowed, http.MethodPost) {
			allowed = append(allowed, http.MethodPost)
		}
	}
	if len(allowed) == 0 {
		s.reject(w, r, rest.UnknownPath(r.URL.Path, s.paths))
		return
	}
	for _, m := range allowed {
		w.Header().Add("Allow", m)
	}
	s.reject(w, r, fault.New(fault.MethodNotAllowed, "", "This path does not take that method; see the header Allow."))
}

// transcode returns the handler of an operation's route: it checks the form of the request,
// and passes it on to the generated handler.
func (s *Server) transcode(op *operation.Operation, route surface.Route, names []string, next rest.Handler) http.HandlerFunc {
	message, form := op.Input.Descriptor(), forms()[op.RPC]
	return func(w http.ResponseWriter, r *http.Request) {
		path := make(map[string]string, len(names))
		for _, name := range names {
			path[name] = r.PathValue(name)
			if path[name] == "" { // /fallbacks/
				s.reject(w, r, rest.UnknownPath(r.URL.Path, s.paths))
				return
			}
		}
		r = r.Clone(r.Context())
		r.Header.Del("Grpc-Timeout") // the generated code would take it for a timeout,
		r.Header.Del("Te")           // and this for a request for trailers
		body := []byte(nil)
		err := error(nil)
		if route.Body {
			body, err = rest.ReadMessage(w, r, message, form, path)
		} else {
			err = rest.CheckQuery(r.URL.RawQuery, message.Fields(), path)
		}
		if err != nil {
			s.reject(w, r, err)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next(w, r, path)
	}
}

// preventRedirects keeps the mux from redirecting a client from /fallbacks to /fallbacks/
// with a method that only the latter has.
func (s *Server) preventRedirects() {
	for _, r := range surface.Routes() {
		pattern, _ := rest.Pattern(r.Path)
		above, _, many := strings.Cut(pattern, "/{")
		if !many || !strings.HasSuffix(pattern, "...}") {
			continue
		}
		at := r.Method + " " + above
		probe, err := http.NewRequestWithContext(context.Background(), r.Method, above, http.NoBody)
		if err != nil {
			continue
		}
		if _, found := s.mux.Handler(probe); found != at && !s.unredirected[at] {
			s.unredirected[at] = true
			s.mux.HandleFunc(at, s.unknown)
		}
	}
}
