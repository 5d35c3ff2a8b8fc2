package event_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/event"
)

func TestTypes(t *testing.T) {
	types := event.Types()
	if len(slices.Compact(slices.Sorted(slices.Values(types)))) != len(types) {
		t.Errorf("a type is listed twice: %q", types)
	}
	source, err := os.ReadFile("event.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := regexp.MustCompile(`(?m)^\tType\w+ += "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, m := range constants {
		if !event.KnownType(m[1]) {
			t.Errorf("queries do not accept the type %s, which the gateway records", m[1])
		}
	}
	if len(constants) < 15 {
		t.Errorf("only %d constants are found", len(constants))
	}
	for _, reserved := range []string{
		"request.cache_hit", "request.compressed", "policy.evaluated", "policy.changed", "policy.blocked", "login.success", "login.failed",
		"mfa.challenged", "memory.retrieved", "memory.stored", "token_saving.plan_updated",
	} {
		if !event.KnownType(reserved) {
			t.Errorf("queries do not accept the reserved type %s", reserved)
		}
	}
	if !event.KnownType("spend.debited") || event.KnownType("spend") || event.KnownType("") {
		t.Error("KnownType")
	}
}
