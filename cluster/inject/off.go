//go:build !inject

package inject

// Crash does nothing: this binary was built without the tag inject.
func Crash(string) {}

// HasDefect is false: this binary was built without the tag inject.
func HasDefect(string) bool { return false }
