package extproc

import (
	"testing"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// helloInput is what an attempt with hello costs if another one follows it.
const helloInput = 13 * money.USD / 1_000_000

// retried is a single deployment with up to four attempts.
func retried() catalog.Spec {
	spec := one()
	spec.Router = quick(3)
	return spec
}

// The plan is cut to the attempts that the budget pays for, and the first is never cut.
func TestBudgetCutsThePlan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		left money.Pico
		want int // attempts
	}{
		{"all", helloMost + 3*helloInput, 4},
		{"all but one", helloMost + 3*helloInput - 1, 3},
		{"two", helloMost + helloInput, 2},
		{"one", helloMost, 1},
		{"none", helloMost - 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t, money.USD-test.left)
			k := newKit(t, retried(), bounded(budget(money.USD)), b.use)
			e := k.open(t)
			out := e.ask(hello)
			if test.want == 0 {
				rejectedWith(t, e, out.refused, 429, "budget_exceeded")
				e.close()
				return
			}
			if out.refused != nil || len(out.plan) != test.want {
				t.Fatalf("plan %v, rejected %v, want %d attempts", out.plan, out.refused, test.want)
			}
			retries := ""
			if test.want > 1 {
				retries = itoa(test.want - 1)
			}
			if got := out.headers[contract.HeaderMaxRetries]; got != retries {
				t.Errorf("Envoy makes %q retries, want %q", got, retries)
			}
			e.quit()
		})
	}
}

// The last attempt that is left in the plan is not one that is checked, and a plan
// whose other deployments are cut needs no rewriting.
func TestCutPlansChooseTheirClustersAgain(t *testing.T) {
	t.Parallel()
	b := newBank(t, money.USD-helloMost-helloInput)
	k := newKit(t, trio("content_filter"), bounded(budget(money.USD)), b.use)
	e := k.open(t)
	out := e.ask(hello)
	want := []string{k.cluster(t, "a", contract.Check), k.cluster(t, "b", contract.Rewrite)}
	if len(out.plan) != 2 || out.plan[0] != want[0] || out.plan[1] != want[1] {
		t.Errorf("plan %v, want %v", out.plan, want)
	}
	e.quit()
}

// What an attempt can no longer cost is released while the request is under way.
func TestReleasesWhatAttemptsDidNotCost(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	k := newKit(t, retried(), bounded(budget(money.USD)), b.use)
	e := k.open(t)
	taken(t, e, with(`"stream":true`))
	b.free(t, money.USD-helloMost-3*helloInput)
	k.attempt(e.uuid, 1, 0, &datav3.ResponseFlags{UpstreamConnectionFailure: true}) // costs nothing
	b.free(t, money.USD-helloMost-2*helloInput)
	k.attempt(e.uuid, 2, 0, &datav3.ResponseFlags{UpstreamRequestTimeout: true}) // costs its input
	b.free(t, money.USD-helloMost-2*helloInput)
	c := streamAnswer()
	c.attempt = 3 // and there will be no fourth
	e.head(c)
	e.begun(c)
	b.free(t, money.USD-helloMost-helloInput)
	e.leave()
	k.settled()
}

// A caller that may change the settings may also exceed them.
func TestProxyAdminExceedsRetriesAndTimeout(t *testing.T) {
	t.Parallel()
	k := newKit(t, one(), func(k *kit, d *pipeline.Deps) {
		set, err := tenancy.New(nil, vault.NewSecret(appKey))
		if err != nil {
			k.tb.Fatal(err)
		}
		view := &cluster.View{Revision: 1, Catalog: k.catalog, Keys: set, Prompts: prompts.New()}
		d.View = func() *cluster.View { return view }
	})
	e := k.open(t)
	out := e.ask(hello, "x-gateway-timeout", "0.1", "x-gateway-num-retries", "10")
	if out.refused != nil || len(out.plan) != 11 || out.headers[contract.HeaderPerTryTimeout] != "100" {
		t.Errorf("plan %v, rejected %v, timeout %s", out.plan, out.refused, out.headers[contract.HeaderPerTryTimeout])
	}
	e.quit()
}
