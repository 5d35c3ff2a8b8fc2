package extproc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// hint has another node report deployment a in cooldown for a minute, of which the given part
// has passed when the test begins.
func (k *kit) hint(over time.Duration) {
	now := epoch().Add(-over)
	k.cooldown.Hint(cooldown.Hint{Deployment: "a", Observer: "n", Version: 1, Reason: cooldown.RateLimited, Now: now, Until: now.Add(time.Minute)})
}

// planned checks the plan of a request for the trio: "b" first or "a".
func (k *kit) planned(t *testing.T, e *envoy, first string) {
	t.Helper()
	out := e.ask(hello)
	if out.refused != nil {
		t.Fatal(out.refused.body)
	}
	if diff := cmp.Diff(k.cluster(t, first, contract.Bare), out.plan[0]); diff != "" || len(out.plan) != 4 {
		t.Errorf("%d attempts; the first (-want +got):\n%s", len(out.plan), diff)
	}
}

func TestHintedDeploymentsAreInCooldown(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio())
	k.hint(0)
	e := k.open(t)
	k.planned(t, e, "b")
	e.quit()
}

func TestHintsDoNotCountWithoutCooldowns(t *testing.T) {
	t.Parallel()
	spec := trio()
	spec.Router.DisableCooldowns = new(true)
	k := newKit(t, spec)
	k.hint(0)
	e := k.open(t)
	k.planned(t, e, "a")
	e.quit()
}

// TestProbesHintedDeployments: after half of the cooldown, one request goes there.
// If it succeeds, the others follow; if not, this node has detected the failure itself.
func TestProbesHintedDeployments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer came
		then   string
	}{
		{"succeeds", jsonAnswer(goodReply), "a"},
		{"fails", failedWith(429, "rate_limit_exceeded", "slow down"), "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, trio())
			k.hint(40 * time.Second)
			probe, other, later := k.open(t), k.open(t), k.open(t)
			k.planned(t, probe, "a")
			k.planned(t, other, "b")
			probe.answer(test.answer)
			k.events(probe.uuid)
			k.planned(t, later, test.then)
			_, resting := k.cooldown.InCooldown("a", k.now())
			if resting != (test.then == "b") {
				t.Errorf("in cooldown: %v", resting)
			}
			other.quit()
			later.quit()
		})
	}
}

// TestCountsRequestsOfOtherNodes: least-busy looks at all nodes.
func TestCountsRequestsOfOtherNodes(t *testing.T) {
	t.Parallel()
	spec := trio()
	spec.Deployments[1].Order = 0
	spec.Router.Strategy = new(string(catalog.LeastBusy))
	for busy, first := range map[id.Deployment]string{"a": "b", "b": "a"} {
		k := newKit(t, spec, func(k *kit, d *pipeline.Deps) {
			k.cooldown = cooldown.New(func(uint64) uint64 { return 0 }, cooldown.WithRemote(func(d id.Deployment) int64 {
				if d == busy {
					return 3
				}
				return 0
			}))
			d.Cooldown = k.cooldown
		})
		e := k.open(t)
		k.planned(t, e, first)
		e.quit()
	}
}
