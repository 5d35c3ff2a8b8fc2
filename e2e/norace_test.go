//go:build !race

package e2e

// raceEnabled says whether the tests detect races.
const raceEnabled = false
