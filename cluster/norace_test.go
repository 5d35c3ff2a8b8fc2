//go:build !race

package cluster_test

// usualSeeds is how many random schedules are played.
const usualSeeds = 50
