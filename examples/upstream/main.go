// Command upstream serves the fake provider on loopback, so that the gateway
// can be tried, and its examples run, without an account anywhere:
//
//	go run ./examples/upstream -listen 127.0.0.1:9100
//
// The README next to it describes its responses and how to make it misbehave. GET
// /_fake/requests shows the requests it received.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	flags.SetOutput(log)
	listen := flags.String("listen", "127.0.0.1:9100", "`address` to serve")
	key := flags.String("api-key", "", "refuse requests that do not bring this `key`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", *listen)
	if err != nil {
		return fmt.Errorf("%w; choose another with -listen", err)
	}
	provider := fake.New(fake.Options{APIKey: *key})
	srv := &http.Server{Handler: provider, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(log, "upstream: the fake provider serves http://%s/v1\n", ln.Addr())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	provider.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close() // connections that still hang arrived while the provider closed
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
