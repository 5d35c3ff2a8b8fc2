package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

func opts(url string) *options {
	return &options{
		url: url, kind: chat, mode: "closed", conns: 4, rate: 200, arrival: "const", inflight: 1000, size: 300, model: "m",
		warmup: 100 * time.Millisecond, duration: 500 * time.Millisecond, timeout: 5 * time.Second, showErrs: 3, probe: -1,
	}
}

// measured runs until requests are measured: a busy machine may complete none within a short window.
func measured(t *testing.T, o *options) *result {
	t.Helper()
	for {
		res, err := run(context.Background(), o)
		if err != nil {
			t.Fatalf("%s: %v", o.kind, err)
		}
		if res.Requests > 1 || o.duration > 10*time.Second {
			return res
		}
		o.duration *= 2
	}
}

func TestScheduleKeepsTheRate(t *testing.T) {
	o := opts("")
	o.rate, o.duration = 500, 20*time.Second
	for _, o.arrival = range []string{"const", "poisson"} {
		got := float64(len(schedule(o))) / (o.warmup + o.duration).Seconds()
		if math.Abs(got-o.rate) > 15 {
			t.Errorf("%s: %.1f a second of %v", o.arrival, got, o.rate)
		}
	}
}

// A server that answers at once but stands still for 300 ms after its fortieth
// request: of 500 ms of arrivals more than half fall in the stall, and each must
// be charged its wait. A busy machine only makes the waits longer.
func TestOpenLoopChargesAStall(t *testing.T) {
	var served atomic.Int64
	stalled := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := served.Add(1); {
		case n == 40:
			<-time.After(300 * time.Millisecond)
			close(stalled)
		case n > 40:
			<-stalled
		}
		_, _ = w.Write(openai.ChatResponse("m", 400))
	}))
	defer srv.Close()
	o := opts(srv.URL)
	o.mode = "open"
	res, err := run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Errors != 0 || res.Requests < 90 || res.Requests > 110 {
		t.Fatalf("%+v", res)
	}
	if res.Latency.P50 < 20 || res.Latency.P90 < 200 {
		t.Errorf("the stall is hidden: p50 %v p90 %v", res.Latency.P50, res.Latency.P90)
	}
}

// The bounds hold on a machine of any speed: nothing comes before it was sent,
// and a first chunk comes before a last one.
func TestStreamTimes(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for k := range 5 {
			time.Sleep(10 * time.Millisecond)
			_, _ = w.Write(openai.StreamEvent("m", k, 200))
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(openai.StreamEnd("m", true))
	}))
	defer srv.Close()
	o := opts(srv.URL)
	o.stream, o.chunks = true, 5
	res := measured(t, o)
	if res.Errors != 0 || res.TTFT == nil || res.TTFT.P50 < 10 || res.TTFT.P50 > res.Latency.P50 || res.Gap.N != 4*res.TTFT.N {
		t.Errorf("%+v ttft %+v gap %+v %v", res, res.TTFT, res.Gap, res.ErrorTop)
	}
	o.chunks = 6
	if res = measured(t, o); res.Errors != res.Requests {
		t.Errorf("short streams passed: %d of %d", res.Errors, res.Requests)
	}
}

func TestErrorsAreCounted(t *testing.T) {
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		fmt.Fprint(w, strings.Repeat("x", 100))
	}))
	defer srv.Close()
	res := measured(t, opts(srv.URL))
	if res.Errors == 0 || res.Errors == res.Requests || !strings.Contains(res.ErrorTop[0], "418") {
		t.Errorf("%+v", res)
	}
}

func TestKindsOfRequest(t *testing.T) {
	var kind, body atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		kind.Store(r.Header.Get("Content-Type"))
		body.Store(string(b))
		fmt.Fprint(w, strings.Repeat("x", 100))
	}))
	defer srv.Close()
	for name, want := range map[string]string{
		chat: `"messages"`, messages: `"system":"You`, embeddings: `"input"`, speech: `"voice"`, transcription: "RIFF",
	} {
		o := opts(srv.URL)
		o.kind, o.size, o.bytes = name, 700, 100
		o.duration = 50 * time.Millisecond
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		res := measured(t, o)
		if res.Errors != 0 || res.Requests == 0 {
			t.Fatalf("%s: %+v", name, res)
		}
		form := strings.HasPrefix(kind.Load().(string), "multipart/form-data; boundary=")
		if got := body.Load().(string); !strings.Contains(got, want) || len(got) != 700 || form != (name == transcription) {
			t.Errorf("%s: %s of %d bytes without %s", name, kind.Load(), len(got), want)
		}
	}
	o := opts(srv.URL)
	o.kind = "picture"
	if _, err := run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "chat, messages") {
		t.Errorf("a kind that does not exist: %v", err)
	}
}

// The first of three pieces is there long before the last.
func TestSoundTimes(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = w.Write(make([]byte, 1000))
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}))
	defer srv.Close()
	o := opts(srv.URL)
	o.kind, o.bytes = speech, 3000
	res := measured(t, o)
	if res.Errors != 0 || res.TTFT == nil || res.TTFT.P50 >= res.Latency.P50 {
		t.Fatalf("%+v ttft %+v latency %+v", res, res.TTFT, res.Latency)
	}
	o.bytes = 4000
	if res = measured(t, o); res.Errors != res.Requests {
		t.Errorf("short sound passed: %d of %d", res.Errors, res.Requests)
	}
}

// The process of the test stands for a gateway.
func TestPeakOfMemory(t *testing.T) {
	const most = 64 << 20
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b := make([]byte, most)
		for i := 0; i < most; i += 4096 {
			b[i] = 1
		}
		_, _ = w.Write(b[:100])
	}))
	defer srv.Close()
	o := opts(srv.URL)
	debug.FreeOSMemory() // else the server might take what is resident already
	o.conns, o.pid, o.peak = 1, os.Getpid(), true
	res, err := run(context.Background(), o)
	if err != nil || res.Usage.Before <= 0 || res.Usage.Peak < res.Usage.Before+50 {
		t.Errorf("%+v %v", res.Usage, err)
	}
}
