//go:build !race

package cluster_test

const (
	// usualSeeds is how many random schedules are played.
	usualSeeds = 50
	// usualRestores is how many restores are made.
	usualRestores = 10
)
