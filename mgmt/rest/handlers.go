package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Service is a service of the API as gRPC and as REST take it.
type Service struct {
	Serve  func(grpc.ServiceRegistrar)
	handle func(context.Context, *runtime.ServeMux, grpc.ClientConnInterface) error
}

// API returns a function that makes a Service of an implementation, by the functions that
// are generated for the service.
func API[S, C any](
	register func(grpc.ServiceRegistrar, S),
	client func(grpc.ClientConnInterface) C, handle func(context.Context, *runtime.ServeMux, C) error,
) func(service S) Service {
	return func(service S) Service {
		return Service{
			Serve: func(r grpc.ServiceRegistrar) { register(r, service) },
			handle: func(ctx context.Context, mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
				return handle(ctx, mux, client(conn))
			},
		}
	}
}

// Handler serves a request with these values in its path.
type Handler func(w http.ResponseWriter, r *http.Request, path map[string]string)

// Backend is what the generated handlers need.
type Backend struct {
	Operations grpc.ClientConnInterface
	// Headers returns the headers of a response.
	Headers func(ctx context.Context, response proto.Message) map[string]string
	// Instead returns what is sent instead of the JSON of a response; nil for JSON.
	Instead func(ctx context.Context, response proto.Message) *Body
	// Reject sends an error.
	Reject func(w http.ResponseWriter, r *http.Request, err error)
}

// Body is the body of a response that is not JSON.
type Body struct {
	Status int
	Media  string // empty if there is no text
	Text   string
}

func (b *Body) send(w http.ResponseWriter) {
	w.Header().Del("Content-Type")
	if b.Media != "" {
		w.Header().Set("Content-Type", b.Media)
	}
	w.WriteHeader(b.Status)
	if b.Text != "" {
		_, _ = io.WriteString(w, b.Text) // fails only if the client has left
	}
}

// Handlers returns the generated handlers by operation and path. They are called
// directly. Their own router tries the patterns from the last to the first: GET
// /guardrail/list would be the guardrail called list.
func Handlers(services []Service, to Backend) (map[string]Handler, error) {
	var all []runtime.HandlerFunc
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &answerJSON{JSONPb: runtime.JSONPb{MarshalOptions: jsonForm()}}),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Value(probeKey{}) == nil {
				to.Reject(w, r, unreadable(err))
			}
		}),
		runtime.WithForwardResponseOption(func(ctx context.Context, w http.ResponseWriter, response proto.Message) error {
			for name, value := range to.Headers(ctx, response) {
				w.Header().Set(name, value)
			}
			if b := to.Instead(ctx, response); b != nil {
				b.send(w)
				return nil
			}
			_, err := streamJSON(w, response)
			return err
		}),
		runtime.WithForwardResponseRewriter(func(ctx context.Context, response proto.Message) (any, error) {
			if _, ok := response.(*gatewayv1.DailyActivity); ok || to.Instead(ctx, response) != nil {
				return streamed{}, nil
			}
			return response, nil
		}),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }), // none of them is a parameter
		runtime.WithMiddlewares(func(next runtime.HandlerFunc) runtime.HandlerFunc {
			all = append(all, next)
			return next
		}),
		runtime.WithMetadata(answerProbe),
	)
	for _, s := range services {
		if err := s.handle(context.Background(), mux, probed{to.Operations}); err != nil {
			return nil, err
		}
	}
	out := make(map[string]Handler, len(all))
	for _, h := range all {
		name, err := probe(h)
		if err != nil {
			return nil, err
		}
		out[name] = Handler(h)
	}
	return out, nil
}

// unreadable gives errors of the generated code their kind: they are about parameters that
// it cannot read.
func unreadable(err error) error {
	var e *fault.Error
	if st, ok := status.FromError(err); ok && !errors.As(err, &e) && st.Code() == codes.InvalidArgument {
		return fault.New(fault.Malformed, "invalid_parameter", "A parameter cannot be read: %s", st.Message())
	}
	return err
}

// Pattern returns a path in the form of http.ServeMux, and the names of its parameters.
func Pattern(path string) (pattern string, names []string) {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, ok := strings.CutPrefix(segment, "{")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSuffix(name, "}"), "=")
		names = append(names, name)
		segments[i] = "{" + name + "}"
		if rest == "**" {
			segments[i] = "{" + name + "...}"
		}
	}
	return strings.Join(segments, "/"), names
}
