package keys

import (
	"maps"
	"slices"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// namedValues is a map as records hold it: sorted, for a map has no order of its own.
func namedValues(m map[string]string) []*clusterv1.NamedValue {
	var out []*clusterv1.NamedValue
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, &clusterv1.NamedValue{Name: name, Value: m[name]})
	}
	return out
}

func fromNamedValues(list []*clusterv1.NamedValue) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]string, len(list))
	for _, v := range list {
		out[v.GetName()] = v.GetValue()
	}
	return out
}
