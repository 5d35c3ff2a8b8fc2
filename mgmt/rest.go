package mgmt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// HeaderRevision carries the revision of the view that an answer shows. A client
// that has seen one can tell whether another node is as far.
const HeaderRevision = "x-gateway-revision"

// answerTime bounds an operation on the agreed state. Without a majority of the
// nodes nothing is decided, and the caller is to hear of it within five seconds.
const answerTime = 4500 * time.Millisecond

// mostRetryAfter is the longest wait that is asked of a caller because the nodes
// cannot decide: an election takes a few seconds.
const mostRetryAfter = 5 * time.Second

// rest returns the generated REST handler of all services. Headers reach no
// service, so that none of them can be a parameter, and the method is what it says.
func (s *Server) rest() (http.Handler, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &runtime.JSONPb{MarshalOptions: jsonForm()}),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			s.refuse(w, r, ours(r, err))
		}),
		runtime.WithForwardResponseOption(stampRevision),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }),
		runtime.WithDisableHTTPMethodOverride(),
	)
	ctx, st := context.Background(), s.cfg.State
	err := errors.Join(
		gatewayv1.RegisterSpendServiceHandlerServer(ctx, mux, spendService{events: s.cfg.Events}),
		gatewayv1.RegisterKeyServiceHandlerServer(ctx, mux, keyService{state: st.Keys, view: s.cfg.View}),
		gatewayv1.RegisterModelServiceHandlerServer(ctx, mux, modelService{state: st.Deployments, view: s.cfg.View}),
		gatewayv1.RegisterConfigServiceHandlerServer(ctx, mux, configService{state: st.Router, view: s.cfg.View}),
		gatewayv1.RegisterClusterServiceHandlerServer(ctx, mux, clusterService{state: st.Members}),
	)
	return mux, err
}

// jsonForm is how messages are written: names as the documentation spells them,
// and every field, so that its absence need not be told from its zero.
func jsonForm() protojson.MarshalOptions {
	return protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}
}

// ours gives errors a kind that have none: the generated code's own, which are
// about parameters that it cannot read, and those of an operation that was not
// decided in time.
func ours(r *http.Request, err error) error {
	if st, ok := status.FromError(err); ok && st.Code() == codes.InvalidArgument {
		return fault.New(fault.Malformed, "invalid_parameter", "A parameter cannot be read: %s", st.Message())
	}
	var e *fault.Error
	switch {
	case errors.As(err, &e):
		if e.Kind == fault.Unavailable && e.RetryAfter > mostRetryAfter {
			sooner := *e
			sooner.RetryAfter = mostRetryAfter
			return &sooner
		}
		return problems(err)
	case !errors.Is(err, context.DeadlineExceeded) || !errors.Is(r.Context().Err(), context.DeadlineExceeded):
		return err
	case r.Method == http.MethodGet:
		return &fault.Error{Kind: fault.Unavailable, Detail: "The nodes did not agree on what is current in time. Try again.", RetryAfter: time.Second, Err: err}
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: "outcome_unknown", RetryAfter: time.Second, Err: err,
		Detail: "The nodes did not decide in time. The change may still come about: look whether it has before you try again.",
	}
}

// problems makes one error of several, of which the first counts and all are told.
func problems(err error) error {
	joined, ok := err.(interface{ Unwrap() []error }) // what was joined at the top, and no deeper
	if !ok || len(joined.Unwrap()) < 2 {
		return err
	}
	var list []any
	for _, one := range joined.Unwrap() {
		if e := fault.From(one); e.Kind != fault.Internal {
			list = append(list, map[string]any{"message": e.Message(), "param": e.Param, "code": e.Code})
		}
	}
	first := *fault.From(err)
	first.Details = map[string]any{"problems": list}
	return &first
}

// shown is the view that an answer shows. It is the one that the caller was
// authenticated by, or after a change the one that has the change.
type shown struct{ view *cluster.View }

type shownKey struct{}

// viewOf returns the view that a request is answered from.
func viewOf(ctx context.Context) *cluster.View {
	if s, ok := ctx.Value(shownKey{}).(*shown); ok {
		return s.view
	}
	return nil
}

// show changes the view that a request is answered from.
func show(ctx context.Context, v *cluster.View) *cluster.View {
	if s, ok := ctx.Value(shownKey{}).(*shown); ok {
		s.view = v
	}
	return v
}

func stampRevision(ctx context.Context, w http.ResponseWriter, _ proto.Message) error {
	if v := viewOf(ctx); v != nil {
		w.Header().Set(HeaderRevision, strconv.FormatUint(v.Revision, 10))
	}
	return nil
}

// bounded runs an operation on the agreed state, for no longer than answerTime.
func bounded(next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	r = r.WithContext(ctx)
	r.Header.Del("Grpc-Timeout") // the generated code would take it for another bound
	next.ServeHTTP(w, r)
}

// query is a route whose parameters are in its query. One that is not in the
// message is refused: a filter that is not known would otherwise show too much.
func (s *Server) query(next http.Handler, in proto.Message) http.HandlerFunc {
	fields := in.ProtoReflect().Descriptor().Fields()
	return func(w http.ResponseWriter, r *http.Request) {
		if err := conformQuery(r.URL.RawQuery, fields); err != nil {
			s.refuse(w, r, err)
			return
		}
		bounded(next, w, r)
	}
}

func conformQuery(raw string, fields protoreflect.FieldDescriptors) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return &fault.Error{Kind: fault.Malformed, Code: "invalid_parameter", Detail: "The query cannot be read. Percent-encode its names and values.", Err: err}
	}
	names := make(map[string]jsontext.Value, len(values))
	for name := range values {
		names[name] = nil
	}
	for _, name := range sortedNames(names) {
		param, given := shortName(name), values[name]
		field := fields.ByName(protoreflect.Name(name))
		switch {
		case field == nil:
			return fault.Field(param, "unknown_parameter", "There is no parameter %s here. Remove it, or correct its name.", param)
		case len(given) > 1:
			return fault.Field(param, "invalid_value", "The parameter %s is given more than once.", param)
		case field.Kind() == protoreflect.BoolKind:
			if _, err := strconv.ParseBool(given[0]); err != nil {
				return wrongType(param, "true or false")
			}
		case field.Kind() == protoreflect.Int32Kind:
			if _, err := strconv.ParseInt(given[0], 10, 32); err != nil {
				return wrongType(param, "a whole number of at most 2147483647")
			}
		}
	}
	return nil
}

// rewrite changes what clients may write into what the message has.
type rewrite func(members map[string]jsontext.Value) error

// command is a route whose parameters are in its body, a JSON object of exactly
// the message's fields. rewrite may be nil.
func (s *Server) command(next http.Handler, in proto.Message, rewrite rewrite) http.HandlerFunc {
	message := in.ProtoReflect().Descriptor()
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := commandBody(w, r, message, rewrite)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r = r.Clone(r.Context())
		// Some clients send DELETE with the body of the POST. It is that POST; in the
		// API's description there is no other, for OpenAPI has no bodies for DELETE.
		r.Method = http.MethodPost
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		bounded(next, w, r)
	}
}

func commandBody(w http.ResponseWriter, r *http.Request, message protoreflect.MessageDescriptor, rewrite rewrite) ([]byte, error) {
	// A query beside a body has no meaning here, and somebody who sends one thinks it has.
	if err := conformQuery(r.URL.RawQuery, (&gatewayv1.GetConfigRequest{}).ProtoReflect().Descriptor().Fields()); err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	members, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	if rewrite != nil {
		if err := rewrite(members); err != nil {
			return nil, err
		}
	}
	if err := conform("", members, message); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}
