// Command ledger measures the processing of a request's money and record, without Envoy and
// HTTP. The nodes run in this process, on a real disk, and replicate over TLS on this machine's
// loopback. On one node and on three it prints
//
//   - the wait for a settle, which the journal adds to the last byte of a response, with one
//     caller and at a rate, next to the duration of one sync of the same disk;
//   - the time after that until the spend is posted, and so visible in reports;
//   - the number of requests per second that are settled, and posted on all nodes;
//   - the bytes that a request's usage record and audit records take in the state, packed, with
//     their indexes;
//   - the number of records of the audit chain that are appended and verified per second.
//
// At the end the books must be correct: each node's ledger has the total cost, to the
// pico-dollar, and its audit chain verifies. The exit status reports that, and never the speed.
// Three nodes share this machine's disk and cores; on separate machines they are faster.
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

// clusterSizes are the smallest cluster, and the smallest that survives the loss of one node.
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
	if err := measureChain(filepath.Join(o.dir, "chain"), o.records, r); err != nil { //nolint:contextcheck // bounded work
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

// syncs is the number of measurements of the idle disk.
const syncs = 200

func onNodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
