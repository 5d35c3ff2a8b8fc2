package inject_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/inject"
)

// child turns the test binary into a process that has faults: "points" passes two
// points five times each, "defects" prints the bugs that it has.
const child = "INJECT_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(child) {
	case "points":
		for n := range 5 {
			fmt.Println(n)
			inject.Crash("one")
			inject.Crash("other")
		}
	case "defects":
		for _, name := range inject.Defects() {
			if inject.HasDefect(name) {
				fmt.Println(name)
			}
		}
	default:
		os.Exit(m.Run())
	}
}

// process returns the command that runs a child with one more setting.
func process(ctx context.Context, kind, setting string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+kind, setting)
	return cmd
}
