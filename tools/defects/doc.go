// Command defects shows that the tests find bugs: for each of the known bugs that the
// tag defects builds in (cluster/inject), it runs the tests that are there to find it,
// once as the code is, when they have to pass, and once with the bug, when they have
// to fail. It prints a table of what was caught and what was missed, and ends with
// status 1 when anything was missed.
//
// Arguments name the bugs to look for; without any it looks for all of them.
package main
