// Command syncprobe times what one durable append costs on a disk: a record is
// appended to a file in -dir and synced, many times over, and the quantiles are
// printed as one JSON line. A gateway that journals each request before it
// answers cannot add less than this, so its latency is read beside this figure.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// record is about what a journal writes for one request, in bytes.
const record = 512

func main() {
	dir := flag.String("dir", ".", "directory on the disk to measure")
	n := flag.Int("n", 200, "appends")
	flag.Parse()
	times, err := measure(*dir, *n)
	if err != nil {
		log.Fatal(err)
	}
	slices.Sort(times)
	at := func(q float64) float64 {
		return float64(times[min(len(times)-1, int(q*float64(len(times))))].Microseconds()) / 1000
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"n": len(times), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99)})
}

// measure returns how long each of n synced appends took.
func measure(dir string, n int) ([]time.Duration, error) {
	f, err := os.CreateTemp(dir, "syncprobe-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(f.Name()); err != nil { // it goes away with the process, however that ends
		return nil, err
	}
	buf := make([]byte, record)
	times := make([]time.Duration, 0, n)
	for range max(n, 1) {
		start := time.Now()
		if _, err := f.Write(buf); err != nil {
			return nil, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}
