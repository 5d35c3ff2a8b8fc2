package prompts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// world is a state and the set that it comes to.
type world struct {
	t     rapid.TB
	state recordtest.State
	set   *prompts.Set
}

func newWorld(t rapid.TB) *world { return &world{t: t, set: prompts.New()} }

// run runs an operation and commits it.
func (w *world) run(op func(tx *record.Txn) error) error {
	w.t.Helper()
	tx := record.NewTxn(time.Unix(1_700_000_000, 0), "ada")
	if err := op(tx); err != nil {
		return err
	}
	return w.commit(tx)
}

func (w *world) commit(tx *record.Txn) error {
	w.t.Helper()
	changes, _, err := w.state.Commit(tx)
	if err != nil {
		return err
	}
	var broken []error
	if w.set, broken = w.set.With(changes); len(broken) > 0 {
		w.t.Fatal(broken[0])
	}
	return nil
}

func (w *world) create(org id.Organization, name, text string) (*prompts.Prompt, error) {
	var made *prompts.Prompt
	pid := id.NewUUID()
	err := w.run(func(tx *record.Txn) (err error) {
		made, _, err = w.set.Create(tx, prompts.Prompt{Head: resource.Head{ID: pid, Name: name, Organization: org}}, content(text))
		return err
	})
	return made, err
}

