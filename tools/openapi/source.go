package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	// Its options are in the descriptors.
	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/modelgateway/modelgateway/proto/gen/options/v1"
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

// rule is one entry of http.yaml; google.api.HttpRule has its meaning.
type rule struct {
	Selector     string `yaml:"selector"`
	Get          string `yaml:"get"`
	Put          string `yaml:"put"`
	Post         string `yaml:"post"`
	Delete       string `yaml:"delete"`
	Patch        string `yaml:"patch"`
	Body         string `yaml:"body"`
	ResponseBody string `yaml:"response_body"`
	Additional   []rule `yaml:"additional_bindings"`
}

func load(files *protoregistry.Files, rest, base string) (*source, error) {
	src := &source{files: files}
	text, err := os.ReadFile(rest) //nolint:gosec // the developer names it
	if err != nil {
		return nil, err
	}
	var page struct {
		Type    string `yaml:"type"`
		Version int    `yaml:"config_version"`
		HTTP    struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"http"`
	}
	if err := yaml.UnmarshalWithOptions(text, &page, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", rest, err)
	}
	for _, r := range page.HTTP.Rules {
		c, err := src.call(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", rest, r.Selector, err)
		}
		src.calls = append(src.calls, c)
	}
	if text, err = os.ReadFile(base); err != nil { //nolint:gosec // the developer names it
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
	return src, nil
}

func (s *source) call(r rule) (call, error) {
	d, err := s.files.FindDescriptorByName(protoreflect.FullName(r.Selector))
	if err != nil {
		return call{}, err
	}
	m, ok := d.(protoreflect.MethodDescriptor)
	if !ok {
		return call{}, errors.New("that is no rpc")
	}
	c := call{method: m}
	for _, one := range append([]rule{r}, r.Additional...) {
		b, err := one.binding()
		if err != nil {
			return c, err
		}
		b.answer = cmp.Or(b.answer, r.ResponseBody)
		c.bindings = append(c.bindings, b)
	}
	return c, nil
}

func (r rule) binding() (binding, error) {
	b := binding{body: r.Body, answer: r.ResponseBody}
	for _, v := range []struct{ verb, path string }{
		{http.MethodGet, r.Get},
		{http.MethodPut, r.Put},
		{http.MethodPost, r.Post},
		{http.MethodDelete, r.Delete},
		{http.MethodPatch, r.Patch},
	} {
		if v.path == "" {
			continue
		}
		if b.path != "" {
			return b, errors.New("a rule has one method")
		}
		b.verb, b.path = v.verb, v.path
	}
	if b.path == "" {
		return b, errors.New("a rule without a method")
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
	return b, nil
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
