package extproc

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// withoutTokens makes a pipeline some of whose deployments have no token. await gets the first one of those that a
// request waits for.
func withoutTokens(await func(missing *atomic.Value), names ...string) change {
	return func(_ *kit, d *pipeline.Deps) {
		var missing atomic.Value
		missing.Store(names)
		d.Token = func(d *catalog.Deployment) (cloud.Token, error) {
			if slices.Contains(missing.Load().([]string), string(d.ID)) {
				return cloud.Token{}, token.Missing()
			}
			return cloud.Token{Bearer: vault.NewSecret("token")}, nil
		}
		d.AwaitToken = func(context.Context, []*catalog.Deployment) { await(&missing) }
	}
}

func TestDeploymentsWithoutATokenAreLeftOut(t *testing.T) {
	t.Parallel()
	never := func(*atomic.Value) {}
	for name, test := range map[string]struct {
		spec    catalog.Spec
		missing []string
		await   func(*atomic.Value)
		body    string
		want    string // the deployments of the plan; empty if the request is rejected
	}{
		"one of two":                     {trio(), []string{"a"}, func(*atomic.Value) { t.Error("a request waits though a deployment has a token") }, hello, "b,b,b,c"},
		"all of the group":               {trio(), []string{"a", "b"}, never, hello, "c"},
		"a fallback":                     {trio(), []string{"c"}, never, hello, "a,b,a"},
		"all":                            {trio(), []string{"a", "b", "c"}, never, hello, ""},
		"all that the request may reach": {trio(), []string{"a", "b"}, never, with(`"disable_fallbacks":true`), ""},
		"the only one":                   {one(), []string{"solo"}, never, hello, ""},
		"all, until one gets its first":  {trio(), []string{"a", "b"}, func(m *atomic.Value) { m.Store([]string{"b"}) }, hello, "a,a,a,c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, test.spec, withoutTokens(test.await, test.missing...))
			e := k.open(t)
			out := e.ask(test.body)
			if test.want == "" {
				m := rejectedWith(t, e, out.refused, 503, "no_credential")
				if !strings.Contains(m.Message, "could not obtain the credential") {
					t.Errorf("the error is %q", m.Message)
				}
				return
			}
			if out.refused != nil {
				t.Fatal(out.refused.body)
			}
			var want []string
			for i, d := range strings.Split(test.want, ",") {
				v := contract.Rewrite
				if i == 0 {
					v = contract.Bare
				}
				want = append(want, k.cluster(t, d, v))
			}
			if diff := cmp.Diff(want, out.plan); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			e.quit()
		})
	}
}