// make creates a prompt, with a name of its own if it has none, and returns it as the set has it.
func (w *world) make(p prompts.Prompt, c prompts.Content) (*prompts.Prompt, *prompts.Version) {
	w.t.Helper()
	p.ID = id.NewUUID()
	if p.Name == "" {
		p.Name = "prompt of " + p.ID
	}
	err := w.run(func(tx *record.Txn) (err error) {
		_, _, err = w.set.Create(tx, p, c)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.get(p.ID)
}

// get returns a prompt with its latest version.
func (w *world) get(ref string) (*prompts.Prompt, *prompts.Version) {
	w.t.Helper()
	p, err := w.set.Find(nil, "prompt_id", ref, everybody)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := w.set.Version(p, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, v
}

// change runs an operation on a prompt that is found in its transaction.
func (w *world) change(ref string, op func(tx *record.Txn, p *prompts.Prompt) error) error {
	w.t.Helper()
	return w.run(func(tx *record.Txn) error {
		p, err := w.set.Find(tx, "name", ref, everybody)
		if err != nil {
			return err
		}
		return op(tx, p)
	})
}

func (w *world) update(ref, text string) error {
	return w.run(func(tx *record.Txn) error {
		p, err := w.set.Find(tx, "name", ref, everybody)
		if err != nil {
			return err
		}
		_, _, err = w.set.Update(tx, p, *p, content(text), 0)
		return err
	})
}

func content(text string) prompts.Content {
	return prompts.Content{Messages: []prompts.Message{{Role: "system", Content: text}}}
}

// everybody may see every prompt; member is of one organization.
var everybody = resource.Who{MaySee: func(id.Organization) bool { return true }}

func member(org id.Organization) resource.Who {
	return resource.Who{Organization: org, MaySee: func(o id.Organization) bool { return o == "" || o == org }}
}

func code(err error) string {
	if err == nil {
		return "ok"
	}
	return fault.From(err).Code
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	made, err := w.create("acme", "greeting", "Hello {{ name }}.")
	if err != nil {
		t.Fatal(err)
	}
	for i := 2; i <= 5; i++ {
		if err := w.update("greeting", fmt.Sprintf("Version %d for {{ who }}.", i)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.set.Find(nil, "prompt_id", made.ID, everybody)
	if err != nil || p.Latest != 5 {
		t.Fatalf("%v, %v", p, err)
	}
	first, err := w.set.Version(p, 1)
	if err != nil || first.Messages[0].Content != "Hello {{ name }}." || !slices.Equal(first.Variables, []string{"name"}) {
		t.Errorf("version 1 is %v (%v)", first, err)
	}
	latest, err := w.set.Version(p, 0)
	if err != nil || latest.Number != 5 {
		t.Errorf("the latest is %v (%v)", latest, err)
	}
	got, err := w.set.Compose(prompts.Choice{Prompt: p, Version: latest}, jsontext.Value(`{"who":"{{ you }}"}`))
	if err != nil || string(got.Before[0].Content) != `"Version 5 for {{ you }}."` {
		t.Errorf("rendered %v (%v)", got, err)
	}
	var numbers []uint32
	for _, v := range w.set.Versions(p) {
		numbers = append(numbers, v.Number)
	}
	if diff := cmp.Diff([]uint32{5, 4, 3, 2, 1}, numbers); diff != "" {
		t.Error(diff)
	}
	if _, err := w.set.Version(p, 6); code(err) != "prompt_version_not_found" {
		t.Errorf("version 6: %v", err)
	}
}

// TestNames: unique in an organization and among those of none; found first there;
// not to be told from what is not there where they are not for who asks.
func TestNames(t *testing.T) {
	w := newWorld(t)
	ids := map[id.Organization]string{}
	for _, org := range []id.Organization{"acme", "globex", ""} {
		p, err := w.create(org, "greeting", "x")
		if err != nil {
			t.Fatalf("in %q: %v", org, err)
		}
		ids[org] = p.ID
		if _, err := w.create(org, "greeting", "x"); code(err) != "already_exists" {
			t.Errorf("twice in %q: %v", org, err)
		}
	}
	for _, name := range []string{"", "a/b", "..", "x\x00", id.NewUUID()} {
		if _, err := w.create("acme", name, "x"); code(err) != "invalid_value" {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	find := func(ref string, who resource.Who) string {
		p, err := w.set.Find(nil, "prompt_id", ref, who)
		if err != nil {
			return code(err)
		}
		return string(p.Organization)
	}
	if got := find("greeting", member("acme")); got != "acme" {
		t.Errorf("a member of acme finds %q", got)
	}
	if got := find("greeting", member("initech")); got != "" {
		t.Errorf("a member of another organization finds %q", got)
	}
	other, err1 := w.set.Find(nil, "prompt_id", ids["globex"], member("acme"))
	none, err2 := w.set.Find(nil, "prompt_id", id.NewUUID(), member("acme"))
	if other != nil || none != nil || err1.Error() != err2.Error() {
		t.Errorf("another's prompt is told from none: %v, %v", err1, err2)
	}
	if _, err := w.create("globex", "single", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.create("acme", "double", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.create("globex", "double", "x"); err != nil {
		t.Fatal(err)
	}
	if got := find("single", everybody); got != "globex" {
		t.Errorf("an admin finds %q", got)
	}
	if got := find("double", everybody); got != "ambiguous_name" {
		t.Errorf("an admin finds %q", got)
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	p, err := w.create("acme", "greeting", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.update(p.ID, "y"); err != nil {
		t.Fatal(err)
	}
	err = w.run(func(tx *record.Txn) error {
		found, err := w.set.Find(tx, "name", "greeting", everybody)
		if err == nil {
			w.set.Delete(tx, found)
		}
		return err
	})
	if err != nil || w.set.Len() != 0 {
		t.Fatalf("%d prompts, %v", w.set.Len(), err)
	}
	if left := w.set.Versions(p); len(left) > 0 {
		t.Errorf("%d versions are left", len(left))
	}
	again, err := w.create("acme", "greeting", "z")
	if err != nil || again.ID == p.ID {
		t.Errorf("made again: %v, %v", again, err)
	}
	if v := w.set.Versions(again); len(v) != 1 || v[0].Messages[0].Content != "z" {
		t.Errorf("it has %v", v)
	}
}

// TestRefusedTemplates: what is wrong is refused when it is saved, with the place.
func TestRefusedTemplates(t *testing.T) {
	w := newWorld(t)
	_, err := w.create("", "a", "fine\n{% include 'x' %}")
	f := fault.From(err)
	if f.Param != "messages[0].content" || f.Code != "invalid_template" {
		t.Errorf("%v", err)
	}
}

// TestVariablesAreCompleted: a variable that the content uses and the author did not list is
// added after those that were listed.
func TestVariablesAreCompleted(t *testing.T) {
	w := newWorld(t)
	c := content("{{ x }} {{ y }}")
	c.Variables = []string{"z", "y"}
	c.Messages = append(c.Messages, prompts.Message{Role: prompts.RolePlaceholder, Name: "history"}, prompts.Message{Role: prompts.RolePlaceholder, Name: "messages"})
	p, v := w.make(prompts.Prompt{}, c)
	if diff := cmp.Diff([]string{"z", "y", "x", "history"}, v.Variables); diff != "" {
		t.Error(diff)
	}
	if p.Latest != 1 || len(c.Variables) != 2 {
		t.Errorf("the latest is %d; the caller's list is %v", p.Latest, c.Variables)
	}
}

// TestRacesLoseNothing: whatever the order in which updates are decided and
// committed, versions are dense and those that were committed are there.
func TestRacesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		if _, err := w.create("", "p", "0"); err != nil {
			t.Fatal(err)
		}
		var waiting []*record.Txn
		var texts, kept []string
		kept = append(kept, "0")
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(waiting) == 0 || rapid.Bool().Draw(t, "decide") {
				tx := record.NewTxn(time.Unix(1_700_000_000, 0), "ada")
				p, err := w.set.Find(tx, "name", "p", everybody)
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprint(i + 1)
				if _, _, err := w.set.Update(tx, p, *p, content(text), 0); err != nil {
					t.Fatal(err)
				}
				waiting, texts = append(waiting, tx), append(texts, text)
				continue
			}
			n := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
			if err := w.commit(waiting[n]); err == nil {
				kept = append(kept, texts[n])
			} else if code(err) != record.CodeStale {
				t.Fatal(err)
			}
			waiting, texts = slices.Delete(waiting, n, n+1), slices.Delete(texts, n, n+1)
		}
		p, err := w.set.Find(nil, "name", "p", everybody)
		if err != nil || int(p.Latest) != len(kept) {
			t.Fatalf("%v, %v; %d were committed", p, err, len(kept))
		}
		for i, want := range kept {
			v, err := w.set.Version(p, uint32(i+1))
			if err != nil || v.Messages[0].Content != want {
				t.Fatalf("version %d is %v (%v), want %s", i+1, v, err, want)
			}
		}
	})
}
