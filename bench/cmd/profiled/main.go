// Command profiled is the gateway, with a profile of its CPU time on request: the signal
// SIGUSR1 starts a profile, and SIGUSR2 ends it and writes the file that CPU_PROFILE names. So
// the gateway itself needs no listener or setting for profiles.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"syscall"

	"github.com/modelgateway/modelgateway/cli"
)

func main() { os.Exit(run()) }

// run returns the exit status.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		if err := profile(signals, os.Getenv("CPU_PROFILE")); err != nil {
			fmt.Fprintln(os.Stderr, "profiled: "+err.Error())
		}
	}()
	if err := cli.Root("profiled").ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "profiled: "+err.Error())
		return 1
	}
	return 0
}

// profile writes a profile for each pair of signals, until an error.
func profile(signals <-chan os.Signal, path string) error {
	for {
		if <-signals != syscall.SIGUSR1 {
			continue
		}
		if err := record(signals, path); err != nil {
			return err
		}
	}
}

// record writes one profile. The file gets its name when it is complete.
func record(signals <-chan os.Signal, path string) (err error) {
	if path == "" {
		return errors.New("CPU_PROFILE names no file")
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	for s := range signals {
		if s == syscall.SIGUSR2 {
			break
		}
	}
	pprof.StopCPUProfile()
	return errors.Join(f.Close(), os.Rename(f.Name(), path))
}
