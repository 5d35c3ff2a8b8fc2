// Command ledger measures what happens to a request's money and record, without
// Envoy and HTTP: nodes run in this process, on a real disk, and agree over TLS on
// this machine's loopback. On one node and on three it prints
//
//   - how long a settle is waited for, which is what the journal adds to an answer's
//     last byte, with one caller and at a rate, beside what one sync of the same disk
//     takes meanwhile;
//   - how long after it the spend is posted, which is when reports show it;
//   - how many requests a second are settled, and posted on all nodes;
//   - how many records of the audit chain are appended and verified a second.
//
// At the end the books have to be right: each node's ledger has what was spent, to
// the pico-dollar, and its audit chain verifies. The exit status says whether that
// is so, and never how fast it was. Three nodes share this machine's disk and
// cores: on machines of their own they are faster.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/disk"
)

// options are the flags.
type options struct {
	dir      string
	requests int
	callers  int
	rate     float64
	length   time.Duration
	records  int
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "empty `directory` for the data, on the disk to measure")
	flag.IntVar(&o.requests, "requests", 50_000, "requests that are made as fast as it goes")
	flag.IntVar(&o.callers, "callers", 256, "callers that make them")
	flag.Float64Var(&o.rate, "rate", 200, "requests a second while times are taken")
	flag.DurationVar(&o.length, "length", 10*time.Second, "how long times are taken, for each line of the table")
	flag.IntVar(&o.records, "records", 100_000, "records to append to the audit chain alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// clusterSizes are how many nodes there are: the least, and the least that survive
// the loss of one.
func clusterSizes() []int { return []int{1, 3} }

// run measures everything and prints one table.
func run(ctx context.Context, o options, to io.Writer) error {
	if o.dir == "" || o.requests <= 0 || o.callers <= 0 || o.rate <= 0 || o.length <= 0 || o.records <= 0 {
		return fmt.Errorf("-dir is needed, an empty directory, and all numbers must be above 0")
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	r := &report{}
	alone, err := disk.Measure(o.dir, syncs)
	if err != nil {
		return err
	}
	r.times("one synced append, nothing else on the disk", alone, "")
	log.Print("measuring the audit chain alone")
	if err := measureChain(filepath.Join(o.dir, "chain"), o.records, r); err != nil { //nolint:contextcheck // it ends by itself
		return fmt.Errorf("the audit chain: %w", err)
	}
	for _, nodes := range clusterSizes() {
		if err := measureNodes(ctx, o, nodes, r); err != nil {
			return fmt.Errorf("%s: %w", onNodes(nodes), err)
		}
	}
	r.print(to)
	return nil
}

// syncs is how often the disk is measured before anything runs on it.
const syncs = 200

func onNodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
