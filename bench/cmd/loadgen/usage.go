package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
	"github.com/modelgateway/modelgateway/bench/internal/speed"
)

// usageResult is the resource usage in the window.
type usageResult struct {
	GatewayCPU  float64 `json:"gw_cpu_s"`
	GatewayCore float64 `json:"gw_cores"`          // of a core, on average
	CPUPerReq   float64 `json:"gw_cpu_us_per_req"` // microseconds
	MockCPU     float64 `json:"mock_cpu_s"`
	LoadCPU     float64 `json:"load_cpu_s"`
	Foreign     float64 `json:"foreign_cores"` // usage by other processes of the machine
	RSS         float64 `json:"gw_rss_mb"`     // highest value
	PSS         float64 `json:"gw_pss_mb"`
	Before      float64 `json:"gw_rss_before_mb,omitempty"` // before the first request
	Peak        float64 `json:"gw_rss_peak_mb,omitempty"`   // sum of the processes' peaks since then
	Procs       int     `json:"gw_procs"`
	Upstream    int64   `json:"upstream_requests"` // that reached the mock, without warm-up

	Whole *wholeResult `json:"whole,omitempty"` // the work that requests leave behind included

	Core *speed.Result `json:"core_speed,omitempty"` // the gateway's core during the window
}

// wholeResult is the usage from the first request, of the warm-up, until the gateway has no more
// work. So it includes what the gateway does after its responses.
type wholeResult struct {
	Requests  int64              `json:"requests"` // that reached the mock
	CPUPerReq float64            `json:"gw_cpu_us_per_req"`
	CPUBy     map[string]float64 `json:"gw_cpu_us_per_req_by"` // by program
	QuietS    float64            `json:"quiet_after_s"`        // from the end of the measured time
	Quiet     bool               `json:"quiet"`                // false: the gateway still worked when the wait ended
}

// sampled is one sample of all values.
type sampled struct {
	gw, mock, self procstat.Tree
	busy           time.Duration
	upstream       int64
	when           time.Time
}

// watcher samples the processes at both ends of the window and the memory in between.
type watcher struct {
	o        *options
	from, to sampled
	first    sampled // before all requests, and after the work that they leave
	last     sampled
	quiet    bool // in time
	rss, pss int64
	before   int64 // memory before all requests, and the peak since then
	peak     int64
	core     *speed.Result
	err      error
	done     chan struct{}
}

func watch(o *options) *watcher { return &watcher{o: o, done: make(chan struct{})} }

func (u *watcher) at(w window) {
	if u.o.quiet > 0 {
		u.first = u.read()
	}
	if u.o.peak {
		u.before = u.peaks(procstat.ResetPeak)
	}
	go func() {
		defer close(u.done)
		time.Sleep(time.Until(w.from))
		u.from = u.read()
		probed := u.probe(w)
		for next := w.from.Add(time.Second); next.Before(w.to); next = next.Add(time.Second) {
			time.Sleep(time.Until(next))
			if u.o.pid > 0 {
				if t, err := procstat.Of(u.o.pid); err == nil {
					u.keep(t)
				}
			}
		}
		time.Sleep(time.Until(w.to))
		u.to = u.read()
		if u.o.peak {
			u.peak = u.peaks(procstat.Peak)
		}
		if u.o.quiet > 0 {
			u.awaitQuiet()
		}
		core, err := probed()
		u.core = core
		if u.err == nil {
			u.err = err
		}
	}()
}

// A gateway is quiet if it used less than quietCores during quietTime.
const (
	quietTime  = time.Second
	quietCores = 0.05
)

// awaitQuiet waits until the gateway is quiet, or for as long as the options allow.
func (u *watcher) awaitQuiet() {
	for u.last = u.read(); u.err == nil && time.Since(u.to.when) < u.o.quiet; {
		before := u.last
		time.Sleep(quietTime)
		u.last = u.read()
		if (u.last.gw.CPU - before.gw.CPU).Seconds() < quietCores*u.last.when.Sub(before.when).Seconds() {
			u.quiet = true
			return
		}
	}
}

