package auditsink_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain sets the environment that tests need: a test that sets it itself cannot run next to
// others.
func TestMain(m *testing.M) {
	for name, value := range environment() {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}
