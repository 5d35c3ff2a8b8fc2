package vertex_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/openai"
)

// document is Google's discovery document, reduced to what the driver calls.
type document struct {
	Methods []struct {
		Path    string `json:"path"`
		Request string `json:"request"`
	} `json:"methods"`
	Schemas map[string]*schema `json:"schemas"`
}

// schema is the form of a value in a discovery document.
type schema struct {
	Type       string             `json:"type"`
	Ref        string             `json:"$ref"`
	Format     string             `json:"format"`
	Enum       []string           `json:"enum"`
	ReadOnly   bool               `json:"readOnly"`
	Items      *schema            `json:"items"`
	Additional *schema            `json:"additionalProperties"`
	Properties map[string]*schema `json:"properties"`
}

func readDocument(t *testing.T) *document {
	t.Helper()
	text, err := os.ReadFile("testdata/aiplatform.json")
	if err != nil {
		t.Fatal(err)
	}
	var out document
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// request returns the form of the requests of a path; nil if no method has the path.
func (d *document) request(path string) *schema {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "?")
	for _, m := range d.Methods {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(m.Path), `[^/:]+`)
		if regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			return &schema{Ref: m.Request}
		}
	}
	return nil
}

// check returns what is wrong with a value at a place; nil if nothing is.
func (d *document) check(s *schema, raw jsontext.Value, at string) []string {
	if s.Ref != "" {
		s = d.Schemas[s.Ref]
	}
	wrong := func(what string) []string { return []string{at + " " + what + ": " + string(raw)} }
	switch s.Type {
	case "any":
		return nil
	case "object":
		return d.object(s, raw, at)
	case "array":
		var list []jsontext.Value
		if json.Unmarshal(raw, &list) != nil {
			return wrong("is no array")
		}
		var out []string
		for i, one := range list {
			out = append(out, d.check(s.Items, one, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return out
	case "string":
		return s.text(raw, wrong)
	case "boolean":
		if raw.Kind() != 't' && raw.Kind() != 'f' {
			return wrong("is no boolean")
		}
		return nil
	case "integer", "number":
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || s.Type == "integer" && (n != math.Trunc(n) || math.Abs(n) > math.MaxInt32) {
			return wrong("is no " + s.Type)
		}
		return nil
	}
	return wrong("has a form that the judge does not know, " + s.Type)
}

// object checks an object. What the service alone writes must not be in a request.
func (d *document) object(s *schema, raw jsontext.Value, at string) []string {
	var members map[string]jsontext.Value
	if json.Unmarshal(raw, &members) != nil {
		return []string{at + " is no object: " + string(raw)}
	}
	var out []string
	for name, value := range members {
		place := at + "." + name
		switch of := s.Properties[name]; {
		case of != nil && !of.ReadOnly:
			out = append(out, d.check(of, value, place)...)
		case of == nil && s.Additional != nil:
			out = append(out, d.check(s.Additional, value, place)...)
		default:
			out = append(out, place+" is unknown")
		}
	}
	return out
}

// text checks a value that JSON has as a text. Numbers of 64 bits are texts or numbers.
func (s *schema) text(raw jsontext.Value, wrong func(string) []string) []string {
	var text string
	notText := json.Unmarshal(raw, &text) != nil
	switch {
	case s.Format == "int64" || s.Format == "uint64":
		if _, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64); err != nil {
			return wrong("is no " + s.Format)
		}
	case notText:
		return wrong("is no text")
	case s.Enum != nil && !slices.Contains(s.Enum, text):
		return wrong("is none of the words")
	case s.Format == "byte":
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			if _, err := base64.URLEncoding.DecodeString(text); err != nil {
				return wrong("is no base64")
			}
		}
	}
	return nil
}

// Every request of the golden files goes to a method that Vertex AI has, and has the form of its requests. Those to models of other
// publishers are of these publishers' forms, which other tests judge.
func TestRequestsFitTheDiscoveryDocument(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	files, err := filepath.Glob("../provider/testdata/*/vertex_ai/*.txtar")
	more, err2 := filepath.Glob("../provider/testdata/vertex_ai/*.txtar")
	if err != nil || err2 != nil || len(files) < 30 || len(more) < 30 {
		t.Fatalf("there are %d and %d golden files: %v, %v", len(files), len(more), err, err2)
	}
	judged := 0
	for _, file := range append(files, more...) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range archive.Files {
			if section.Name != "upstream.http" {
				continue
			}
			head, body, _ := strings.Cut(string(section.Data), "\n\n")
			line, _, _ := strings.Cut(head, "\n")
			path := strings.TrimPrefix(line, "POST ")
			if strings.HasPrefix(path, "/v1beta1/") {
				path = strings.Replace(path, "/v1beta1/", "/v1/", 1)
			}
			at := strings.Index(path, "/v1/") // behind the path of a proxy
			form := d.request(path[max(at, 0):])
			if form == nil {
				t.Errorf("%s: no method has the path %s", file, path)
				continue
			}
			if strings.Contains(form.Ref, "Raw") || form.Ref == "GoogleApiHttpBody" {
				continue
			}
			for _, problem := range d.check(form, jsontext.Value(body), "request") {
				t.Errorf("%s: %s", file, problem)
			}
			judged++
		}
	}
	if judged < 50 {
		t.Errorf("only %d requests were judged", judged)
	}
}

