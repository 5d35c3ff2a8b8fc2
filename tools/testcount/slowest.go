package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

const (
	// listed is how many tests, and how many packages, are listed at most.
	listed = 10
	// slow is the number of seconds from which a test or a package is listed.
	slow = 1.0
)

// timing is how many seconds a test or a package took.
type timing struct {
	name    string
	seconds float64
}

// printSlowest lists the slowest of what is given, the slowest first.
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
