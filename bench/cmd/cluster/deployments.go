package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/procstat"
)

const (
	dueDeployments = 3 * time.Second
	dueEnvoy       = 150 << 20 // bytes
	deployRounds   = 3
)

// measureDeployments starts one node with many deployments, each at a different address. No
// provider listens there: it measures the cost of unused deployments.
func measureDeployments(ctx context.Context, o options, w io.Writer) error {
	r := &report{}
	for _, kind := range []struct {
		name string
		url  func(i int) string
	}{
		{"IP addresses, http", func(i int) string { return fmt.Sprintf("http://127.1.%d.%d:9", i/256%256, i%256) }},
		{"names, http", func(i int) string { return fmt.Sprintf("http://host-%d.localhost:9", i) }},
		{"names, https", func(i int) string { return fmt.Sprintf("https://host-%d.localhost:9", i) }},
	} {
		var all []deployment
		for i := range o.deployments {
			all = append(all, deployment{model: fmt.Sprintf("model-%d", i), url: kind.url(i)})
		}
		var times []time.Duration
		var most int64
		for round := range deployRounds {
			one := o
			one.dir = filepath.Join(o.dir, strings.NewReplacer(" ", "-", ",", "").Replace(kind.name), strconv.Itoa(round))
			took, memory, err := startMany(ctx, one, all)
			if err != nil {
				return err
			}
			times, most = append(times, took), max(most, memory)
		}
		r.add(fmt.Sprintf("start to ready with %d deployments at %s", o.deployments, kind.name), times, dueDeployments)
		r.note("Envoy's memory with %d deployments at %s: %d MiB; due: %d MiB.", o.deployments, kind.name, most/megabyte, dueEnvoy/megabyte)
	}
	r.print(w)
	return nil
}

// startMany starts a node, and returns the time until it was ready and the memory of its Envoy
// at that time.
func startMany(ctx context.Context, o options, all []deployment) (took time.Duration, memory int64, err error) {
	c, err := newCluster(o, 1, all)
	if err != nil {
		return 0, 0, err
	}
	defer c.close(&err)
	n := c.nodes[0]
	start := time.Now()
	if err := n.start(); err != nil {
		return 0, 0, err
	}
	if err := c.awaitReady(ctx, n); err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	if memory, err = envoyMemory(n); err != nil {
		return 0, 0, err
	}
	return took, memory, n.end(syscall.SIGTERM)
}

// envoyMemory returns the memory of the node's Envoy.
func envoyMemory(n *node) (int64, error) {
	pid := n.cmd.Process.Pid
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return 0, err
	}
	var most int64
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(b)) {
			if id, err := strconv.Atoi(child); err == nil {
				peak, err := procstat.Peak(id)
				if err != nil {
					return 0, err
				}
				most = max(most, peak)
			}
		}
	}
	if most == 0 {
		return 0, fmt.Errorf("node %d has no Envoy", pid)
	}
	return most, nil
}
