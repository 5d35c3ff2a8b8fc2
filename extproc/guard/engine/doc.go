// Package engine says what an engine of a guardrail is: it finds spans in texts. It does not know
// where a text comes from, nor what happens to what it finds.
//
// A text may come whole or in pieces, as a stream does. An engine finds the same in both: however a
// text is cut, its scanner reports the same findings. Package enginetest has the test of that law.
package engine
