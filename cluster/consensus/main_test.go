package consensus_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childFault turns the test binary into a child process of itself, whose tests
// leave goroutines behind.
const childFault = "CONSENSUS_TEST_CHILD_FAULT"

func TestMain(m *testing.M) {
	if os.Getenv(childFault) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}
