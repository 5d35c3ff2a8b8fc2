package extproc

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// cluster is the name of a deployment's cluster.
func (k *kit) cluster(tb testing.TB, deployment string, v contract.Variant) string {
	tb.Helper()
	d, ok := k.catalog.Deployment(id.Deployment(deployment))
	if !ok {
		tb.Fatalf("there is no deployment %s", deployment)
	}
	return contract.ClusterName(d.Endpoint.ID, v)
}

// trio is two deployments of a group and another group to fall back to.
func trio(retryOn ...string) catalog.Spec {
	r := quick(2)
	r.Fallbacks = []map[string][]string{{"fast": {"other"}}}
	r.RetryOn = retryOn
	return catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "model-a", 0), place("b", "fast", "model-b", 1), place("c", "other", "model-c", 0)},
		Router:      r,
	}
}

func TestPlansAttempts(t *testing.T) {
	t.Parallel()
	const stream = `"stream":true`
	marks := map[string]contract.Variant{"": contract.Bare, "~": contract.Rewrite, "+": contract.Check}
	for _, test := range []struct {
		name    string
		spec    catalog.Spec
		body    string
		headers []string
		unacked string
		resting string
		want    []string // deployment and the variant's mark
		codes   bool     // statuses that only another deployment may cure are retried
	}{
		{name: "one deployment", spec: one(), body: hello, want: []string{"solo"}},
		{name: "one deployment, retried", spec: catalog.Spec{Deployments: one().Deployments, Router: quick(2)}, body: hello, want: []string{"solo", "solo", "solo"}},
		{name: "others", spec: trio(), body: hello, want: []string{"a", "b~", "a~", "c~"}, codes: true},
		{name: "no fallbacks", spec: trio(), body: with(`"disable_fallbacks":true`), want: []string{"a", "b~", "a~"}, codes: true},
		{name: "retries from the body", spec: trio(), body: with(`"num_retries":0`), want: []string{"a", "c~"}, codes: true},
		{name: "retries from the header", spec: trio(), body: hello, headers: []string{"x-gateway-num-retries", "1"}, want: []string{"a", "b~", "c~"}, codes: true},
		{name: "no more retries than are configured", spec: trio(), body: with(`"max_retries":9`), want: []string{"a", "b~", "a~", "c~"}, codes: true},
		{name: "the body wins", spec: trio(), body: with(`"max_retries":0`), headers: []string{"x-gateway-num-retries", "5"}, want: []string{"a", "c~"}, codes: true},
		{name: "checked", spec: trio("5xx", "content_filter"), body: hello, want: []string{"a+", "b+", "a+", "c~"}, codes: true},
		{name: "streams are not checked for filters", spec: trio("content_filter"), body: with(stream), want: []string{"a", "b~", "a~", "c~"}, codes: true},
		{name: "checked stream", spec: trio("stream_error"), body: with(stream), want: []string{"a+", "b+", "a+", "c~"}, codes: true},
		{name: "whole answers are not checked for stream errors", spec: trio("stream_error"), body: hello, want: []string{"a", "b~", "a~", "c~"}, codes: true},
		{name: "not confirmed by Envoy", spec: trio(), body: hello, unacked: "a", want: []string{"b", "b~", "b~", "c~"}, codes: true},
		{name: "check not confirmed by Envoy", spec: trio("content_filter"), body: hello, unacked: "b+", want: []string{"a+", "b~", "a+", "c~"}, codes: true},
		{name: "fallback not confirmed by Envoy", spec: trio(), body: hello, unacked: "c", want: []string{"a", "b~", "a~"}, codes: true},
		{name: "resting", spec: trio(), body: hello, resting: "a", want: []string{"b", "b~", "b~", "c~"}, codes: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, test.spec)
			if test.unacked != "" {
				name := strings.TrimRight(test.unacked, "~+")
				k.unacked = []string{k.cluster(t, name, marks[test.unacked[len(name):]])}
			}
			if test.resting != "" {
				k.cooldown.Fail(id.Deployment(test.resting), cooldown.Failure{Reason: cooldown.RateLimited, Now: epoch()}, cooldown.Policy{Time: time.Hour})
			}
			e := k.open(t)
			out := e.ask(test.body, test.headers...)
			if out.refused != nil {
				t.Fatal(out.refused.body)
			}
			want := make([]string, len(test.want))
			for i, w := range test.want {
				name := strings.TrimRight(w, "~+")
				want[i] = k.cluster(t, name, marks[w[len(name):]])
			}
			if diff := cmp.Diff(want, out.plan); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			retries := ""
			if n := len(want) - 1; n > 0 {
				retries = itoa(n)
			}
			if got := out.headers[contract.HeaderMaxRetries]; got != retries {
				t.Errorf("Envoy makes %q retries, want %q", got, retries)
			}
			codes := out.headers[contract.HeaderRetriableCodes]
			if strings.Contains(codes, "401") != test.codes || strings.Contains(codes, "400") {
				t.Errorf("Envoy retries the statuses %q", codes)
			}
			e.quit()
		})
	}
}