// The chats of Gemini's golden files have the form of Vertex AI's requests, too, and so have the counts of their tokens.
func TestChatsFitTheDiscoveryDocument(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	files, err := filepath.Glob("../provider/testdata/gemini/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range archive.Files {
			if section.Name != "ask.json" {
				continue
			}
			for _, model := range []string{"gemini-2.5-flash", "gemini-3-flash-preview", "gemini-3.8-flash"} {
				ask, err := openai.Dialect{}.DecodeRequest(section.Data)
				if err != nil {
					continue // refused, on purpose
				}
				body, err := gemini.Codec{Vertex: true}.Encode(ask, driver.Target{Model: model, DropParams: true, Features: gemini.Features(model)})
				if err != nil {
					continue
				}
				for _, problem := range d.check(&schema{Ref: "GoogleCloudAiplatformV1GenerateContentRequest"}, body, "request") {
					t.Errorf("%s for %s: %s", file, model, problem)
				}
				judged++
			}
		}
	}
	if judged < 150 {
		t.Errorf("only %d requests were judged", judged)
	}
}

// The judge rejects what is almost right.
func TestTheJudgeIsStrict(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	const good = `{"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"x":1}}]}],` +
		`"labels":{"a":"b"},"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"generationConfig":{"topP":0.5,"candidateCount":2,"thinkingConfig":{"thinkingLevel":"LOW"}}}`
	for _, c := range []struct{ name, old, with string }{
		{"right", "", ""},
		{"an unknown member", `"contents"`, `"serviceTier":"flex","contents"`},
		{"an unknown member of a part", `"text":"a"`, `"text":"a","type":"text"`},
		{"an unknown member of the generation", `"topP"`, `"topQ"`},
		{"a number as a text", `0.5`, `"0.5"`},
		{"a fraction", `"candidateCount":2`, `"candidateCount":2.5`},
		{"an unknown mode", `ANY`, `REQUIRED`},
		{"a level in other letters", `LOW`, `low`},
		{"data that is no base64", `AAAA`, `A*A`},
		{"a label that is a number", `{"a":"b"}`, `{"a":1}`},
		{"an object as a list", `"contents":[`, `"labels":[],"contents":[`},
	} {
		problems := d.check(&schema{Ref: "GoogleCloudAiplatformV1GenerateContentRequest"}, jsontext.Value(strings.Replace(good, c.old, c.with, 1)), "request")
		if rejected := len(problems) > 0; rejected != (c.old != "") {
			t.Errorf("%s: %v", c.name, problems)
		}
	}
	for path, known := range map[string]bool{
		"/v1/projects/p/locations/global/publishers/google/models/m:generateContent":               true,
		"/v1/projects/p/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse": true,
		"/v1/projects/p/locations/global/publishers/google/models/m:generate":                      false,
		"/v1/projects/p/publishers/google/models/m:generateContent":                                false,
		"/v1/projects/p/locations/l/publishers/google/models/m/n:generateContent":                  false,
	} {
		if (d.request(path) != nil) != known {
			t.Errorf("%s is known: %v", path, !known)
		}
	}
}
