package main

import (
	"fmt"
	"io"
	"slices"
)

// envoyProgram is the name of Envoy's process.
const envoyProgram = "envoy"

// profile is the CPU profile of a scenario, by the parts of the gateway's work.
type profile struct {
	CPU   float64            `json:"go_cpu_s"`
	Parts map[string]float64 // shares of CPU
}

// disk is the size of the data directory after all requests of a peer.
type disk struct {
	Requests int
	Tables   float64 `json:"table_bytes"` // of the state's tables
	All      float64 `json:"bytes"`
}

func (l line) requests() int {
	if l.Disk == nil {
		return 0
	}
	return l.Disk.Requests
}

// perRequest returns the bytes that a request takes for as long as its records are kept.
func (l line) perRequest() float64 {
	if l.requests() == 0 {
		return 0
	}
	return l.Disk.Tables / float64(l.Disk.Requests)
}

func (l line) megabytes() float64 {
	if l.Disk == nil {
		return 0
	}
	return l.Disk.All / (1 << 20)
}

// part is what a part of the gateway's work used in each round.
type part struct {
	name   string
	shares []float64 // of Go's CPU, in percent
	each   []float64 // µs a request, at the usual speed of the core
}

// parts returns the parts of all profiles, the largest first.
func (t *table) parts() []part {
	var all []part
	find := func(name string) *part {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, part{name: name})
		}
		return &all[i]
	}
	for _, l := range t.lines["profile"][ours] {
		if l.Profile == nil || l.Usage == nil || l.Usage.Whole == nil || l.Usage.Whole.Requests == 0 {
			continue
		}
		for name, share := range l.Profile.Parts {
			p := find(name)
			p.shares = append(p.shares, 100*share)
			p.each = append(p.each, share*l.Profile.CPU*1e6/float64(l.Usage.Whole.Requests)/t.slow(l))
		}
	}
	slices.SortFunc(all, func(a, b part) int {
		if a, b := median(a.shares), median(b.shares); a != b {
			if a > b {
				return -1
			}
			return 1
		}
		return 0
	})
	return all
}

// printParts prints what uses the gateway's Go CPU, with the CPU of its Envoy.
func (t *table) printParts(w io.Writer) {
	all := t.parts()
	if len(all) == 0 {
		return
	}
	var requests, envoys, quiet []float64
	for _, l := range t.lines["profile"][ours] {
		if l.Usage == nil || l.Usage.Whole == nil {
			continue
		}
		requests = append(requests, float64(l.Usage.Whole.Requests))
		envoys = append(envoys, l.Usage.Whole.By[envoyProgram]/t.slow(l))
		quiet = append(quiet, l.Usage.Whole.QuietS)
	}
	fmt.Fprintf(w, "\n**Parts of the gateway's Go CPU** (S1 once more with a profile, %.0f requests and the %.0f s of work after them)\n\n", median(requests), median(quiet))
	fmt.Fprint(w, "| part | % of Go's CPU | µs/req at usual core speed |\n|---|---|---|\n")
	sum := 0.0
	for _, p := range all {
		fmt.Fprintf(w, "| %s | %s | %s |\n", p.name, spread(p.shares, 1), spread(p.each, 1))
		sum += median(p.each)
	}
	fmt.Fprintf(w, "| all of Go | 100 | %.0f |\n| Envoy of the gateway | – | %s |\n", sum, spread(envoys, 0))
}

// spread prints the median and, of more than one value, the least and the greatest.
func spread(v []float64, digits int) string {
	out := fmt.Sprintf("%.*f", digits, median(v))
	if len(v) > 1 {
		out += fmt.Sprintf(" [%.*f–%.*f]", digits, slices.Min(v), digits, slices.Max(v))
	}
	return out
}
