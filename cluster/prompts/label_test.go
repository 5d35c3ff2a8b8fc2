package prompts_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// label sets a label of a prompt.
func (w *world) label(ref, name string, shares ...prompts.Share) error {
	return w.change(ref, func(tx *record.Txn, p *prompts.Prompt) error {
		_, err := w.set.SetLabel(tx, p, prompts.Label{Name: name, Shares: shares}, 0)
		return err
	})
}

// five makes a prompt with five versions.
func (w *world) five() *prompts.Prompt {
	w.t.Helper()
	if _, err := w.create("acme", "support", "1"); err != nil {
		w.t.Fatal(err)
	}
	for i := 2; i <= 5; i++ {
		if err := w.update("support", fmt.Sprint(i)); err != nil {
			w.t.Fatal(err)
		}
	}
	p, _ := w.get("support")
	return p
}

// TestResolve: which version a request gets, by what it names.
func TestResolve(t *testing.T) {
	w := newWorld(t)
	w.five()
	if err := w.label("support", "production", prompts.Share{Version: 3, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	got := func(who resource.Who, ref string, version uint32, label string) string {
		c, err := w.set.Resolve(who, ref, version, label, "ada")
		if err != nil {
			f := fault.From(err)
			return fmt.Sprintf("%d %s %s", f.HTTPStatus(), f.Code, f.Param)
		}
		if c.Version.Prompt != c.Prompt.ID {
			t.Errorf("the version is another prompt's: %v", c.Version)
		}
		return fmt.Sprintf("%d %s", c.Version.Number, c.Label)
	}
	p, _ := w.get("support")
	rows := []struct {
		who     resource.Who
		ref     string
		version uint32
		label   string
		want    string
	}{
		{member("acme"), "support", 0, "", "5 "},
		{member("acme"), p.ID, 2, "", "2 "},
		{member("acme"), "support", 0, "production", "3 production"},
		{member("acme"), "support", 0, "latest", "5 latest"},
		{member("acme"), "support", 6, "", "404 prompt_version_not_found prompt_version"},
		{member("acme"), "support", 0, "canary", "404 prompt_label_not_found prompt_label"},
		{member("acme"), "support", 3, "production", "400 invalid_value prompt_label"},
		{member("globex"), "support", 0, "", "404 prompt_not_found prompt_id"},
		{member("globex"), p.ID, 0, "canary", "404 prompt_not_found prompt_id"},
		{member("acme"), "nobody's", 9, "", "404 prompt_not_found prompt_id"},
	}
	for _, row := range rows {
		if s := got(row.who, row.ref, row.version, row.label); s != row.want {
			t.Errorf("%s version %d label %q: %s, want %s", row.ref, row.version, row.label, s, row.want)
		}
	}
	err := w.change("support", func(tx *record.Txn, p *prompts.Prompt) error {
		next := *p
		next.DefaultLabel = "production"
		_, err := w.set.Configure(tx, p, next, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := got(member("acme"), "support", 0, ""); s != "3 production" {
		t.Errorf("by the default label: %s", s)
	}
	if s := got(member("acme"), "support", 4, ""); s != "4 " {
		t.Errorf("a version in spite of the default label: %s", s)
	}
}

// TestRejectedLabels: nothing is moved by what is wrong, and the error names the field.
func TestRejectedLabels(t *testing.T) {
	w := newWorld(t)
	before := w.five()
	many := make([]prompts.Share, 11)
	for i := range many {
		many[i] = prompts.Share{Version: 1, Weight: 1}
	}
	rows := []struct {
		name   string
		shares []prompts.Share
		want   string
	}{
		{"latest", []prompts.Share{{1, 1}}, "invalid_value label"},
		{"", []prompts.Share{{1, 1}}, "invalid_value label"},
		{"Production", []prompts.Share{{1, 1}}, "invalid_value label"},
		{"a/b", []prompts.Share{{1, 1}}, "invalid_value label"},
		{"..", []prompts.Share{{1, 1}}, "invalid_value label"},
		{"7", []prompts.Share{{1, 1}}, "invalid_value label"},
		{strings.Repeat("a", 65), []prompts.Share{{1, 1}}, "invalid_value label"},
		{"a", nil, "invalid_value split"},
		{"a", many, "invalid_value split"},
		{"a", []prompts.Share{{1, 0}, {2, 0}}, "invalid_value split"},
		{"a", []prompts.Share{{1, 1}, {1, 1}}, "invalid_value split"},
		{"a", []prompts.Share{{1, math.MaxUint32}}, "invalid_value split"},
		{"a", []prompts.Share{{0, 1}}, "prompt_version_not_found version"},
		{"a", []prompts.Share{{1, 1}, {6, 1}}, "prompt_version_not_found version"},
	}
	for _, row := range rows {
		f := fault.From(w.label("support", row.name, row.shares...))
		if f == nil || f.Code+" "+f.Param != row.want {
			t.Errorf("%q %v: %v, want %s", row.name, row.shares, f, row.want)
		}
	}
	after, _ := w.get("support")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// TestLabelsEnd: a label that requests get without naming it cannot be deleted.
func TestLabelsEnd(t *testing.T) {
	w := newWorld(t)
	w.five()
	configure := func(next func(*prompts.Prompt)) error {
		return w.change("support", func(tx *record.Txn, p *prompts.Prompt) error {
			copied := *p
			next(&copied)
			_, err := w.set.Configure(tx, p, copied, 0)
			return err
		})
	}
	remove := func(name string) error {
		return w.change("support", func(tx *record.Txn, p *prompts.Prompt) error {
			_, err := w.set.DeleteLabel(tx, p, name, 0)
			return err
		})
	}
	setDefault := func(p *prompts.Prompt) { p.DefaultLabel = "production" }
	if err := configure(setDefault); code(err) != "prompt_label_not_found" {
		t.Errorf("a default label that does not exist: %v", err)
	}
	if err := w.label("support", "production", prompts.Share{Version: 1, Weight: 1}); err != nil {
		t.Fatal(err)
	}
	if err := configure(setDefault); err != nil {
		t.Fatal(err)
	}
	if err := remove("production"); code(err) != "label_in_use" {
		t.Errorf("the default label is deleted: %v", err)
	}
	if err := configure(func(p *prompts.Prompt) { p.DefaultLabel = "latest" }); err != nil {
		t.Fatal(err)
	}
	if err := remove("production"); err != nil {
		t.Error(err)
	}
	if err := remove("production"); code(err) != "prompt_label_not_found" {
		t.Errorf("deleted twice: %v", err)
	}
	if p, _ := w.get("support"); len(p.Labels) != 0 {
		t.Errorf("it still has %v", p.Labels)
	}
}

// TestSharesOfASplit: of 100,000 users each version gets its weight, to 1 %; every node gives a
// user the same version; and a change of the weights moves no user of a version that grows.
func TestSharesOfASplit(t *testing.T) {
	t.Parallel()
	const users = 100_000
	pick := func(l *prompts.Label, prompt string) []uint32 {
		out := make([]uint32, users)
		for i := range out {
			out[i] = l.Pick(prompt, fmt.Sprintf("user-%d", i))
		}
		return out
	}
	rows := [][]prompts.Share{
		{{5, 90}, {6, 10}},
		{{1, 1}, {2, 1}, {3, 1}},
		{{1, 0}, {2, 1_000_000}, {9, 1_000_000}},
		{{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}, {6, 5}, {7, 5}, {8, 5}, {9, 5}, {10, 55}},
	}
	for _, shares := range rows {
		l, total, seen := &prompts.Label{Name: "production", Shares: shares}, 0.0, map[uint32]float64{}
		for _, v := range pick(l, "a") {
			seen[v]++
		}
		for _, s := range shares {
			total += float64(s.Weight)
		}
		for _, s := range shares {
			if want := float64(s.Weight) / total; math.Abs(seen[s.Version]/users-want) > 0.01 {
				t.Errorf("%v: version %d has %v of the users, want %v", shares, s.Version, seen[s.Version]/users, want)
			}
		}
	}
	before := pick(&prompts.Label{Name: "production", Shares: []prompts.Share{{5, 90}, {6, 10}}}, "a")
	after := pick(&prompts.Label{Name: "production", Shares: []prompts.Share{{5, 70}, {6, 30}}}, "a")
	other := pick(&prompts.Label{Name: "production", Shares: []prompts.Share{{5, 90}, {6, 10}}}, "b")
	both := 0
	for i := range before {
		if before[i] == 6 && after[i] != 6 {
			t.Fatalf("user %d leaves version 6 although its share has grown", i)
		}
		if before[i] == 6 && other[i] == 6 {
			both++
		}
	}
	if both > users/50 { // 1 % if the prompts are independent
		t.Errorf("%d users have version 6 of both prompts", both)
	}
}

// TestSetsAgree: nodes whose sets were made in different ways (one change after the other, or
// read at once) give each user the same version.
func TestSetsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.five()
		var shares []prompts.Share
		for v := range uint32(5) {
			shares = append(shares, prompts.Share{Version: v + 1, Weight: rapid.Uint32Range(1, 100).Draw(t, "weight")})
		}
		if err := w.label("support", "canary", shares...); err != nil {
			t.Fatal(err)
		}
		loaded, broken, err := prompts.New().Load(t.Context(), &w.state)
		if err != nil || len(broken) > 0 {
			t.Fatal(err, broken)
		}
		for range 20 {
			user := rapid.String().Draw(t, "user")
			one, err1 := w.set.Resolve(member("acme"), "support", 0, "canary", user)
			two, err2 := loaded.Resolve(member("acme"), "support", 0, "canary", user)
			if err1 != nil || err2 != nil || one.Version.Number != two.Version.Number {
				t.Fatalf("%q: %v (%v), %v (%v)", user, one, err1, two, err2)
			}
		}
	})
}

// consistent fails unless each label names a version that exists, and no version has changed
// since the last call.
func (w *world) consistent(contents map[string]string) {
	w.t.Helper()
	for p := range w.set.Newest(everybody, "") {
		for _, l := range p.Labels {
			if c, err := w.set.Resolve(everybody, p.ID, 0, l.Name, "ada"); err != nil || c.Version.Prompt != p.ID {
				w.t.Fatalf("the label %v of %v: %v (%v)", l, p, c, err)
			}
		}
		for _, v := range w.set.Versions(p) {
			at := fmt.Sprint(v.Prompt, v.Number)
			if before, ok := contents[at]; ok && before != v.Messages[0].Content {
				w.t.Fatalf("version %s has changed", at)
			}
			contents[at] = v.Messages[0].Content
		}
	}
}

// TestLabelsNeverNameWhatIsNotThere: whatever is made, moved and deleted in whatever order, each
// label names versions that exist, and no version changes.
func TestLabelsNeverNameWhatIsNotThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		contents := map[string]string{} // by id and number
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "prompt")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				_, _ = w.create("", name, rapid.StringMatching("[a-z]*").Draw(t, "text"))
			case 1:
				_ = w.update(name, rapid.StringMatching("[a-z]*").Draw(t, "text"))
			case 2, 3:
				_ = w.label(name, rapid.SampledFrom([]string{"x", "y"}).Draw(t, "label"), prompts.Share{Version: rapid.Uint32Range(0, 6).Draw(t, "version"), Weight: 1})
			case 4:
				_ = w.change(name, func(tx *record.Txn, p *prompts.Prompt) error {
					_, err := w.set.DeleteLabel(tx, p, "x", 0)
					return err
				})
			case 5:
				_ = w.change(name, func(tx *record.Txn, p *prompts.Prompt) error {
					w.set.Delete(tx, p)
					return nil
				})
			}
			w.consistent(contents)
		}
	})
}

// TestProtectedLabels: they are kept sorted, once each, whether they exist or not.
func TestProtectedLabels(t *testing.T) {
	w := newWorld(t)
	p, _ := w.make(prompts.Prompt{Protected: []string{"production", "eu", "production"}}, content("x"))
	if diff := cmp.Diff([]string{"eu", "production"}, p.Protected); diff != "" || !p.IsProtected("eu") || p.IsProtected("staging") {
		t.Error(diff)
	}
	err := w.run(func(tx *record.Txn) error {
		_, _, err := w.set.Create(tx, prompts.Prompt{Head: resource.Head{ID: id.NewUUID(), Name: "q"}, Protected: []string{"A"}}, content("x"))
		return err
	})
	if f := fault.From(err); f == nil || f.Param != "protected_labels" {
		t.Errorf("%v", err)
	}
}
