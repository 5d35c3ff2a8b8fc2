// Package evaluate measures an engine with labelled texts: how much of what it finds is right, and how
// much of what is right it finds.
package evaluate
