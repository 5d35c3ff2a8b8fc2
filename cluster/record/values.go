package record

import (
	"maps"
	"slices"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// NamedValues returns a map as records store it: sorted by name, so that equal maps have equal
// bytes.
func NamedValues(m map[string]string) []*clusterv1.NamedValue {
	list := make([]*clusterv1.NamedValue, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, &clusterv1.NamedValue{Name: name, Value: m[name]})
	}
	return list
}

// FromNamedValues is the reverse of NamedValues. The empty list is the nil map.
func FromNamedValues(list []*clusterv1.NamedValue) map[string]string {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]string, len(list))
	for _, v := range list {
		m[v.GetName()] = v.GetValue()
	}
	return m
}
