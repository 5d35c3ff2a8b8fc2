//go:build !defects

package defect

// Is is false: this binary was built without the tag defects.
func Is(string) bool { return false }
