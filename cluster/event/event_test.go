package event_test

import (
	"slices"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/event"
)

func TestTypes(t *testing.T) {
	types := event.Types()
	if len(types) != 30 || len(slices.Compact(slices.Sorted(slices.Values(types)))) != 30 {
		t.Errorf("%d types", len(types))
	}
	if !event.KnownType("spend.debited") || event.KnownType("spend") || event.KnownType("") {
		t.Error("KnownType")
	}
}
