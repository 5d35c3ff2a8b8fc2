// Command loadgen loads an endpoint of OpenAI's or Anthropic's API and prints one JSON line.
//
// Closed loop (-mode closed): -conns workers, each sending its next request after the last
// response. It finds the highest throughput. Its latencies favor a server that stalls, because
// a stalled server gets no requests.
//
// Open loop (-mode open): requests start at predetermined times, -rate a second, independent of
// the server, and each latency counts from the scheduled start. So a stall is charged to every
// request that was due during it (no coordinated omission).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/speed"
)

// options are the command line flags.
type options struct {
	url      string
	kind     string
	prompt   string
	headers  headerFlags
	mode     string
	conns    int
	rate     float64
	arrival  string
	inflight int
	stream   bool
	chunks   int
	bytes    int
	warmup   time.Duration
	duration time.Duration
	timeout  time.Duration
	quiet    time.Duration
	model    string
	size     int
	pid      int
	peak     bool
	mockPID  int
	mockURL  string
	probe    int
	labels   labelFlags
	showErrs int
}

type headerFlags []string

func (h *headerFlags) String() string { return strings.Join(*h, ", ") }
func (h *headerFlags) Set(s string) error {
	if !strings.Contains(s, ":") {
		return errors.New("a header is Name: value")
	}
	*h = append(*h, s)
	return nil
}

type labelFlags map[string]string

func (l labelFlags) String() string { return fmt.Sprint(map[string]string(l)) }
func (l labelFlags) Set(s string) error {
	k, v, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("a label is key=value")
	}
	l[k] = v
	return nil
}

func (o *options) check() error {
	switch {
	case o.mode != "closed" && o.mode != "open":
		return errors.New("-mode must be closed or open")
	case o.mode == "open" && o.rate <= 0:
		return errors.New("-rate must be positive")
	case o.arrival != "poisson" && o.arrival != "const":
		return errors.New("-arrival must be poisson or const")
	case o.duration <= 0 || o.conns < 1 || o.inflight < 1:
		return errors.New("-duration, -conns and -max-inflight must be positive")
	}
	if o.quiet > 0 && (o.pid <= 0 || o.mockURL == "") {
		return errors.New("-quiet-after needs -pid and -mock")
	}
	if o.peak && o.pid <= 0 {
		return errors.New("-peak needs -pid")
	}
	if o.prompt != "" && (o.kind != chat || o.stream) {
		return errors.New("-prompt is for whole chats")
	}
	if o.stream && o.kind != chat {
		return errors.New("-stream is for chats; speech is always read as it comes")
	}
	return nil
}

func main() {
	if speed.Main() {
		return
	}
	o := options{labels: labelFlags{}}
	flag.StringVar(&o.url, "url", "http://127.0.0.1:9100/v1/chat/completions", "endpoint")
	flag.StringVar(&o.kind, "kind", chat, "what to ask for: "+strings.Join(kinds(), ", "))
	flag.StringVar(&o.prompt, "prompt", "", "stored prompt of five variables that a chat names")
	flag.Var(&o.headers, "H", "header to send, as 'Name: value' (repeatable)")
	flag.StringVar(&o.mode, "mode", "closed", "closed or open")
	flag.IntVar(&o.conns, "conns", 32, "workers of the closed loop")
	flag.Float64Var(&o.rate, "rate", 200, "requests a second of the open loop")
	flag.StringVar(&o.arrival, "arrival", "poisson", "open loop: poisson (from a fixed seed) or const")
	flag.IntVar(&o.inflight, "max-inflight", 8192, "open loop: requests beyond this are counted as dropped")
	flag.BoolVar(&o.stream, "stream", false, "ask for a stream")
	flag.IntVar(&o.chunks, "expect-chunks", 0, "a stream with another number of content events is an error; 0: any")
	flag.IntVar(&o.bytes, "expect-bytes", 0, "speech of another number of bytes is an error; 0: any")
	flag.DurationVar(&o.warmup, "warmup", 2*time.Second, "load before measuring")
	flag.DurationVar(&o.duration, "duration", 15*time.Second, "time measured")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Second, "of a read or a write")
	flag.DurationVar(&o.quiet, "quiet-after", 0, "wait at most this long until the gateway has no more work, and report the CPU of all; 0: do not")
	flag.StringVar(&o.model, "model", "mock-gpt", "model to ask for")
	flag.IntVar(&o.size, "size", 1024, "bytes of the request body")
	flag.IntVar(&o.pid, "pid", 0, "gateway's process: report its tree's CPU and memory")
	flag.BoolVar(&o.peak, "peak", false, "report the tree's memory before the first request, and its highest until the end")
	flag.IntVar(&o.mockPID, "mock-pid", 0, "mock's process: report its CPU")
	flag.StringVar(&o.mockURL, "mock", "", "mock's base address: check that the requests reached it")
	flag.IntVar(&o.probe, "probe-core", -1, "core whose speed to probe meanwhile: the gateway's; -1: none")
	flag.IntVar(&o.showErrs, "show-errors", 3, "kinds of error to list")
	flag.Var(o.labels, "label", "key=value to copy into the result (repeatable)")
	flag.Parse()
	if err := o.check(); err != nil {
		log.Fatal(err)
	}
	res, err := run(context.Background(), &o)
	if err != nil {
		log.Fatal(err)
	}
	out, err := json.Marshal(res)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "%s\n", out)
}

// run performs one scenario.
func run(ctx context.Context, o *options) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, o.warmup+o.duration+2*o.timeout)
	defer cancel()
	doc, err := documentOf(o)
	if err != nil {
		return nil, err
	}
	cl := newClient(o, doc)
	rec := newRecorder()
	usage := watch(o)
	start := time.Now()
	w := window{from: start.Add(o.warmup), to: start.Add(o.warmup + o.duration)}
	usage.at(w)
	if o.mode == "closed" {
		closedLoop(ctx, o, cl, rec, w)
	} else {
		err = openLoop(ctx, o, cl, rec, start, w)
	}
	if err != nil {
		return nil, err
	}
	res := rec.result(o)
	if err := usage.into(res); err != nil {
		return nil, err
	}
	return res, nil
}

// window is the measured time: a request counts if its start, and for throughput its end, is in
// it.
type window struct{ from, to time.Time }

func (w window) has(t time.Time) bool { return !t.Before(w.from) && t.Before(w.to) }

func topErrors(m map[string]int, n int) []string {
	type kv struct {
		k string
		v int
	}
	var all []kv
	for k, v := range m {
		all = append(all, kv{k, v})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].v > all[j].v })
	var out []string
	for _, e := range all[:min(n, len(all))] {
		out = append(out, fmt.Sprintf("%d× %s", e.v, e.k))
	}
	return out
}