// whole returns the usage from the first request to the last work.
func (u *watcher) whole() *wholeResult {
	r := &wholeResult{
		Requests: u.last.upstream - u.first.upstream, CPUBy: map[string]float64{},
		QuietS: round(u.last.when.Sub(u.to.when).Seconds()), Quiet: u.quiet,
	}
	if r.Requests <= 0 {
		return r
	}
	each := func(d time.Duration) float64 { return round(d.Seconds() * 1e6 / float64(r.Requests)) }
	r.CPUPerReq = each(u.last.gw.CPU - u.first.gw.CPU)
	for name, p := range u.last.gw.Programs {
		r.CPUBy[name] = each(p.CPU - u.first.gw.Programs[name].CPU)
	}
	return r
}

// peaks returns the sum of a value of the gateway's processes. A sample every second would miss a
// body that is held for less.
func (u *watcher) peaks(of func(pid int) (int64, error)) int64 {
	var sum int64
	for _, pid := range u.tree(u.o.pid).Members {
		n, err := of(pid)
		if err != nil && u.err == nil {
			u.err = fmt.Errorf("memory of process %d: %w", pid, err)
		}
		sum += n
	}
	return sum
}

// tree samples the processes below pid; 0 has none.
func (u *watcher) tree(pid int) procstat.Tree {
	if pid == 0 {
		return procstat.Tree{}
	}
	t, err := procstat.Of(pid)
	if err != nil && u.err == nil {
		u.err = fmt.Errorf("process %d is gone: %w", pid, err)
	}
	return t
}

func (u *watcher) read() (s sampled) {
	s.when = time.Now()
	s.gw, s.mock, s.self = u.tree(u.o.pid), u.tree(u.o.mockPID), u.tree(os.Getpid())
	u.keep(s.gw)
	s.busy, _ = procstat.MachineBusy()
	s.upstream = u.upstream()
	return s
}

// probe starts the speed probe, if requested.
func (u *watcher) probe(w window) func() (*speed.Result, error) {
	none := func() (*speed.Result, error) { return nil, nil }
	if u.o.probe < 0 {
		return none
	}
	wait, err := speed.Start(u.o.probe, time.Until(w.to))
	if err != nil {
		return func() (*speed.Result, error) { return nil, err }
	}
	return wait
}

func (u *watcher) keep(gw procstat.Tree) {
	u.rss, u.pss = max(u.rss, gw.RSS), max(u.pss, gw.PSS)
}

func (u *watcher) upstream() int64 {
	if u.o.mockURL == "" {
		return 0
	}
	_, b, err := fasthttp.GetTimeout(nil, u.o.mockURL+"/_mock/stats", 5*time.Second)
	var v struct {
		Requests int64 `json:"requests"`
	}
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil && u.err == nil {
		u.err = fmt.Errorf("mock's counts: %w", err)
	}
	return v.Requests
}

func (u *watcher) into(res *result) error {
	<-u.done
	if u.err != nil {
		return u.err
	}
	wall := u.to.when.Sub(u.from.when).Seconds()
	gw := (u.to.gw.CPU - u.from.gw.CPU).Seconds()
	mock := (u.to.mock.CPU - u.from.mock.CPU).Seconds()
	self := (u.to.self.CPU - u.from.self.CPU).Seconds()
	r := &usageResult{
		GatewayCPU: round(gw), GatewayCore: round(gw / wall), MockCPU: round(mock), LoadCPU: round(self),
		Foreign: round(max(0, (u.to.busy-u.from.busy).Seconds()-gw-mock-self) / wall),
		RSS:     round(float64(u.rss) / (1 << 20)), PSS: round(float64(u.pss) / (1 << 20)),
		Before: round(float64(u.before) / (1 << 20)), Peak: round(float64(u.peak) / (1 << 20)),
		Procs: u.to.gw.PIDs, Upstream: u.to.upstream - u.from.upstream, Core: u.core,
	}
	if res.RPS > 0 {
		r.CPUPerReq = round(gw * 1e6 / (res.RPS * wall))
	}
	if u.o.quiet > 0 {
		r.Whole = u.whole()
	}
	res.Usage = r
	return nil
}
