// Command syncprobe times one durable append on a disk. It appends a record to a file in -dir
// and syncs it, many times, and prints the quantiles as one JSON line. A gateway that journals
// each request before it responds cannot add less latency than this.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"slices"

	"github.com/modelgateway/modelgateway/bench/internal/disk"
)

func main() {
	dir := flag.String("dir", ".", "directory on the disk to measure")
	n := flag.Int("n", 200, "appends")
	flag.Parse()
	times, err := disk.Measure(*dir, *n)
	if err != nil {
		log.Fatal(err)
	}
	slices.Sort(times)
	at := func(q float64) float64 {
		return float64(times[min(len(times)-1, int(q*float64(len(times))))].Microseconds()) / 1000
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"n": len(times), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99)})
}
