package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRunServesUntilToldToStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, log := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-listen", "127.0.0.1:0"}, log)
		_ = log.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(strings.TrimSpace(line[strings.Index(line, "http://"):]), "/v1")
	hung := make(chan error, 1)
	go func() {
		resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"stall-0","stream":true,"messages":[{"role":"user","content":"a"}]}`))
		if err == nil {
			err = resp.Body.Close()
		}
		hung <- err
	}()
	resp, err := http.Get(base + "/_fake/health")
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(err, resp)
	}
	_ = resp.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still running after the stop, with a request that stands still")
	}
	// Whether it was served or refused does not matter, only that it is over.
	if err := <-hung; err != nil {
		t.Log(err)
	}
}

func TestRunSaysThatAPortIsTaken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, log := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-listen", "127.0.0.1:0"}, log) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSuffix(strings.TrimSpace(line[strings.Index(line, "127.0.0.1"):]), "/v1")
	if err := run(ctx, []string{"-listen", addr}, io.Discard); err == nil || !strings.Contains(err.Error(), "-listen") {
		t.Errorf("%v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
