//go:build !failpoints

package inject

// Crash does nothing: this binary was built without the tag failpoints.
func Crash(string) {}
