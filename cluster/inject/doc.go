// Package inject puts faults into the code, so that tests can show what the gateway
// survives and what the tests find. It does so only in binaries built with the tag inject.
//
// Crash kills the process with SIGKILL, as a power cut would, at a chosen point, when the
// environment names the point: MODELGATEWAY_FAILPOINT=journal.settle.synced, or with :3
// appended for the third time that the point is passed.
//
// HasDefect switches a known bug on, when the environment names the bug:
// MODELGATEWAY_DEFECT=no_dedup.
//
// In every other binary Crash is empty and HasDefect is constant and false: the
// compiler removes both, and the code that depends on them.
//
// Points and Defects list all names, so that a test can go through them. A test here
// compares the lists with the calls in the source, and tools/defects runs, for each
// defect, the tests that must fail with it.
package inject
