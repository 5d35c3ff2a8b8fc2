//go:build !race

package splice_test

const slower = 1
