package prompts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
)

func include(name string) string { return `{% include "prompt:` + name + `" %}` }

// says renders a prompt for a user of acme.
func (w *world) says(ref, variables string) string {
	w.t.Helper()
	c, err := w.set.Resolve(member("acme"), ref, 0, "", "ada")
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.set.Compose(c, jsontext.Value(variables))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out.Before[0].Content)
}

// TestIncludes: a template includes prompts of its organization before everybody's, by their
// latest version, by a version, or by a label, as the Set has them now.
func TestIncludes(t *testing.T) {
	w := newWorld(t)
	make := func(org id.Organization, name, text string) {
		t.Helper()
		if _, err := w.create(org, name, text); err != nil {
			t.Fatal(err)
		}
	}
	make("", "tone", "Be kind, {{ name }}.")
	make("globex", "tone", "No.")
	make("acme", "support", "Help. "+include("tone")+" "+include("tone@1"))
	if got := w.says("support", `{"name":"Ada"}`); got != `"Help. Be kind, Ada. Be kind, Ada."` {
		t.Error(got)
	}
	tone, err := w.set.Find(nil, "", "tone", member("acme"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.update(tone.ID, "Be brief."); err != nil {
		t.Fatal(err)
	}
	if got := w.says("support", `{"name":"Ada"}`); got != `"Help. Be brief. Be kind, Ada."` {
		t.Errorf("after a new version: %s", got)
	}
	make("acme", "tone", "Be ours.")
	if got := w.says("support", `{}`); got != `"Help. Be ours. Be ours."` {
		t.Errorf("with a prompt of the organization: %s", got)
	}
	if err := w.label(w.mine("tone"), "formal", prompts.Share{Version: 1, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if err := w.update("support", include("tone@formal")); err != nil {
		t.Fatal(err)
	}
	if got := w.says("support", `{}`); got != `"Be ours."` {
		t.Errorf("by a label: %s", got)
	}
	make("acme", "greet", include("support")+"{{ a }}")
	c, err := w.set.Resolve(member("acme"), "greet", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	unused, missing, err := w.set.Unmatched(c, jsontext.Value(`{"b":1}`))
	if err != nil || fmt.Sprint(unused, missing) != "[b] [a]" {
		t.Errorf("unused %v, missing %v (%v)", unused, missing, err)
	}
}

// mine returns the id of a prompt of acme.
func (w *world) mine(name string) string {
	w.t.Helper()
	p, err := w.set.Find(nil, "", name, member("acme"))
	if err != nil {
		w.t.Fatal(err)
	}
	return p.ID
}

// TestRejectedIncludes: what could not be rendered is not stored.
func TestRejectedIncludes(t *testing.T) {
	w := newWorld(t)
	rejected := func(name, text, want string) {
		t.Helper()
		_, err := w.create("acme", name, text)
		if _, known := w.set.Find(nil, "", name, member("acme")); known == nil {
			err = w.update(name, text)
		}
		if f := fault.From(err); f == nil || f.Code != "invalid_template" || f.Param != "messages" || !strings.Contains(f.Detail, want) {
			t.Errorf("%s %s: %v, want %s", name, text, err, want)
		}
	}
	for i := range 6 {
		text := "end"
		if i > 0 {
			text = include(fmt.Sprint("p", i-1))
		}
		if _, err := w.create("acme", fmt.Sprint("p", i), text); err != nil {
			t.Fatal(i, err)
		}
	}
	if got := w.says("p5", `{}`); got != `"end"` {
		t.Error(got)
	}
	w.make(prompts.Prompt{}, prompts.Content{Messages: []prompts.Message{{Role: "user", Content: "a"}, {Role: "user", Content: "b"}}})
	if _, err := w.create("acme", "history", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.create("globex", "secret", "x"); err != nil {
		t.Fatal(err)
	}
	rejected("p6", include("p5"), "6 prompts in a row")
	rejected("self", include("self"), "include itself")
	rejected("p0", include("p3"), "include itself")
	rejected("x", include("nobody"), "no such prompt")
	rejected("x", include("secret"), "no such prompt")
	rejected("x", include("p0@7"), "no such version")
	rejected("x", include("p0@staging"), "no such label")
	two, _ := w.make(prompts.Prompt{}, prompts.Content{Messages: []prompts.Message{{Role: "user", Content: "a"}, {Role: "user", Content: "b"}}})
	rejected("x", include(two.ID), "no single message")

	// A label must not close a cycle either.
	if err := w.label("p0", "stable", prompts.Share{Version: 1, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.create("acme", "outer", include("p0@stable")); err != nil {
		t.Fatal(err)
	}
	if err := w.update("p0", "no include"); err != nil {
		t.Fatal(err)
	}
	rejected("p0", include("outer"), "include itself")
}

// TestIncludedPromptsStay: a prompt that others include is not deleted, and the error names them.
func TestIncludedPromptsStay(t *testing.T) {
	w := newWorld(t)
	for _, one := range [][2]string{{"tone", "x"}, {"b", include("tone")}, {"a", include("tone@1")}} {
		if _, err := w.create("acme", one[0], one[1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.create("", "tone", "everybody's"); err != nil {
		t.Fatal(err)
	}
	mine, _ := w.get(w.mine("tone"))
	f := fault.From(w.set.CheckUnused(mine))
	if f == nil || f.Code != "prompt_in_use" || f.HTTPStatus() != 409 || fmt.Sprint(f.Details["included_by"]) != "[a b]" {
		t.Errorf("%v", f)
	}
	for p := range w.set.Of("") {
		if err := w.set.CheckUnused(p); err != nil {
			t.Errorf("nobody includes everybody's: %v", err)
		}
	}
	for _, name := range []string{"a", "b"} {
		err := w.change(name, func(tx *record.Txn, p *prompts.Prompt) error {
			w.set.Delete(tx, p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.set.CheckUnused(mine); err != nil {
		t.Errorf("nobody includes it any more: %v", err)
	}
}
