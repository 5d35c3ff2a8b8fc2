package openaitest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/modelgateway/modelgateway/dataplane"
)

// Judge knows OpenAI's schemas. It compiles each when it is first needed. It is safe for
// concurrent use.
type Judge struct {
	paths map[string]any // of the document

	mu struct {
		sync.Mutex
		compiler *jsonschema.Compiler
		compiled map[string]*jsonschema.Schema            // by its place in the document
		events   map[string]map[string]*jsonschema.Schema // of a union, by the event's type
		seen     map[[sha256.Size]byte][]string           // problems of what was judged before
	}
}

// New returns a judge. It panics if the document, which is a part of this package, is damaged.
func New() *Judge {
	j, err := newJudge(corrections())
	if err != nil {
		panic(err)
	}
	return j
}

// newJudge returns a judge by the document with these corrections.
func newJudge(list []correction) (*Judge, error) {
	doc, err := document(list)
	if err != nil {
		return nil, err
	}
	j := &Judge{}
	j.paths, _ = doc["paths"].(map[string]any)
	j.mu.compiler = jsonschema.NewCompiler()
	j.mu.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := j.mu.compiler.AddResource(documentURL, doc); err != nil {
		return nil, err
	}
	j.mu.compiled = map[string]*jsonschema.Schema{}
	j.mu.events = map[string]map[string]*jsonschema.Schema{}
	j.mu.seen = map[[sha256.Size]byte][]string{}
	return j, nil
}

// Knows reports whether OpenAI's API has the operation at a path of the gateway or of a provider:
// with or without a version, a query, or a model in it.
func (j *Judge) Knows(path string) bool {
	_, ok := j.paths[OperationPath(path)]
	return ok
}

// PathOf returns the path of the first operation in a language of callers; empty if there is none.
func PathOf(language string) string {
	for _, o := range dataplane.Operations() {
		if o.Language == language {
			return o.Path
		}
	}
	return ""
}

// SameOperation reports whether two paths are of the same operation: then the gateway passes on what
// the other side has written.
func SameOperation(a, b string) bool { return OperationPath(a) == OperationPath(b) }

// Request returns the problems of a request's body. A path that OpenAI's API lacks is one.
func (j *Judge) Request(path, media string, body []byte) []string {
	path = OperationPath(path)
	kind, boundary := mediaType(media)
	place := pointer("paths", path, "post", "requestBody", "content", kind, "schema")
	s, problem := j.schema(place)
	if problem != "" {
		return []string{problem}
	}
	return j.once(place+"\x00"+boundary, body, func() []string {
		if boundary != "" {
			return formProblems(s, boundary, body)
		}
		return bodyProblems(s, body)
	})
}

// Response returns the problems of a response: of its body, or of each event of a stream. A stream may
// be cut off after an event. Sound and plain text have no schema.
func (j *Judge) Response(path string, r Reply) []string {
	path, body := OperationPath(path), r.Body
	kind, _ := mediaType(r.Media)
	switch {
	case r.Status >= http.StatusBadRequest:
		return j.body(errorPlace(), body)
	case !j.Knows(path):
		return []string{"OpenAI's API has no " + path}
	case kind == mediaEvents:
		return j.stream(path, body)
	case kind != mediaJSON:
		return nil
	}
	method := "post"
	if path == modelsPath {
		method = "get"
	}
	return j.body(pointer("paths", path, method, "responses", "200", "content", mediaJSON, "schema"), body)
}

// Media types of bodies that have a schema.
const (
	mediaJSON   = "application/json"
	mediaEvents = "text/event-stream"
	mediaForm   = "multipart/form-data"
)

// modelsPath lists the models: the only operation that is not a POST.
const modelsPath = "/models"

// errorPlace is where the schema of the body of errors is.
func errorPlace() string { return pointer("components", "schemas", "ErrorResponse") }

// body returns the problems of a body by the schema at a place of the document.
func (j *Judge) body(place string, body []byte) []string {
	s, problem := j.schema(place)
	if problem != "" {
		return []string{problem}
	}
	return j.once(place, body, func() []string { return bodyProblems(s, body) })
}

// once judges what was not judged before.
func (j *Judge) once(place string, body []byte, judge func() []string) []string {
	key := sha256.Sum256(slices.Concat([]byte(place), []byte{0}, body))
	j.mu.Lock()
	problems, ok := j.mu.seen[key]
	j.mu.Unlock()
	if ok {
		return problems
	}
	problems = judge()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mu.seen[key] = problems
	return problems
}

// schema returns the schema at a place of the document, or why there is none.
func (j *Judge) schema(place string) (s *jsonschema.Schema, problem string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.schemaLocked(place)
}

func (j *Judge) schemaLocked(place string) (s *jsonschema.Schema, problem string) {
	if s := j.mu.compiled[place]; s != nil {
		return s, ""
	}
	s, err := j.mu.compiler.Compile(documentURL + place)
	if err != nil {
		return nil, fmt.Sprintf("OpenAI's document has no schema for it: %v", err)
	}
	j.mu.compiled[place] = s
	return s, ""
}

// bodyProblems returns the problems of a JSON body.
func bodyProblems(s *jsonschema.Schema, body []byte) []string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{err.Error()}
	}
	return valueProblems(s, v)
}

// OperationPath returns the path of an operation as the document has it.
func OperationPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if _, rest, ok := dataplane.PathModel(path); ok {
		path = rest
	}
	if at := strings.Index(path, "/v1/"); at >= 0 {
		path = path[at+len("/v1"):] // a provider may have a prefix
	}
	return path
}

// pointer returns a reference to a place of the document.
func pointer(names ...string) string {
	var out strings.Builder
	out.WriteByte('#')
	for _, name := range names {
		out.WriteByte('/')
		out.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return out.String()
}
