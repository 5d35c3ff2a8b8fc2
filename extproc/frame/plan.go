package frame

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendPlan appends the dynamic metadata {namespace: {key: [{name, clusters: [{cluster_name,
// weight: 1}]}, …]}}, which Envoy's priority_group cluster specifier reads. There is one group
// per attempt, in the order of the plan.
func AppendPlan(dst []byte, namespace, key string, groups []Group) []byte {
	list := 0
	for i := range groups {
		list += sizeBytes(valueStruct(groupSize(i, groups[i].Cluster)))
	}
	inner := entrySize(key, sizeBytes(list))
	outer := entrySize(namespace, sizeBytes(sizeBytes(inner)))
	dst = slices.Grow(dst, sizeBytes(sizeBytes(outer)))
	dst = appendLen(dst, respMetadata, sizeBytes(outer))
	dst = appendEntry(dst, namespace, outer, sizeBytes(sizeBytes(inner)))
	dst = appendLen(dst, 5, sizeBytes(inner)) // Value.struct_value
	dst = appendEntry(dst, key, inner, sizeBytes(list))
	dst = appendLen(dst, 6, list) // Value.list_value
	for i := range groups {
		g := groupSize(i, groups[i].Cluster)
		dst = appendLen(dst, 1, valueStruct(g)) // ListValue.values
		dst = appendLen(dst, 5, g)
		dst = appendGroup(dst, i, groups[i].Cluster)
	}
	return dst
}

// The keys of a group in envoy/extensions/router/cluster_specifiers/priority_group/v3.
const (
	keyName     = "name"
	keyClusters = "clusters"
	keyCluster  = "cluster_name"
	keyWeight   = "weight"
)

// weightSize is the size of a Value with a number: a tag and eight bytes.
const weightSize = 9

// groupName returns the name of a group, which Envoy requires.
func groupName(i int) string {
	const names = "abcdefghijklmnopqrstuvwxyz"
	return names[i%len(names) : i%len(names)+1]
}

func clusterSize(cluster string) int {
	return sizeBytes(entrySize(keyCluster, sizeBytes(len(cluster)))) + sizeBytes(entrySize(keyWeight, weightSize))
}

func groupSize(i int, cluster string) int {
	clusters := sizeBytes(valueStruct(clusterSize(cluster)))
	return sizeBytes(entrySize(keyName, sizeBytes(len(groupName(i))))) + sizeBytes(entrySize(keyClusters, sizeBytes(clusters)))
}

func appendGroup(dst []byte, i int, cluster string) []byte {
	name := groupName(i)
	dst = appendEntry(dst, keyName, entrySize(keyName, sizeBytes(len(name))), sizeBytes(len(name)))
	dst = appendString(dst, 3, name) // Value.string_value
	c := clusterSize(cluster)
	list := sizeBytes(valueStruct(c))
	dst = appendEntry(dst, keyClusters, entrySize(keyClusters, sizeBytes(list)), sizeBytes(list))
	dst = appendLen(dst, 6, list)
	dst = appendLen(dst, 1, valueStruct(c))
	dst = appendLen(dst, 5, c)
	dst = appendEntry(dst, keyCluster, entrySize(keyCluster, sizeBytes(len(cluster))), sizeBytes(len(cluster)))
	dst = appendString(dst, 3, cluster)
	dst = appendEntry(dst, keyWeight, entrySize(keyWeight, weightSize), weightSize)
	dst = protowire.AppendTag(dst, 2, protowire.Fixed64Type) // Value.number_value
	return protowire.AppendFixed64(dst, math.Float64bits(1))
}

// valueStruct returns the size of a Value that holds a Struct of n bytes.
func valueStruct(n int) int { return sizeBytes(n) }

// entrySize returns the size of a map entry with a key and a value of n bytes.
func entrySize(key string, n int) int { return sizeBytes(len(key)) + sizeBytes(n) }

// appendEntry appends the start of one entry of Struct.fields, up to its value.
func appendEntry(dst []byte, key string, size, value int) []byte {
	dst = appendLen(dst, 1, size)
	dst = appendString(dst, mapKey, key)
	return appendLen(dst, mapValue, value)
}

func appendLen(dst []byte, num protowire.Number, n int) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	return protowire.AppendVarint(dst, uint64(n))
}

// AppendMetadata appends the dynamic metadata {namespace: {key: text}}.
func AppendMetadata(dst []byte, namespace, key, text string) []byte {
	inner := entrySize(key, sizeBytes(len(text)))
	outer := entrySize(namespace, sizeBytes(sizeBytes(inner)))
	dst = appendLen(dst, respMetadata, sizeBytes(outer))
	dst = appendEntry(dst, namespace, outer, sizeBytes(sizeBytes(inner)))
	dst = appendLen(dst, 5, sizeBytes(inner)) // Value.struct_value
	dst = appendEntry(dst, key, inner, sizeBytes(len(text)))
	return appendString(dst, 3, text) // Value.string_value
}
