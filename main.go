// Command modelgateway is the gateway between applications and language-model
// providers: one binary that runs Envoy, decides where requests go and records
// what they cost. See README.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelgateway/modelgateway/cli"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// version is set when the binary is linked.
var version = "dev"

func main() {
	os.Exit(run())
}

// run returns the exit status: 0, or 1 with the reason on standard error.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := cli.Root(version).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "modelgateway: "+explain(err))
		return 1
	}
	return 0
}

// explain prints an error for an operator: the causes are theirs to see.
func explain(err error) string {
	if e, ok := err.(*fault.Error); ok && e.Err == nil { //nolint:errorlint // what wraps one has more to say
		return e.Message()
	}
	return err.Error()
}
