// Command procsample prints the CPU seconds and memory of a process tree as one JSON line, once
// or at an interval. With -quiet it instead waits until the machine is nearly idle, so that
// other work does not disturb a measurement.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
)

func main() {
	pid := flag.Int("pid", 0, "root of the process tree")
	every := flag.Duration("every", 0, "sample at this interval until the process ends; 0: once")
	quiet := flag.Float64("quiet", 0, "wait until less than this many cores are busy for two seconds")
	atMost := flag.Duration("at-most", 2*time.Minute, "give up waiting for quiet after this")
	flag.Parse()
	if *quiet > 0 {
		waitQuiet(*quiet, *atMost)
		return
	}
	enc := json.NewEncoder(os.Stdout)
	start := time.Now()
	for {
		t, err := procstat.Of(*pid)
		if err != nil {
			if *every > 0 {
				return
			}
			log.Fatal(err)
		}
		programs := map[string]float64{}
		for name, p := range t.Programs {
			programs[name] = float64(p.RSS>>10) / 1024
		}
		_ = enc.Encode(map[string]any{
			"t_s": time.Since(start).Seconds(), "procs": t.PIDs, "cpu_s": t.CPU.Seconds(),
			"rss_mb": float64(t.RSS>>10) / 1024, "pss_mb": float64(t.PSS>>10) / 1024, "rss_mb_by": programs,
		})
		if *every <= 0 {
			return
		}
		time.Sleep(*every)
	}
}

func waitQuiet(cores float64, atMost time.Duration) {
	const look = 2 * time.Second
	for end := time.Now().Add(atMost); ; {
		before, err := procstat.MachineBusy()
		if err != nil {
			log.Fatal(err)
		}
		time.Sleep(look)
		after, _ := procstat.MachineBusy()
		busy := (after - before).Seconds() / look.Seconds()
		if busy < cores {
			return
		}
		if time.Now().After(end) {
			log.Printf("not quiet: %.2f cores busy", busy)
			return
		}
	}
}
