package cluster

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// viewOf returns a node with nothing but a View of so many keys and deployments.
func viewOf(tb testing.TB, nKeys, nDeployments int) *Node {
	tb.Helper()
	cat, err := catalog.New(catalog.Spec{}, catalog.Providers{"openai": {DefaultBase: "https://api.openai.com/v1"}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	set, err := tenancy.New(nil, vault.Secret{})
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]record.Change, nKeys)
	for i := range all {
		all[i] = keyChange(tb, &clusterv1.VirtualKey{Alias: fmt.Sprint("alias", i), Models: []string{"m1", "m2"}}, fmt.Sprint("key", i))
	}
	stored := make([]catalog.Stored, nDeployments)
	for i := range stored {
		stored[i].Spec = catalog.DeploymentSpec{
			ID: fmt.Sprint("d", i), ModelName: fmt.Sprintf("m%d", i%500), Model: "openai/gpt-4o", APIBase: fmt.Sprintf("https://host%d.example/v1", i%20),
		}
	}
	set, bad := set.With(all)
	if len(bad) > 0 {
		tb.Fatal(bad[0])
	}
	if cat, bad = cat.WithAll(stored); len(bad) > 0 {
		tb.Fatal(bad[0])
	}
	n := &Node{logger: slog.New(slog.DiscardHandler), sealer: plain{}}
	n.openCooldown()
	n.publish(NewView(cat, set))
	return n
}

// keyChange is what the state machine tells of a key that was made.
func keyChange(tb testing.TB, r *clusterv1.VirtualKey, key string) record.Change {
	tb.Helper()
	h := id.HashKey(key)
	r.Hash = h[:]
	return record.Change{Space: store.SpaceKey, Key: h[:], Value: marshalled(tb, r)}
}

func deploymentChange(tb testing.TB, r *clusterv1.Deployment) record.Change {
	tb.Helper()
	return record.Change{Space: store.SpaceDeployment, Key: []byte(r.GetId()), Value: marshalled(tb, r)}
}

func marshalled(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	text, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// gone is the change that takes back what another made.
func gone(c record.Change) []record.Change {
	return []record.Change{{Space: c.Space, Key: c.Key}}
}

// plain seals nothing.
type plain struct{}

func (plain) Seal(s vault.Secret, _ string) ([]byte, error) { return []byte(s.Reveal()), nil }
func (plain) Open(b []byte, _ string) (vault.Secret, error) { return vault.NewSecret(string(b)), nil }

// BenchmarkViewChange is what one change costs from the applied entry to the
// View in force: due is at most 50 µs, and nothing that grows with the size.
func BenchmarkViewChange(b *testing.B) {
	for _, size := range []struct{ keys, deployments int }{{100, 10}, {100_000, 10_000}} {
		n := viewOf(b, size.keys, size.deployments)
		for name, c := range map[string]record.Change{
			fmt.Sprintf("key/of=%d", size.keys):               another(b),
			fmt.Sprintf("deployment/of=%d", size.deployments): anotherDeployment(b),
		} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for i := uint64(1); b.Loop(); i += 2 {
					n.show(i, []record.Change{c})
					n.show(i+1, gone(c))
				}
			})
		}
	}
}

// BenchmarkViewChangePrompts is what a moved label and a new version cost, from the applied entry to
// the View in force: due are at most 20 µs.
func BenchmarkViewChangePrompts(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		n := viewOf(b, 100, 10)
		for i := range size {
			n.show(1, promptChanges(b, i, 10, 1))
		}
		moved, published := promptChanges(b, size/2, 10, 5), promptChanges(b, size/2, 11, 5)
		for name, changes := range map[string][]record.Change{"label": moved[:1], "version": {published[0], published[11]}} {
			b.Run(fmt.Sprintf("%s/of=%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for i := uint64(2); b.Loop(); i++ {
					n.show(i, changes)
				}
			})
		}
	}
}

// promptChanges is what the state machine tells of a prompt with versions and a label.
func promptChanges(tb testing.TB, number, versions int, labelled uint32) []record.Change {
	tb.Helper()
	const spread = 2654435761 // ids are not in the order of the prompts
	pid := fmt.Sprintf("%08x-0000-4000-8000-000000000000", number*spread%(1<<32))
	head := &clusterv1.Prompt{
		Id: pid, Name: fmt.Sprint("prompt", number), Latest: uint32(versions),
		Labels: []*clusterv1.PromptLabel{{Name: "production", Shares: []*clusterv1.PromptShare{{Version: labelled, Weight: 1}}}},
	}
	out := []record.Change{{Space: store.SpacePrompt, Key: []byte(pid), Value: marshalled(tb, head)}}
	for v := range uint32(versions) {
		text := fmt.Sprintf("You help {{ name }}, as text %d says. ", v) + strings.Repeat("Keep to the facts. ", 50)
		out = append(out, record.Change{
			Space: store.SpacePromptVersion, Key: binary.BigEndian.AppendUint32([]byte(pid+"\x00"), v+1),
			Value: marshalled(tb, &clusterv1.PromptVersion{PromptId: pid, Version: v + 1, Messages: []*clusterv1.PromptMessage{{Role: "system", Content: text}}}),
		})
	}
	return out
}

func another(tb testing.TB) record.Change {
	tb.Helper()
	return keyChange(tb, &clusterv1.VirtualKey{Name: "sk-...abcd", Alias: "another", Models: []string{"m1"}}, "another")
}

func anotherDeployment(tb testing.TB) record.Change {
	tb.Helper()
	return deploymentChange(tb, &clusterv1.Deployment{Id: "another", ModelName: "m7", Model: "openai/gpt-4o", ApiBase: "https://host7.example/v1"})
}

// TestViewChangeDoesNotGrow: what a change allocates at a thousand times the size
// is about the same; a copy of everything would be thousands of times as much.
func TestViewChangeDoesNotGrow(t *testing.T) {
	key, deployment := another(t), anotherDeployment(t)
	allocs := func(nKeys, nDeployments int) float64 {
		n := viewOf(t, nKeys, nDeployments)
		return testing.AllocsPerRun(100, func() {
			n.show(1, []record.Change{key, deployment})
			n.show(2, append(gone(key), gone(deployment)...))
		})
	}
	small, large := allocs(100, 10), allocs(100_000, 10_000)
	if large > 2*small {
		t.Errorf("a change allocates %.0f times at the large size and %.0f times at the small one", large, small)
	}
	prompts := func(size int) float64 {
		n := viewOf(t, 1, 1)
		for i := range size {
			n.show(1, promptChanges(t, i, 3, 1))
		}
		moved := promptChanges(t, size/2, 4, 2)
		return testing.AllocsPerRun(100, func() {
			n.show(2, moved)
			n.show(3, []record.Change{{Space: moved[4].Space, Key: moved[4].Key}})
		})
	}
	if small, large := prompts(20), prompts(2000); large > 2*small {
		t.Errorf("a change of prompts allocates %.0f times at the large size and %.0f times at the small one", large, small)
	}
}
