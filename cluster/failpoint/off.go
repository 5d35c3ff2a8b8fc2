//go:build !failpoints

package failpoint

// Hit does nothing: this binary was built without the tag failpoints.
func Hit(string) {}
