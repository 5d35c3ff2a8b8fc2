//go:build race

package cluster_test

// usualSeeds is how many random schedules are played with the race detector, which
// makes each ten times slower: Pebble checks its invariants then, too. make nightly
// plays a hundred.
const usualSeeds = 5
