package mgmt

import (
	"strings"
	"testing"
)

// TestUnchangedPrompts: a prompt that the caller has is not sent again. What a key shows changes
// without its revision, so it is.
func TestUnchangedPrompts(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":"x"}]}`, "200"}})
	first := ask(t, s, "GET /prompts/p", "", nil)
	tag := first.header.Get("ETag")
	if tag == "" {
		t.Fatal("a prompt has no ETag")
	}
	for header, want := range map[string]int{tag: 304, "W/" + tag: 304, `"1", ` + tag: 304, "*": 304, `"1"`: 200, "": 200} {
		a := ask(t, s, "GET /prompts/p", "", with("If-None-Match", header))
		if a.status != want || a.header.Get("ETag") != tag || want == 304 && (a.body != "" || a.header.Get("Content-Type") != "") || want == 200 && a.body != first.body {
			t.Errorf("%s: %d %v %s, want %d", header, a.status, a.header, a.body, want)
		}
	}
	play(t, s, []step{{"", "PUT /prompts/p/labels/production", `{"version":1}`, "200"}})
	if a := ask(t, s, "GET /prompts/p", "", with("If-None-Match", tag)); a.status != 200 || !strings.Contains(a.body, "production") {
		t.Errorf("a label has moved, and the caller gets %d %s", a.status, a.body)
	}
	made := ask(t, s, "POST /key/generate", `{"key":"sk-first-0123456789abcdef"}`, nil)
	if a := ask(t, s, "GET /key/info?key=sk-first-0123456789abcdef", "", with("If-None-Match", made.header.Get("ETag"))); a.status != 200 {
		t.Errorf("a key: %d", a.status)
	}
	if a := ask(t, s, "PUT /prompts/p", `{"messages":[{"role":"user","content":"y"}]}`, with("If-None-Match", "*")); a.status != 200 || a.body == "" {
		t.Errorf("a change: %d %s", a.status, a.body)
	}
}

// TestDiffAsText: the difference of two versions is a file for patch and for people.
func TestDiffAsText(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":"one"}]}`, "200"},
		{"", "PUT /prompts/p", `{"messages":[{"role":"user","content":"two"}]}`, "200"},
		{"", "GET /prompts/p/diff?format=xml", "", "422 invalid_value format"},
		{"", "GET /prompts/none/diff?format=text", "", "404 prompt_not_found prompt_id"},
	})
	a := ask(t, s, "GET /prompts/p/diff?format=text", "", nil)
	if a.status != 200 || a.header.Get("Content-Type") != "text/plain; charset=utf-8" || a.body != "--- p@1\n+++ p@2\n@@ -1,2 +1,2 @@\n [user]\n-one\n+two" {
		t.Errorf("%d %v %q", a.status, a.header, a.body)
	}
	if a := ask(t, s, "GET /prompts/p/diff?format=json", "", nil); a.json(t)["text"] == "" {
		t.Error(a.body)
	}
	if a := ask(t, s, "GET /prompts/p/diff?from=1&to=1&format=text", "", nil); a.status != 200 || a.body != "" {
		t.Errorf("no difference: %d %q", a.status, a.body)
	}
}

// TestRenderKeepsValues: whole numbers stay whole, and members of objects in their order.
func TestRenderKeepsValues(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":"{{ n }} {{ n * 2 }} {{ f }} {{ o }} {{ big }}"}]}`, "200"}})
	a := ask(t, s, "POST /prompts/p/render", `{"variables":{"n":3,"f":3.0,"o":{"z":1,"a":[2]},"big":12345678901234567890}}`, nil)
	if !strings.Contains(a.body, `"3 6 3.0 {'z': 1, 'a': [2]} 12345678901234567890"`) {
		t.Error(a.body)
	}
}
