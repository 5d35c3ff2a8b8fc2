//go:build race

package main

// raceEnabled says whether the tests detect races.
const raceEnabled = true
