package consensus_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childFault makes the test binary run tests that leave goroutines behind, in a child process.
const childFault = "CONSENSUS_TEST_CHILD_FAULT"

func TestMain(m *testing.M) {
	if os.Getenv(childFault) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}
