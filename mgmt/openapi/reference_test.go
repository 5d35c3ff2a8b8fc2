package openapi_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"

	"github.com/modelgateway/modelgateway/mgmt/openapi"
)

// gatewayDocument is the description of this gateway's API.
func gatewayDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../proto/gen/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type show func(w http.ResponseWriter, r *http.Request) error

func get(t *testing.T, part show, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	if err := part(w, r); err != nil {
		t.Fatal(err)
	}
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	in := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		in = z
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The document is sent as it is, compressed for clients that accept that, and not again to
// clients that have it.
func TestDocument(t *testing.T) {
	doc := gatewayDocument(t)
	f := openapi.New(doc)
	plain := get(t, f.Document)
	tag := plain.Header.Get("ETag")
	if body(t, plain) != doc || plain.Header.Get("Content-Type") != "application/json" || tag == "" {
		t.Errorf("not the document: %v", plain.Header)
	}
	for _, tc := range []struct {
		name   string
		header []string
		status int
		packed bool
	}{
		{"gzip", []string{"Accept-Encoding", "br, gzip"}, 200, true},
		{"gzip weighted", []string{"Accept-Encoding", "GZIP;q=0.5"}, 200, true},
		{"gzip refused", []string{"Accept-Encoding", "gzip;q=0, identity"}, 200, false},
		{"gzip refused in full", []string{"Accept-Encoding", "gzip; q=0.000"}, 200, false},
		{"it is there", []string{"If-None-Match", `"other", ` + tag}, 304, false},
		{"anything is there", []string{"If-None-Match", "*"}, 304, false},
		{"another is there", []string{"If-None-Match", `"other"`}, 200, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp := get(t, f.Document, tc.header...)
			text := body(t, resp)
			if resp.StatusCode != tc.status || (resp.Header.Get("Content-Encoding") == "gzip") != tc.packed || resp.Header.Get("ETag") != tag {
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
			if want := map[bool]string{true: doc, false: ""}[tc.status == http.StatusOK]; text != want {
				t.Errorf("%d bytes, want %d", len(text), len(want))
			}
		})
	}
}

// An invalid document is an error, which the caller renders.
func TestBroken(t *testing.T) {
	w := httptest.NewRecorder()
	if err := openapi.New("{").Page(w, httptest.NewRequest(http.MethodGet, "/docs", nil)); err == nil || w.Body.Len() > 0 || w.Code != http.StatusOK {
		t.Errorf("%v, %d bytes were sent", err, w.Body.Len())
	}
}

// void returns the elements without an end tag.
func void(name string) bool { return name == "meta" || name == "br" || name == "link" || name == "img" }

// The page is valid HTML: every element ends where it should, ids are unique, and links within
// it have targets. The browser runs and loads nothing.
func TestPageIsSound(t *testing.T) {
	resp := get(t, openapi.New(gatewayDocument(t)).Page)
	page := body(t, resp)
	var open []string
	ids, links := map[string]bool{}, map[string]bool{}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.StartTagToken:
			if !void(token.Data) {
				open = append(open, token.Data)
			}
			if token.Data == "script" || token.Data == "link" || token.Data == "img" || token.Data == "iframe" {
				t.Errorf("the page has a %s", token.Data)
			}
			for _, a := range token.Attr {
				switch {
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("the identity %s is there twice", a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href":
					links[a.Val] = true
				case a.Key == "style", strings.HasPrefix(a.Key, "on"):
					t.Errorf("a %s has %s, which the page's policy forbids", token.Data, a.Key)
				}
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> within %v", token.Data, open)
			}
			open = open[:len(open)-1]
		case html.ErrorToken, html.TextToken, html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
		}
	}
	if len(open) > 0 {
		t.Errorf("%v do not end", open)
	}
	for link := range links {
		if at, within := strings.CutPrefix(link, "#"); within && !ids[at] || !within && link != "/openapi.json" {
			t.Errorf("the link %s leads nowhere", link)
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %s", policy)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	if style == nil || !strings.Contains(policy, "'sha256-"+digest(style[1])+"'") {
		t.Error("the policy does not let the style through")
	}
	t.Logf("%d bytes, %d identities", len(page), len(ids))
}

// Every operation is on the page, with its own anchor or as another route of one.
func TestPageIsComplete(t *testing.T) {
	doc := gatewayDocument(t)
	page := body(t, get(t, openapi.New(doc).Page))
	var d struct {
		Paths map[string]map[string]struct {
			ID     string `json:"operationId"`
			SameAs string `json:"x-same-as"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(doc), &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for verb, o := range item {
			want := `<article id="` + o.ID + `">`
			if o.SameAs != "" {
				want = "<code>" + strings.ToUpper(verb) + " " + path + "</code>"
			}
			if !strings.Contains(page, want) {
				t.Errorf("%s %s: the page has no %s", verb, path, want)
			}
		}
	}
	if len(d.Paths) < 20 {
		t.Errorf("the document has %d paths: this proves nothing", len(d.Paths))
	}
}

// Texts of a document are shown as text, whatever they contain.
func TestPageOfDocument(t *testing.T) {
	page := body(t, get(t, openapi.New(`{
		"info": {"title": "<b>Things</b>", "version": "1", "description": "One.\n\nTwo."},
		"tags": [{"name": "Things", "description": "Keeps <things>."}],
		"paths": {
			"/thing/{id}": {"put": {"operationId": "putThing", "tags": ["Things"], "summary": "Puts a thing",
				"parameters": [{"name": "id", "in": "path", "required": true, "example": "lamp", "schema": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8}},
					{"name": "sure", "in": "query", "required": true, "schema": {"type": "string", "const": "yes"}}],
				"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}, "example": {"note": "it's </code>"}}}},
				"responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
					"404": {"$ref": "#/components/responses/None"}}}},
			"/things/{id}": {"put": {"operationId": "putThing2", "x-same-as": "putThing", "tags": ["Things"], "security": []}}
		},
		"components": {
			"responses": {"None": {"description": "There is none."}},
			"schemas": {"Thing": {"type": "object", "required": ["note"], "properties": {
				"note": {"type": "string", "description": "A <note>."},
				"mode": {"type": ["string", "null"], "enum": ["on", "off", null]},
				"parts": {"type": "array", "maxItems": 3, "items": {"anyOf": [{"$ref": "#/components/schemas/Part"}, {"type": "null"}]}},
				"limits": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}}},
				"Part": {"type": "object", "properties": {"weight": {"type": "number", "exclusiveMinimum": 0}, "whole": {"$ref": "#/components/schemas/Thing"}}}}
		}}`).Page))
	for _, want := range []string{
		"<title>&lt;b&gt;Things&lt;/b&gt; API</title>", "<p>One.</p>\n<p>Two.</p>", "Keeps &lt;things&gt;.", "A &lt;note&gt;.",
		"&#34;it&#39;\\&#39;&#39;s &lt;/code&gt;&#34;",
		"curl -X PUT &#34;$GATEWAY_URL/thing/lamp?sure=yes&#34;",
		"≤ 8 characters; like ^[a-z]&#43;$", "one of on, off", "list of object", "≤ 3 items", "map of integer",
		`<span class="name">parts[].weight</span>`, "&gt; 0",
		"There is none.", "<code>PUT /things/{id}</code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "parts[].whole.parts") {
		t.Error("a schema within itself is shown again")
	}
	if t.Failed() {
		t.Log(page)
	}
}

func digest(style string) string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}
