//go:build !race

package main

// raceEnabled says that the tests, and so the binary they drive, detect races.
const raceEnabled = false
