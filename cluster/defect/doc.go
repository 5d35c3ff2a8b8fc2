// Package defect puts known bugs into the code, so that it can be shown that the
// tests find them.
//
// In a binary built with the tag defects, Is reports whether the environment names
// its bug: MODELGATEWAY_DEFECT=no_dedup. In every other binary it is constant and
// false, and the compiler leaves out what depends on it.
//
// The bugs are listed in Names; a test here holds the list to the calls that there
// are, and tools/defects runs for each of them the test that has to fail.
package defect
