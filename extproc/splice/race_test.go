//go:build race

package splice_test

// slower is by how much the race detector slows a scan down.
const slower = 20
