package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	_ "github.com/modelgateway/modelgateway/proto/gen/gateway/v1" // registers the operations
)

// Request is what a command asks the API.
type Request struct {
	Method string
	Path   string // with its query
	Body   []byte // JSON; nil for none
	// IdempotencyKey makes it safe to ask again where no answer came; empty for reads.
	IdempotencyKey string
}

// operation is an operation of the API with its first route.
type operation struct {
	route surface.Route
	input protoreflect.MessageDescriptor
}

// operationOf finds an operation; ok is false where there is none of that name.
func operationOf(service, rpc string) (op operation, ok bool) {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + rpc))
	m, is := d.(protoreflect.MethodDescriptor)
	if err != nil || !is {
		return op, false
	}
	name := fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
	for _, r := range surface.Routes() {
		if r.RPC == name {
			return operation{route: r, input: m.Input()}, true
		}
	}
	return op, false
}

// request makes a request of the values of its fields, as a tree of what JSON has.
// key is its Idempotency-Key.
func (o operation) request(values map[string]any, key string) (Request, error) {
	r := Request{Method: o.route.Method, Path: o.route.Path}
	for {
		before, rest, found := strings.Cut(r.Path, "{")
		if !found {
			break
		}
		param, after, _ := strings.Cut(rest, "}")
		name, pattern, _ := strings.Cut(param, "=")
		text, ok := values[name].(string)
		if !ok || text == "" {
			return r, fmt.Errorf("%s is missing; give it as --%s", name, kebab(protoreflect.Name(name)))
		}
		delete(values, name)
		r.Path = before + escaped(text, pattern) + after
	}
	if r.Method != http.MethodGet {
		r.IdempotencyKey = key
	}
	if !o.route.Body {
		return o.query(r, values), nil
	}
	body, err := json.Marshal(values, json.Deterministic(true))
	r.Body = body
	return r, err
}

// query puts values into the query.
func (operation) query(r Request, values map[string]any) Request {
	q := url.Values{}
	for name, v := range values {
		if list, ok := v.([]any); ok {
			for _, e := range list {
				q.Add(name, fmt.Sprint(e))
			}
			continue
		}
		q.Set(name, fmt.Sprint(v))
	}
	if len(q) > 0 {
		r.Path += "?" + q.Encode()
	}
	return r
}

// escaped is a value as part of a path. A pattern of ** lets it have slashes.
func escaped(text, pattern string) string {
	if pattern != "**" {
		return url.PathEscape(text)
	}
	parts := strings.Split(text, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
