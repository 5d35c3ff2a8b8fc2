//go:build race

package cluster_test

// The race detector makes each schedule ten times slower: Pebble checks its invariants
// then, too. make nightly plays a hundred schedules and ten restores with it.
const (
	// usualSeeds is how many random schedules are played.
	usualSeeds = 1
	// usualRestores is how many restores are made. The first is not disturbed; in the
	// fourth the leader loses its power.
	usualRestores = 4
)
