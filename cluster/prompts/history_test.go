package prompts_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// TestVersionsKeepTheirContent edits prompts in many ways, many times: each version stays what it
// was, in the set that the edits led to, in the sets on the way, and in one that is loaded.
func TestVersionsKeepTheirContent(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d ü]{0,30}`)
	edit := func(t *rapid.T, text string) string {
		runes := []rune(text)
		from := rapid.IntRange(0, len(runes)).Draw(t, "from")
		to := rapid.IntRange(from, len(runes)).Draw(t, "to")
		return string(runes[:from]) + word.Draw(t, "word") + string(runes[to:])
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		text := strings.Repeat("the same text ", rapid.IntRange(0, 20).Draw(t, "repeats"))
		p, _ := w.make(prompts.Prompt{Head: resource.Head{Name: "edited"}}, content(text))
		texts := []string{text}
		first := w.set
		for range rapid.IntRange(0, 40).Draw(t, "edits") {
			text = edit(t, text)
			if err := w.update("edited", text); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		loaded, broken, err := prompts.New().Load(t.Context(), &w.state)
		if err != nil || len(broken) > 0 {
			t.Fatal(err, broken)
		}
		for _, set := range []*prompts.Set{w.set, loaded} {
			for i, want := range texts {
				v, err := set.Version(p, uint32(i+1))
				if err != nil || v.Messages[0].Content != want || v.Number != uint32(i+1) || v.Prompt != p.ID {
					t.Fatalf("version %d is %+v (%v), want %q", i+1, v, err, want)
				}
			}
			all := set.Versions(p)
			if len(all) != len(texts) || all[0].Messages[0].Content != text {
				t.Fatalf("there are %d versions, want %d", len(all), len(texts))
			}
		}
		if n := len(first.Versions(p)); n != 1 {
			t.Fatalf("the set before the edits has %d versions", n)
		}
	})
}

// TestVersionsAreCompact: versions that differ in a sentence share what they have in common.
func TestVersionsAreCompact(t *testing.T) {
	const size, due = 500, 12_000 // bytes a prompt of 10 versions: 120 MB for 10,000 prompts
	set, used := library(t, size, 10)
	if used > size*due {
		t.Errorf("%d prompts take %d bytes each, more than %d", size, used/size, due)
	}
	if p, ok := set.Get(fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0)); !ok || p.Latest != 10 {
		t.Errorf("the first prompt is %+v", p)
	}
}

// TestManyPromptsInUse: more prompts than stay compiled are used, again and again. Each is rendered
// right each time, and what they take besides their records is bounded.
func TestManyPromptsInUse(t *testing.T) {
	const size, long, due = 160, 250_000, 24 << 20
	w := newWorld(t)
	heads := make([]*prompts.Prompt, size)
	for i := range heads {
		heads[i], _ = w.make(prompts.Prompt{}, content(fmt.Sprintf("%d {{ x }} ", i)+strings.Repeat("y", long)))
	}
	before := heap()
	for range 3 {
		for i, p := range heads {
			v, err := w.set.Version(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			out, err := w.set.Compose(prompts.Choice{Prompt: p, Version: v}, []byte(`{"x": "ä"}`))
			if err != nil {
				t.Fatal(err)
			}
			got := string(out.Before[0].Content)
			if diff := cmp.Diff(fmt.Sprintf("\"%d ä y", i), got[:min(len(got), len(fmt.Sprintf("\"%d ä y", i)))]); diff != "" || len(got) < long {
				t.Fatalf("prompt %d (-want +got):\n%s", i, diff)
			}
		}
		if used := int64(heap()) - int64(before); used > due {
			t.Errorf("prompts of %d bytes in use take %d bytes besides their records", size*long, used)
		}
	}
	runtime.KeepAlive(w)
}
