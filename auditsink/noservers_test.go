//go:build !servers

package auditsink_test

// environment is empty: only tests with real servers need one.
func environment() map[string]string { return nil }
