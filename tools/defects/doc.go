// Command defects shows that the tests detect bugs. For each known bug that the tag inject
// compiles in (cluster/inject), it runs the tests that must detect it: once without the bug,
// when they must pass, and once with the bug, when they must fail. It prints a table of the
// caught and missed bugs, and exits with status 1 if any was missed.
//
// Arguments select bugs; without any it runs all.
package main
