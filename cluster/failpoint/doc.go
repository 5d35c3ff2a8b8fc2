// Package failpoint lets tests kill the process at chosen places in the code.
//
// In a binary built with the tag failpoints, Hit kills the process with SIGKILL, as
// a power cut would, when the environment names its point:
// MODELGATEWAY_FAILPOINT=journal.settle.synced, or with :3 behind it for the third
// time that the point is passed. In every other binary Hit is empty and costs
// nothing.
//
// The points are listed in Names, so that a test can go through all of them, and a
// test here holds the list to the calls that there are.
package failpoint
