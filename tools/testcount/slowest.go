package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

const (
	// listed limits the number of listed tests and of listed packages.
	listed = 10
	// slow is the shortest listed duration in seconds.
	slow = 1.0
)

// timing is the duration of a test or a package in seconds.
type timing struct {
	name    string
	seconds float64
}

// printSlowest lists the slowest timings in descending order.
func printSlowest(out io.Writer, what string, all []timing) {
	all = slices.DeleteFunc(slices.Clone(all), func(t timing) bool { return t.seconds < slow })
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b timing) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.name, b.name))
	})
	fmt.Fprintf(out, "slowest %s:\n", what)
	for _, t := range all[:min(listed, len(all))] {
		fmt.Fprintf(out, "%8.1fs  %s\n", t.seconds, t.name)
	}
}
