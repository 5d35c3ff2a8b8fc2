package store_test

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// childDir is the environment variable with the directory of a child process.
const childDir = "STORE_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		childMain(dir)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// childMain commits numbered records until it is killed, and prints the confirmed ones.
func childMain(dir string) {
	s, err := store.Open(store.Config{Dir: dir, MinFreeBytes: 1 << 20, BallastBytes: 1 << 16})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	out := bufio.NewWriter(os.Stdout)
	for n := 0; ; n++ {
		b := s.NewBatch()
		b.Set(store.SpaceEvent, fmt.Appendf(nil, "%d/%09d", os.Getpid(), n), []byte("x"))
		if err := b.Commit(); err != nil {
			fmt.Println("error", err)
			return
		}
		b.Close()
		_, _ = fmt.Fprintf(out, "%d/%09d\n", os.Getpid(), n) // Flush returns its error
		if err := out.Flush(); err != nil {
			return
		}
	}
}
