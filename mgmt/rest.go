package mgmt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// HeaderRevision carries the revision of the view that an answer shows. A client
// that has seen one can tell whether another node is as far.
const HeaderRevision = "x-gateway-revision"

// generated returns the generated handlers by operation and path. They are reached
// directly. Their own router tries the patterns from the last to the first: GET
// /guardrail/list would be the guardrail called list.
func (s *Server) generated() (map[string]runtime.HandlerFunc, error) {
	var all []runtime.HandlerFunc
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &answerJSON{runtime.JSONPb{MarshalOptions: jsonForm()}}),
		runtime.WithErrorHandler(func(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Value(probeKey{}) == nil {
				s.refuse(w, r, unreadable(err))
			}
		}),
		runtime.WithForwardResponseOption(answerHeaders),
		runtime.WithForwardResponseOption(func(_ context.Context, w http.ResponseWriter, answer proto.Message) error {
			_, err := streamJSON(w, answer)
			return err
		}),
		runtime.WithForwardResponseRewriter(func(_ context.Context, answer proto.Message) (any, error) {
			if _, ok := answer.(*gatewayv1.DailyActivity); ok {
				return streamed{}, nil
			}
			return answer, nil
		}),
		runtime.WithIncomingHeaderMatcher(func(string) (string, bool) { return "", false }), // none of them is a parameter
		runtime.WithMiddlewares(func(next runtime.HandlerFunc) runtime.HandlerFunc {
			all = append(all, next)
			return next
		}),
		runtime.WithMetadata(answerProbe),
	)
	conn := probed{&s.operations}
	for _, e := range s.services() {
		if err := e.rest(context.Background(), mux, conn); err != nil {
			return nil, err
		}
	}
	out := make(map[string]runtime.HandlerFunc, len(all))
	for _, h := range all {
		name, err := probe(h)
		if err != nil {
			return nil, err
		}
		out[name] = h
	}
	return out, nil
}

// jsonForm is how messages are written: names as the documentation spells them,
// and every field, so that its absence need not be told from its zero.
func jsonForm() protojson.MarshalOptions {
	return protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}
}

// unreadable gives the generated code's own errors a kind: they are about
// parameters that it cannot read.
func unreadable(err error) error {
	var e *fault.Error
	if st, ok := status.FromError(err); ok && !errors.As(err, &e) && st.Code() == codes.InvalidArgument {
		return fault.New(fault.Malformed, "invalid_parameter", "A parameter cannot be read: %s", st.Message())
	}
	return err
}

// headers are those of an answer beside its message.
func (c *call) headers(answer proto.Message) map[string]string {
	out := map[string]string{}
	if c.view != nil {
		out[HeaderRevision] = strconv.FormatUint(c.view.Revision, 10)
	}
	if tag := etag(answer.ProtoReflect()); tag != "" {
		out[HeaderETag] = tag
	}
	if c.replayed {
		out[HeaderReplayed] = "true"
	}
	return out
}

func answerHeaders(ctx context.Context, w http.ResponseWriter, answer proto.Message) error {
	for name, value := range callOf(ctx).headers(answer) {
		w.Header().Set(name, value)
	}
	return nil
}