func TestPlansTimeouts(t *testing.T) {
	t.Parallel()
	minute, second := time.Minute, time.Second
	spec := catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "m", 0), place("own", "own", "m", 0)},
		Router:      catalog.RouterSpec{NumRetries: new(int), Timeout: &minute, StreamTimeout: &second},
	}
	*spec.Router.NumRetries = 1
	spec.Deployments[1].Timeout, spec.Deployments[1].StreamTimeout = 2*time.Minute, 2*time.Second
	brief := place("brief", "brief", "m", 0)
	brief.Timeout = time.Second / 2
	spec.Deployments = append(spec.Deployments, brief)
	k := newKit(t, spec)
	own := strings.Replace(hello, "fast", "own", 1)
	for _, test := range []struct {
		name, body string
		headers    []string
		try, all   string // in milliseconds
	}{
		{"router's", hello, nil, "60000", "122000"},                      // two attempts and the longest pause between them
		{"router's for streams", with(`"stream":true`), nil, "1000", ""}, // no limit
		{"deployment's", own, nil, "120000", "242000"},
		{"deployment's for streams", strings.TrimSuffix(own, "}") + `,"stream":true}`, nil, "2000", ""},
		{"caller's", with(`"timeout":1.5`), nil, "1500", "5000"},
		{"caller's by another name", with(`"request_timeout":2`), nil, "2000", "6000"},
		{"caller's in a header", hello, []string{"x-gateway-timeout", "1.25"}, "1250", "4500"},
		{"caller's, too short", with(`"timeout":0.1`), nil, "1000", "4000"},
		{"caller's, too short for all but this deployment", strings.Replace(with(`"timeout":0.1`), "fast", "brief", 1), nil, "500", "3000"},
		{"caller's, longer", with(`"timeout":90`), nil, "90000", "182000"},
		{"caller's of a stream only", with(`"stream_timeout":3`), nil, "60000", "122000"},
		{"caller's of a stream", with(`"stream":true,"stream_timeout":3`), nil, "3000", ""},
	} {
		e := k.open(t)
		// What the caller says to Envoy's router must have no effect.
		out := e.ask(test.body, append(test.headers, "x-envoy-upstream-rq-timeout-ms", "1", "x-envoy-max-retries", "99",
			"x-envoy-retry-on", "5xx", "x-envoy-hedge-on-per-try-timeout", "true", "x-envoy-original-path", "/x")...)
		if out.refused != nil {
			t.Fatal(out.refused.body)
		}
		if got := [2]string{out.headers[contract.HeaderPerTryTimeout], out.headers[contract.HeaderTimeout]}; got != [2]string{test.try, test.all} {
			t.Errorf("%s: timeouts %v, want %s and %s", test.name, got, test.try, test.all)
		}
		for _, name := range []string{"x-envoy-retry-on", "x-envoy-hedge-on-per-try-timeout", "x-envoy-original-path"} {
			if v, ok := out.headers[name]; ok {
				t.Errorf("%s: the caller's %s: %s is left", test.name, name, v)
			}
		}
		e.quit()
	}
}

func TestRejectsPromptsThatFitNowhere(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Router.EnablePreCallChecks = new(true)
	spec.Deployments[0].MaxInputTokens = 10
	k := newKit(t, spec)
	e := k.open(t)
	m := rejectedWith(t, e, e.ask(strings.Replace(hello, "Hello", strings.Repeat("Hello ", 100), 1)).refused, 400, "context_length_exceeded")
	if m.Param != "messages" {
		t.Errorf("param is %q", m.Param)
	}
	e.close()
	notAsked(t, k)
}

func TestRejectsIfAllDeploymentsAreInCooldown(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio())
	for _, d := range []id.Deployment{"a", "b", "c"} {
		k.cooldown.Fail(d, cooldown.Failure{Reason: cooldown.RateLimited, Now: epoch(), RetryAfter: time.Minute}, cooldown.Policy{})
	}
	e := k.open(t)
	a := e.ask(hello).refused
	rejectedWith(t, e, a, 503, "all_deployments_in_cooldown")
	if a.headers["retry-after"] != "60" {
		t.Errorf("retry-after is %q", a.headers["retry-after"])
	}
	e.close()
	notAsked(t, k)
}
