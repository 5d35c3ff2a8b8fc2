package event_test

import (
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/event"
)

func TestTypes(t *testing.T) {
	types := event.Types()
	if len(types) != 29 || len(slices.Compact(slices.Sorted(slices.Values(types)))) != 29 {
		t.Errorf("%d types", len(types))
	}
	if !event.KnownType("spend.debited") || event.KnownType("spend") || event.KnownType("") {
		t.Error("KnownType")
	}
}