// muxPattern is a path as the mux has it, and the names of the parameters in it.
func muxPattern(path string) (pattern string, names []string) {
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

// refuseRedirects keeps the mux from sending a client from /fallbacks on to
// /fallbacks/ with a method that only the latter has.
func (s *Server) refuseRedirects() {
	for _, r := range surface.Routes() {
		pattern, _ := muxPattern(r.Path)
		above, _, many := strings.Cut(pattern, "/{")
		if !many || !strings.HasSuffix(pattern, "...}") {
			continue
		}
		at := r.Method + " " + above
		probe, err := http.NewRequestWithContext(context.Background(), r.Method, above, http.NoBody)
		if err != nil {
			continue
		}
		if _, found := s.mux.Handler(probe); found != at && !s.refused[at] {
			s.refused[at] = true
			s.mux.HandleFunc(at, s.unknown)
		}
	}
}

// transcode is a route of an operation: it holds the request to what is
// documented, and hands it to the generated handler.
func (s *Server) transcode(op *operation, route surface.Route, names []string, next runtime.HandlerFunc) http.HandlerFunc {
	message, form := op.input.Descriptor(), forms()[op.name]
	return func(w http.ResponseWriter, r *http.Request) {
		path := make(map[string]string, len(names))
		for _, name := range names {
			path[name] = r.PathValue(name)
			if path[name] == "" { // /fallbacks/
				s.refuse(w, r, s.unknownPath(r))
				return
			}
		}
		r = r.Clone(r.Context())
		r.Header.Del("Grpc-Timeout") // the generated code would take it for a bound,
		r.Header.Del("Te")           // and this for a wish to have trailers
		body := []byte(nil)
		err := error(nil)
		if route.Body {
			body, err = s.members(w, r, message, form, path)
		} else {
			err = conformQuery(r.URL.RawQuery, message.Fields(), path)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next(w, r, path)
	}
}

// rewrite changes what clients may write into what the message has.
type rewrite func(members map[string]jsontext.Value) error

// members reads a body whose members are the parameters, as protobuf's JSON form
// has them. form may be nil.
func (s *Server) members(w http.ResponseWriter, r *http.Request, m protoreflect.MessageDescriptor, form rewrite, path map[string]string) ([]byte, error) {
	members, err := readMembers(w, r)
	if err != nil {
		return nil, err
	}
	if form != nil {
		if err := form(members); err != nil {
			return nil, err
		}
	}
	if err := conform("", members, m); err != nil {
		return nil, err
	}
	for name, value := range path {
		if v, ok := members[name]; ok && v.Kind() != 'n' && !sameText(v, value) {
			return nil, fault.Field(name, "invalid_value", "%s is in the path, too, with another value. Leave it out of the body.", name)
		}
		delete(members, name)
	}
	if err := sameQuery(r.URL.RawQuery, members); err != nil {
		return nil, err
	}
	if err := widen(members, m); err != nil {
		return nil, err
	}
	if err := gatherClears(members, m); err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}

// sameText reports whether a member of a body is what a path or a query has.
func sameText(v jsontext.Value, text string) bool {
	if v.Kind() != '"' {
		return string(v) == text
	}
	var s string
	return json.Unmarshal(v, &s) == nil && s == text
}

// sameQuery refuses a query beside a body, which has no meaning, and somebody who
// sends one thinks it has. What only says again what the body says does no harm.
func sameQuery(raw string, members map[string]jsontext.Value) error {
	values, err := parseQuery(raw)
	if err != nil {
		return err
	}
	for _, name := range sortedNames(values) {
		param := shortName(name)
		v, given := members[name]
		switch {
		case !given:
			return fault.Field(param, "unknown_parameter", "This operation has its parameters in the body. Send %s there.", param)
		case len(values[name]) != 1 || !sameText(v, values[name][0]):
			return fault.Field(param, "invalid_value", "%s is in the body, too, with another value. Leave it out of the query.", param)
		}
	}
	return nil
}

func parseQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Malformed, Code: "invalid_parameter", Detail: "The query cannot be read. Percent-encode its names and values.", Err: err}
	}
	return values, nil
}

// conformQuery holds a query to a message, but for what is in the path. A parameter
// that is not in the message is refused: a filter that is not known would otherwise
// show too much.
func conformQuery(raw string, fields protoreflect.FieldDescriptors, path map[string]string) error {
	values, err := parseQuery(raw)
	if err != nil {
		return err
	}
	for _, name := range sortedNames(values) {
		param, given := shortName(name), values[name]
		field := fields.ByName(protoreflect.Name(name))
		switch in, inPath := path[name]; {
		case field == nil:
			return fault.Field(param, "unknown_parameter", "There is no parameter %s here. Remove it, or correct its name.", param)
		case inPath && (len(given) != 1 || given[0] != in):
			return fault.Field(param, "invalid_value", "%s is in the path, too, with another value. Leave it out of the query.", param)
		case len(given) > 1 && !field.IsList():
			return fault.Field(param, "invalid_value", "The parameter %s is given more than once.", param)
		}
		for _, text := range given {
			if err := conformText(param, text, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// conformText checks one value of a query.
func conformText(param, text string, f protoreflect.FieldDescriptor) error {
	var err error
	want := ""
	switch kind := f.Kind(); {
	case kind == protoreflect.StringKind:
		return nil
	case kind == protoreflect.EnumKind:
		return conformEnum(param, text, f.Enum())
	case kind == protoreflect.BoolKind:
		_, err = strconv.ParseBool(text)
		want = "true or false"
	case kind == protoreflect.Int32Kind:
		_, err = strconv.ParseInt(text, 10, 32)
		want = "a whole number of at most 2147483647"
	case kind == protoreflect.Uint32Kind:
		_, err = strconv.ParseUint(text, 10, 32)
		want = "a whole number from 0 to 4294967295"
	case kind == protoreflect.DoubleKind:
		if n, bad := strconv.ParseFloat(text, 64); bad != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			err = strconv.ErrSyntax
		}
		want = "a number"
	case f.Message() != nil && f.Message().FullName() == "google.protobuf.Timestamp":
		_, err = time.Parse(time.RFC3339Nano, text)
		want = "an instant in RFC 3339, such as 2026-06-29T10:00:00Z"
	default:
		return fault.Field(param, "unknown_parameter", "%s cannot be given in a query.", param)
	}
	if err != nil {
		return wrongType(param, want)
	}
	return nil
}
