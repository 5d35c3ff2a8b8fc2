package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
)

func guarded(did, name, model string, refs ...string) catalog.DeploymentSpec {
	s := deploy(did, name, model)
	s.Guardrails = refs
	return s
}

// TestGuardrailsOfAModel: requests for a model have the guardrails of all deployments that they may reach, through
// aliases, wildcards and every list of fallbacks.
func TestGuardrailsOfAModel(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{
		ModelGroupAlias:        map[string]string{"quick": "fast"},
		Fallbacks:              []map[string][]string{{"fast": {"slow", "openai/elsewhere"}}, {"lone": {"by-id"}}},
		DefaultFallbacks:       []string{"rest"},
		ContextWindowFallbacks: []map[string][]string{{"plain": {"long"}}},
		ContentPolicyFallbacks: []map[string][]string{{"plain": {"mild"}}},
	},
		guarded("f1", "fast", "openai/f", "pii"), guarded("f2", "fast", "openai/f", "secrets", "pii"), deploy("f3", "fast", "openai/f"),
		guarded("s", "slow", "openai/s", "words"), guarded("e", "other", "openai/elsewhere", "tools"), guarded("r", "rest", "openai/r", "last"),
		guarded("w", "team/*", "openai/*", "wild"), guarded("l", "long", "openai/l", "window"), guarded("m", "mild", "openai/m", "policy"),
		deploy("p", "plain", "openai/p"), deploy("n", "lone", "openai/n"), guarded("by-id", "hidden", "openai/h", "alone"),
	)
	for name, want := range map[string]string{
		"fast": "pii secrets words tools last", "quick": "pii secrets words tools last", "slow": "words last", "rest": "last",
		"team/x": "wild last", "plain": "window policy last", "lone": "alone last",
	} {
		g, ok := c.Group(id.ModelName(name))
		if got := strings.Join(c.Guarded(g), " "); !ok || sorted(got) != sorted(want) {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}

func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestGuardrailsFollowDeployments: deployments that are added, changed and removed take their guardrails with them, and all
// that have a guardrail are known.
func TestGuardrailsFollowDeployments(t *testing.T) {
	t.Parallel()
	c := build(t, catalog.RouterSpec{}, guarded("file", "fast", "openai/f", "pii"))
	with := func(s catalog.DeploymentSpec) {
		t.Helper()
		next, err := c.With(s)
		if err != nil {
			t.Fatal(err)
		}
		c = next
	}
	check := func(want string, users int) {
		t.Helper()
		g, _ := c.Group("fast")
		if got := strings.Join(c.Guarded(g), " "); got != want || c.GuardrailUsers("id-1", "pii") != users {
			t.Errorf("%q, used by %d, want %q, used by %d", got, c.GuardrailUsers("id-1", "pii"), want, users)
		}
	}
	check("pii", 1)
	with(guarded("a", "fast", "openai/a", "id-1", "id-2"))
	check("pii id-1 id-2", 2)
	with(guarded("b", "slow", "openai/a", "id-1"))
	check("pii id-1 id-2", 3)
	next, err := c.WithRouter(catalog.RouterSpec{NumRetries: new(1), DefaultMaxParallel: new(9)}) // all deployments are made again
	if err != nil {
		t.Fatal(err)
	}
	c = next
	check("pii id-1 id-2", 3)
	with(deploy("a", "fast", "openai/a"))
	check("pii", 2)
	with(guarded("a", "fast", "openai/a", "pii")) // at run time this is an id, and names nothing
	check("pii", 2)
	c = c.Without("b").Without("a")
	check("pii", 1)
	if got := strings.Join(c.AllGuarded(), " "); got != "pii" {
		t.Errorf("all are %s", got)
	}
}

// TestBadGuardrailsOfADeployment: names that cannot be names are rejected.
func TestBadGuardrailsOfADeployment(t *testing.T) {
	t.Parallel()
	for name, refs := range map[string][]string{
		"empty": {""}, "a space": {" pii"}, "a control character": {"p\x00"}, "too long": {strings.Repeat("x", 257)}, "too many": make([]string, 101),
	} {
		_, err := catalog.New(catalog.Spec{Deployments: []catalog.DeploymentSpec{guarded("a", "fast", "openai/f", refs...)}}, providers(), nil)
		if err == nil || !strings.Contains(err.Error(), "guardrail") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
