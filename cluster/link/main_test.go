package link_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks a name up before any test does. The standard library makes what it
// keeps of resolv.conf at the first lookup; made in a synctest bubble, it ends every
// later lookup outside that bubble, and the process with it ("send on synctest
// channel from outside bubble"). Which test is first is left to the shuffle.
func TestMain(m *testing.M) {
	if _, err := net.DefaultResolver.LookupHost(context.Background(), "localhost"); err != nil {
		fmt.Fprintln(os.Stderr, "look up localhost:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
