package guard

// Makers returns what makes the engines, by the names of cluster/guardrails. A new engine is a package, and a
// row here.
func Makers() map[string]Maker {
	return map[string]Maker{}
}
