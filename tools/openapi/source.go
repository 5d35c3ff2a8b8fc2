package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	// Its options are in the descriptors.
	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/modelgateway/modelgateway/proto/gen/options/v1"
	"github.com/modelgateway/modelgateway/tools/route"
)

// source is all that the document is made of.
type source struct {
	files *protoregistry.Files
	calls []call
	base  *object
}

// call is one rpc with the HTTP requests that reach it; the first is the one to use.
type call struct {
	method   protoreflect.MethodDescriptor
	bindings []binding
}

// option is the option operation of the call.
func (c call) option() *optionsv1.Operation {
	out, _ := proto.GetExtension(c.method.Options(), optionsv1.E_Operation).(*optionsv1.Operation)
	return out
}

// public reports whether the call needs no key.
func (c call) public() bool { return c.option().GetAccess() == optionsv1.Access_ACCESS_PUBLIC }

// changes reports whether the call changes anything.
func (c call) changes() bool {
	effect := c.option().GetEffect()
	return effect == optionsv1.Effect_EFFECT_CHANGE || effect == optionsv1.Effect_EFFECT_DELETE
}

// tag is the tag of the call's service.
func (c call) tag() string {
	resource, _ := proto.GetExtension(c.method.Parent().Options(), optionsv1.E_Resource).(*optionsv1.Resource)
	return resource.GetTag()
}

// binding is one method and path of a call.
type binding struct {
	verb, path, body, answer string
	wild                     []string // path parameters whose values may have slashes
}

func load(files *protoregistry.Files, base string) (*source, error) {
	src := &source{files: files}
	text, err := os.ReadFile(base) //nolint:gosec // the developer names it
	if err != nil {
		return nil, err
	}
	tree, err := fromYAML(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", base, err)
	}
	src.base, _ = tree.(*object)
	if src.base == nil {
		return nil, fmt.Errorf("%s: not an object", base)
	}
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			var calls []call
			if calls, err = callsOf(f.Services().Get(i)); err != nil {
				return false
			}
			src.calls = append(src.calls, calls...)
		}
		return true
	})
	src.sort()
	return src, err
}

// callsOf returns the methods of a service that have the option operation. Others, such as
// those of gRPC's own services, are not described.
func callsOf(s protoreflect.ServiceDescriptor) ([]call, error) {
	var out []call
	for i := range s.Methods().Len() {
		c := call{method: s.Methods().Get(i)}
		if c.option() == nil {
			continue
		}
		routes, err := route.Parse(c.option().GetRoutes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.method.FullName(), err)
		}
		for _, r := range routes {
			c.bindings = append(c.bindings, bindingOf(r, c.option().GetResponseField()))
		}
		out = append(out, c)
	}
	return out, nil
}

// sort orders the calls by their tags, as the base lists them, and by their services and
// places there.
func (s *source) sort() {
	places := map[string]int{}
	for i, tag := range listAt(s.base, "tags") {
		if o, ok := tag.(*object); ok {
			name, _ := o.get("name").(string)
			places[name] = i
		}
	}
	slices.SortStableFunc(s.calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(places[a.tag()], places[b.tag()]), cmp.Compare(a.method.Parent().FullName(), b.method.Parent().FullName()))
	})
}

// bindingOf returns the binding of a route.
func bindingOf(r route.Route, answer string) binding {
	b := binding{verb: r.Method, path: r.Path, answer: answer}
	if r.Body {
		b.body = "*"
	}
	// {name=**} takes the rest of the path. OpenAPI has no such form.
	var out strings.Builder
	for i, part := range strings.Split(b.path, "{") {
		if i == 0 {
			out.WriteString(part)
			continue
		}
		inner, after, _ := strings.Cut(part, "}")
		name, form, _ := strings.Cut(inner, "=")
		if form == "**" {
			b.wild = append(b.wild, name)
		}
		out.WriteString("{" + name + "}" + after)
	}
	b.path = out.String()
	return b
}

// params are the names of the path's parameters, in their order.
func (b binding) params() []string { return names(b.path) }

func names(path string) []string {
	var names []string
	for _, part := range strings.Split(path, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		names = append(names, name)
	}
	return names
}

// comment is the text above a descriptor, its lines joined to paragraphs.
func comment(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		paragraphs = append(paragraphs, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(slices.DeleteFunc(paragraphs, func(p string) bool { return p == "" }), "\n\n")
}
