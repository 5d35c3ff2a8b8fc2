package cluster

import (
	"fmt"
	"log/slog"
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
}
