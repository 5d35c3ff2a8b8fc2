package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// trace is one stack of a profile, innermost function first, and its CPU time.
type trace struct {
	cpu   time.Duration
	stack []string
}

// shares is the JSON line.
type shares struct {
	CPU   float64            `json:"go_cpu_s"`
	Parts map[string]float64 `json:"parts"` // of 1
}

// rule says to which part the functions belong whose names begin with a prefix.
type rule struct{ prefix, part string }

const (
	serving    = "serving a request"
	transport  = "gRPC with Envoy"
	metrics    = "metrics and log"
	journal    = "journal"
	consensus  = "consensus"
	applying   = "applying"
	chain      = "audit chain"
	compaction = "Pebble: flush and compaction"
	logs       = "Pebble: write-ahead logs"
	collecting = "garbage collection"
	scheduling = "scheduling"
	other      = "other"
)

const (
	ours   = "github.com/modelgateway/modelgateway/"
	pebble = "github.com/cockroachdb/pebble/v2"
	raft   = "github.com/hashicorp/raft"
)

// rules returns the rules; the first that matches a function decides. A function without one, of
// a library or of a package that several parts use, belongs to the part that called it.
func rules() []rule {
	return []rule{
		{"runtime.gcBgMarkWorker", collecting},
		{"runtime.gcAssistAlloc", collecting},
		{"runtime.gcStart", collecting},
		{"runtime.deductSweepCredit", collecting},
		{"runtime.(*mheap).reclaim", collecting},
		{"runtime.bgsweep", collecting},
		{"runtime.bgscavenge", collecting},

		{pebble + ".(*DB).flush", compaction},
		{pebble + ".(*DB).compact", compaction},
		{pebble + ".(*DB).runPickedCompaction", compaction},
		{pebble + ".(*DB).runCompaction", compaction},
		{pebble + ".(*DB).collectTableStats", compaction},
		{pebble + ".(*cleanupManager)", compaction},
		{pebble + "/sstable.(*RawColumnWriter).drainWriteQueue", compaction},
		{pebble + "/record.(*LogWriter).flushLoop", logs},
		{pebble + "/record.NewLogWriter", logs},

		{ours + "extproc/metrics.", metrics},
		{ours + "extproc/spenders.", metrics},
		{"go.opentelemetry.io/", metrics},
		{"github.com/prometheus/", metrics},
		{"log/slog.", metrics},

		{ours + "cluster/audit.", chain},
		{ours + "cluster/usageaudit.", chain},
		{ours + "cluster/ledger.", applying},
		{ours + "cluster/history.", applying},
		{ours + "cluster.machine.", applying},
		{raft + ".(*Raft).runFSM", applying},
		{ours + "cluster/journal.", journal},
		{ours + "cluster/ship.", journal},
		{ours + "cluster/consensus.(*applier)", applying},
		{ours + "cluster/consensus.", consensus},
		{raft, consensus},

		{ours + "extproc/frame.", transport},
		{ours + "envoy/socket.", transport},
		{"google.golang.org/grpc", transport},
		{"golang.org/x/net/http2", transport},
		{ours + "extproc", serving},

		{"runtime.mcall", scheduling},
		{"runtime.schedule", scheduling},
		{"runtime.mstart", scheduling},
	}
}

// traces reads what go tool pprof -traces prints: after a header, the stacks, each below a line
// of dashes and with the CPU time before its innermost function. The labels of a stack are above
// it.
func traces(r io.Reader) ([]trace, error) {
	var all []trace
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	inside := false // below the header
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(text, "-----------+") {
			inside = true
			all = append(all, trace{})
			continue
		}
		if !inside || text == "" {
			continue
		}
		last := &all[len(all)-1]
		if len(last.stack) > 0 {
			last.stack = append(last.stack, function(text))
			continue
		}
		first, rest, _ := strings.Cut(text, " ")
		if strings.HasSuffix(first, ":") { // a label
			continue
		}
		cpu, err := time.ParseDuration(first)
		if err != nil {
			return nil, fmt.Errorf("%q is neither a label nor a time and a function", text)
		}
		last.cpu, last.stack = cpu, append(last.stack, function(rest))
	}
	if len(all) == 0 {
		return nil, errors.Join(errors.New("the profile has no stacks"), lines.Err())
	}
	return all, lines.Err()
}

// function returns a function's name without the remark that it is inlined.
func function(text string) string {
	return strings.TrimSuffix(strings.TrimSpace(text), " (inline)")
}

// part returns the part to which a stack belongs.
func part(stack []string) string {
	for _, f := range stack {
		for _, r := range rules() {
			if strings.HasPrefix(f, r.prefix) {
				return r.part
			}
		}
	}
	return other
}

// divide adds the stacks up.
func divide(all []trace) shares {
	var sum time.Duration
	parts := map[string]time.Duration{}
	for _, t := range all {
		sum += t.cpu
		parts[part(t.stack)] += t.cpu
	}
	s := shares{CPU: sum.Seconds(), Parts: map[string]float64{}}
	for name, cpu := range parts {
		if sum > 0 {
			s.Parts[name] = math.Round(10_000*float64(cpu)/float64(sum)) / 10_000
		}
	}
	return s
}
