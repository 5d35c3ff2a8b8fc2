package prompts_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// fiveVariables is a prompt of 1 KB with five variables, and values for them.
func fiveVariables() (prompts.Content, jsontext.Value) {
	text := "You are {{ role }} of {{ company }}. Answer in {{ language }}, in a {{ tone }} tone. The user is {{ user }}.\n"
	text += strings.Repeat("Keep to the facts that the documents say. ", (1024-len(text))/42)
	return content(text), jsontext.Value(`{"role":"a guide","company":"Acme","language":"English","tone":"friendly","user":"Ada Lovelace"}`)
}

// BenchmarkCompose renders a prompt of 1 KB with five variables: due are at most 25 µs and 15
// allocations.
func BenchmarkCompose(b *testing.B) {
	w := newWorld(b)
	c, variables := fiveVariables()
	p, v := w.make(prompts.Prompt{}, c)
	choice := prompts.Choice{Prompt: p, Version: v}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.set.Compose(choice, variables); err != nil {
			b.Fatal(err)
		}
	}
}

// stored returns the records of a prompt with versions of 1 KB that differ in a sentence.
func stored(tb testing.TB, number, versions int) []record.Change {
	tb.Helper()
	var out []record.Change
	put := func(space store.Space, key string, m proto.Message) {
		value, err := proto.Marshal(m)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, record.Change{Space: space, Key: []byte(key), Value: value})
	}
	const spread = 2654435761 // ids are not in the order of the prompts
	pid := fmt.Sprintf("%08x-0000-4000-8000-000000000000", number*spread%(1<<32))
	stamp := &clusterv1.Stamp{CreatedUnixNano: 1_700_000_000_000_000_000, CreatedBy: "key:ada", UpdatedUnixNano: 1_700_000_000_000_000_000, UpdatedBy: "key:ada", Revision: uint64(number) + 1}
	put(store.SpacePrompt, pid, &clusterv1.Prompt{Id: pid, Name: fmt.Sprintf("prompt-%d", number), OrganizationId: fmt.Sprintf("team-%d", number%100), Latest: uint32(versions), Stamp: stamp})
	c, _ := fiveVariables()
	half := len(c.Messages[0].Content) / 2
	for n := range versions {
		text := fmt.Sprintf("%sThis is text %d of the prompt %d. %s", c.Messages[0].Content[:half], n, number, c.Messages[0].Content[half:])
		put(store.SpacePromptVersion, pid+"\x00"+string(binary.BigEndian.AppendUint32(nil, uint32(n)+1)), &clusterv1.PromptVersion{
			PromptId: pid, Version: uint32(n) + 1, Variables: []string{"role", "company", "language", "tone", "user"}, Stamp: stamp,
			Messages: []*clusterv1.PromptMessage{{Role: "system", Content: text}},
		})
	}
	return out
}

// library returns a set of prompts, and the bytes that it takes.
func library(tb testing.TB, size, versions int) (*prompts.Set, int) {
	tb.Helper()
	before := heap()
	set := prompts.New()
	for i := range size {
		var broken []error
		if set, broken = set.With(stored(tb, i, versions)); len(broken) > 0 {
			tb.Fatal(broken[0])
		}
	}
	used := heap() - before
	if set.Len() != size {
		tb.Fatalf("the set has %d prompts", set.Len())
	}
	return set, int(used)
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the first one leaves what it has finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkMemory reports the memory of 10,000 prompts of 10 versions: due are at most 120 MB.
func BenchmarkMemory(b *testing.B) {
	const size, versions = 10_000, 10
	used := 0
	for b.Loop() {
		_, used = library(b, size, versions)
	}
	b.ReportMetric(float64(used)/1e6, "MB")
	b.ReportMetric(float64(used)/(size*versions), "B/version")
}

// BenchmarkChange is what one change costs at 10,000 prompts of 10 versions, from the records to
// the new set: due are at most 20 µs.
func BenchmarkChange(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		set, _ := library(b, size, 10)
		one := stored(b, size/2, 12)
		for name, changes := range map[string][]record.Change{"label": one[:1], "version": {one[0], one[12]}} {
			b.Run(fmt.Sprintf("%s/of=%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, broken := set.With(changes); len(broken) > 0 {
						b.Fatal(broken[0])
					}
				}
			})
		}
	}
}

// BenchmarkOpen reports what the versions that stay compiled take: all 10,000 prompts are used once.
func BenchmarkOpen(b *testing.B) {
	const size = 10_000
	_, variables := fiveVariables()
	set, _ := library(b, size, 1)
	heads := slices.Collect(set.Newest(everybody, ""))
	before := heap()
	for b.Loop() {
		for _, p := range heads {
			v, err := set.Version(p, 1)
			if err == nil {
				_, err = set.Compose(prompts.Choice{Prompt: p, Version: v}, variables)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(heap()-before)/1e6, "MB")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/prompt")
	runtime.KeepAlive(set)
}
