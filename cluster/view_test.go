package cluster

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/keys"
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
	set, err := keys.New(nil, vault.Secret{})
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]keys.Key, nKeys)
	for i := range all {
		all[i] = keys.Key{Hash: id.HashKey(fmt.Sprint("key", i)), Alias: fmt.Sprint("alias", i), Models: []string{"m1", "m2"}}
	}
	stored := make([]catalog.Stored, nDeployments)
	for i := range stored {
		stored[i].Spec = catalog.DeploymentSpec{
			ID: fmt.Sprint("d", i), ModelName: fmt.Sprintf("m%d", i%500), Model: "openai/gpt-4o", APIBase: fmt.Sprintf("https://host%d.example/v1", i%20),
		}
	}
	set, bad := set.WithAll(all)
	if len(bad) > 0 {
		tb.Fatal(bad[0])
	}
	if cat, bad = cat.WithAll(stored); len(bad) > 0 {
		tb.Fatal(bad[0])
	}
	n := &Node{logger: slog.New(slog.DiscardHandler), sealer: plain{}}
	n.openCooldown()
	n.publish(&View{Catalog: cat, Keys: set})
	return n
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
		b.Run(fmt.Sprintf("key/of=%d", size.keys), func(b *testing.B) {
			h := id.HashKey("another")
			record := &clusterv1.VirtualKey{Hash: h[:], Name: "sk-...abcd", Alias: "another", Models: []string{"m1"}}
			b.ReportAllocs()
			for i := uint64(1); b.Loop(); i += 2 {
				n.showKey(i, record)
				n.hideKeys(i+1, [][]byte{h[:]})
			}
		})
		b.Run(fmt.Sprintf("deployment/of=%d", size.deployments), func(b *testing.B) {
			record := &clusterv1.Deployment{Id: "another", ModelName: "m7", Model: "openai/gpt-4o", ApiBase: "https://host7.example/v1"}
			b.ReportAllocs()
			for i := uint64(1); b.Loop(); i += 2 {
				n.showDeployment(i, record)
				n.hideDeployment(i+1, "another")
			}
		})
	}
}

// TestViewChangeDoesNotGrow: what a change allocates at a thousand times the size
// is about the same; a copy of everything would be thousands of times as much.
func TestViewChangeDoesNotGrow(t *testing.T) {
	h := id.HashKey("another")
	allocs := func(nKeys, nDeployments int) float64 {
		n := viewOf(t, nKeys, nDeployments)
		return testing.AllocsPerRun(100, func() {
			n.showKey(1, &clusterv1.VirtualKey{Hash: h[:], Alias: "another"})
			n.showDeployment(2, &clusterv1.Deployment{Id: "another", ModelName: "m7", Model: "openai/gpt-4o", ApiBase: "https://host7.example/v1"})
			n.hideKeys(3, [][]byte{h[:]})
			n.hideDeployment(4, "another")
		})
	}
	small, large := allocs(100, 10), allocs(100_000, 10_000)
	if large > 2*small {
		t.Errorf("a change allocates %.0f times at the large size and %.0f times at the small one", large, small)
	}
}
