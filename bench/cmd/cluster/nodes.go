package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

const (
	model = "mock-gpt"
	// patience is the timeout of every wait.
	patience = 2 * time.Minute
	pollTime = 5 * time.Millisecond
)

// startProvider serves the same response for every request, without a delay.
func startProvider() (*httptest.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	answer := openai.ChatResponse(model, 1024)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer) // a client that disconnects reports it itself
	}))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	return s, nil
}

// cluster has the nodes and a client for them.
type cluster struct {
	nodes  []*node
	admin  string // master key
	client *http.Client
	made   int      // number of keys so far
	keys   []string // the first keys
	teams  int      // number of teams for the keys; 0: none

	deployments []deployment // in the configuration files
}

// node is a gateway process. exited is nil while it does not run.
type node struct {
	url, address string // of its API, and for the other nodes
	args         []string
	data         string // data directory
	log          string
	cmd          *exec.Cmd
	exited       chan error
}

// deployment is a model and the address of its provider, or all of its parameters.
type deployment struct{ model, url, params string }

// newCluster writes the configuration files of a number of nodes.
func newCluster(o options, size int, deployments []deployment) (*cluster, error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	ports, err := freePorts(2 * size)
	if err != nil {
		return nil, err
	}
	c := &cluster{deployments: deployments, admin: "sk-" + rand.Text(), client: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: max(o.writers, o.fillers), DisableCompression: true,
	}}}
	secret := rand.Text() + rand.Text()
	var join []string
	for i := range size {
		n := &node{
			url: "http://" + ports[2*i], address: ports[2*i+1],
			log: filepath.Join(o.dir, fmt.Sprintf("node%d.log", i+1)),
		}
		join = append(join, n.address)
		c.nodes = append(c.nodes, n)
	}
	var models strings.Builder
	for _, d := range deployments {
		if d.params == "" {
			d.params = fmt.Sprintf("model: openai/%s, api_base: %s/v1, api_key: bench-provider-key", model, d.url)
		}
		fmt.Fprintf(&models, `  - model_name: %s
    gateway_params: {%s, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}
`, d.model, d.params)
	}
	for i, n := range c.nodes {
		file := filepath.Join(o.dir, fmt.Sprintf("node%d.yaml", i+1))
		text := fmt.Sprintf(`model_list:
%sgeneral_settings:
  master_key: %s
  allow_private_endpoints: true
cluster:
  listen: %q
  expect: %d
  secret: %s
  join: [%s]
envoy:
  concurrency: 1
%s`, models.String(), c.admin, n.address, size, secret, strings.Join(join, ", "), o.extra)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		n.data = filepath.Join(o.dir, fmt.Sprintf("data%d", i+1))
		n.args = []string{
			o.gateway, "serve", "--config", file, "--data", n.data,
			"--listen", strings.TrimPrefix(n.url, "http://"),
		}
		if o.envoy != "" {
			n.args = append(n.args, "--envoy-path", o.envoy)
		}
	}
	return c, nil
}

// freePorts returns unused TCP addresses.
func freePorts(n int) ([]string, error) {
	var out []string
	var errs []error
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		out = append(out, l.Addr().String())
		defer func() { errs = append(errs, l.Close()) }() // keeps all listeners open until all ports are found
	}
	return out, errors.Join(errs...)
}

// start starts a node without waiting for it.
func (n *node) start() error {
	out, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n.cmd = exec.Command(n.args[0], n.args[1:]...)
	n.cmd.Stdout, n.cmd.Stderr = out, out
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	n.exited = make(chan error, 1)
	started := make(chan error, 1)
	go func(cmd *exec.Cmd, exited chan<- error) {
		// The kernel ties the child to the thread that started it, so this thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			err = cmd.Wait()
		}
		_ = out.Close() // the child has its own descriptor
		exited <- err
	}(n.cmd, n.exited)
	return <-started
}

// end sends a signal and waits until the node has exited.
func (n *node) end(s syscall.Signal) error {
	if n.exited == nil {
		return nil
	}
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := <-n.exited
	n.exited = nil
	if s == syscall.SIGKILL {
		return nil
	}
	return err
}

// close kills the nodes. It adds the ends of their logs to an error.
func (c *cluster) close(err *error) {
	for _, n := range c.nodes {
		_ = n.end(syscall.SIGKILL) // otherwise the kernel kills it together with this process
	}
	if *err != nil {
		*err = fmt.Errorf("%w\n%s", *err, c.lastWords())
	}
}

func (c *cluster) startAll(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return err
		}
	}
	return c.settle(ctx)
}

// until polls until done succeeds or fails.
func (c *cluster) until(ctx context.Context, what string, done func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !done(ctx) {
		for i, n := range c.nodes {
			select {
			case err := <-n.exited: // never, if it does not run
				n.exited = nil
				return fmt.Errorf("node %d ended before %s: %w", i+1, what, err)
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("until %s: %w", what, ctx.Err())
		case <-time.After(pollTime):
		}
	}
	return nil
}

func (c *cluster) awaitReady(ctx context.Context, n *node) error {
	return c.until(ctx, "a node is ready", func(ctx context.Context) bool {
		status, _, err := c.call(ctx, n, http.MethodGet, "/health/readiness", "", nil)
		return err == nil && status == http.StatusOK
	})
}

// settle waits until all nodes are ready and have applied the committed entries.
func (c *cluster) settle(ctx context.Context) error {
	c.client.CloseIdleConnections()
	for _, n := range c.nodes {
		if err := c.awaitReady(ctx, n); err != nil {
			return err
		}
	}
	return c.until(ctx, "all nodes agree", func(ctx context.Context) bool {
		var first status
		for i, n := range c.nodes {
			s, err := c.status(ctx, n)
			if err != nil || s.Leader.Address == "" || s.Applied != s.Commit {
				return false
			}
			if i == 0 {
				first = s
			}
			if s.Applied != first.Applied || s.Leader != first.Leader {
				return false
			}
		}
		return true
	})
}

// leader returns the leader that the other nodes report.
func (c *cluster) leader(ctx context.Context) (*node, error) {
	s, err := c.status(ctx, c.nodes[0])
	if err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		if n.address == s.Leader.Address {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the leader %q is none of the nodes", s.Leader.Address)
}
