//go:build !defects

package inject

// HasDefect is false: this binary was built without the tag defects.
func HasDefect(string) bool { return false }
