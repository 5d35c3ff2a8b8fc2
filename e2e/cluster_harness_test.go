//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

const (
	// clusterSecret is what the nodes of the tests know each other by.
	clusterSecret = "mark-of-the-clusters-secret-31c4-9d02-aa57"
	// clusterWait bounds waiting for what nodes do by themselves: three of them,
	// with the race detector, share the machine with three Envoys.
	clusterWait = 2 * time.Minute
	// binaryVariable tells the test inside the lab where the binary is, so that it
	// is built once.
	binaryVariable = "MODELGATEWAY_TEST_BINARY"
)

// clusterOptions is what a cluster has beside the usual; zero is a good choice.
type clusterOptions struct {
	models   []string // pairs for models(); nil: fast=openai/fake-gpt
	config   string   // further sections of the file
	cluster  string   // further lines of its section cluster, each with two blanks before it
	observer int      // so many nodes more, which do not vote
	seed     uint64   // of the network's chance
	disk     int      // megabytes of each node's disk, for a test that was rerun to mount; 0: the test's own disk
}

// testCluster is nodes with their Envoys, each on a host of its own, and a fake
// provider on the test's.
type testCluster struct {
	t        *testing.T
	lab      *clustertest.Lab
	provider *upstream
	nodes    []*clusterNode // node i is nodes[i-1]
	voters   int
	client   http.Client
	posts    atomic.Int64 // so far
}

// clusterNode is one of them. What gatewayProcess offers works as with a gateway
// that is alone: get, chat with the admin key, spend, events.
type clusterNode struct {
	*gatewayProcess
	i       int
	host    *clustertest.Host
	process *clustertest.Process
	running bool // it was started, and neither stopped nor killed
}

// newCluster prepares a cluster with n voters and starts nothing but the
// provider. One voter has no cluster section: it is a gateway as everybody's.
func newCluster(t *testing.T, n int, o clusterOptions) *testCluster {
	t.Helper()
	dir := t.TempDir() // removed after what the lab's end ends
	c := &testCluster{t: t, voters: n, lab: clustertest.Start(t, clustertest.Config{Hosts: n + o.observer, Seed: o.seed})}
	// Connections end with a node's life; a new one for each request tells what
	// the node does now.
	c.client.Transport = &http.Transport{DisableKeepAlives: true}
	c.provider = newLabUpstream(t, c.lab)
	if o.models == nil {
		o.models = []string{"fast=openai/fake-gpt"}
	}
	var join []string
	for i := range n + o.observer {
		join = append(join, fmt.Sprintf("%s:7400", c.lab.Host(i+1).Addr()))
	}
	for i, own := range join {
		h := c.lab.Host(i + 1)
		g := &gatewayProcess{
			t: t, log: &lockedBuffer{}, url: fmt.Sprintf("http://%s:8080", h.Addr()),
			data: filepath.Join(dir, fmt.Sprintf("data%d", i+1)), config: filepath.Join(dir, fmt.Sprintf("node%d.yaml", i+1)),
		}
		if o.disk > 0 {
			disk := filepath.Join(dir, fmt.Sprintf("disk%d", i+1))
			clustertest.Disk(t, disk, o.disk)
			g.data = filepath.Join(disk, "data")
		}
		text := models(c.provider, o.models...) + o.config + "\ngeneral_settings:\n  master_key: " + adminKey + "\n  allow_private_endpoints: true\n"
		if len(join) > 1 {
			expect := n
			if i >= n {
				expect = 0
			}
			text += fmt.Sprintf("cluster:\n  listen: %q\n  expect: %d\n  secret: %s\n  join: [%s]\n%s",
				own, expect, clusterSecret, strings.Join(join, ", "), o.cluster)
		}
		if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, &clusterNode{gatewayProcess: g, i: i + 1, host: h})
	}
	t.Cleanup(c.end)
	return c
}

// startCluster starts all nodes of a cluster and waits until they are ready and
// agree on a leader.
func startCluster(t *testing.T, n int, o clusterOptions) *testCluster {
	t.Helper()
	c := newCluster(t, n, o)
	for _, node := range c.nodes {
		c.launch(node.i)
	}
	c.awaitReady()
	if len(c.nodes) > 1 {
		c.awaitLeader()
	}
	return c
}

// newLabUpstream is newUpstream, for the hosts of a lab.
func newLabUpstream(t *testing.T, lab *clustertest.Lab) *upstream {
	t.Helper()
	l, err := lab.Host(0).Listen(t.Context(), 9100)
	if err != nil {
		t.Fatal(err)
	}
	f := fake.New(fake.Options{})
	srv := httptest.NewUnstartedServer(f)
	_ = srv.Listener.Close() // one on loopback, which no host reaches
	srv.Listener = l
	srv.Start()
	t.Cleanup(func() {
		f.Close()
		srv.Close()
	})
	return &upstream{Server: f, url: srv.URL}
}

// end stops what runs, as an operator does, and checks the logs for secrets.
func (c *testCluster) end() {
	c.lab.Heal()
	var stops sync.WaitGroup
	for _, n := range c.nodes {
		if !n.running {
			continue
		}
		select {
		case err := <-n.exited:
			c.t.Errorf("node %d ended by itself: %v", n.i, err)
			continue
		default:
		}
		_ = n.process.Signal(syscall.SIGCONT) // a test may have ended while it held the node still
		stops.Go(n.stop)
	}
	stops.Wait()
	for _, n := range c.nodes {
		log := n.log.String()
		if c.t.Failed() {
			const last = 64 << 10
			c.t.Logf("log of node %d:\n%s", n.i, log[max(0, len(log)-last):])
		}
		for _, secret := range []string{adminKey, clusterSecret} {
			if strings.Contains(log, secret) {
				c.t.Errorf("the log of node %d has %s in it", n.i, secret)
			}
		}
		if strings.Contains(log, "WARNING: DATA RACE") {
			c.t.Errorf("node %d has a data race", n.i)
		}
	}
}

// node returns node i, counted from 1.
func (c *testCluster) node(i int) *clusterNode { return c.nodes[i-1] }

// others returns the nodes that are not among those given.
func (c *testCluster) others(not ...int) []int {
	var out []int
	for _, n := range c.nodes {
		if !slices.Contains(not, n.i) {
			out = append(out, n.i)
		}
	}
	return out
}

// launch starts a node on its host, and does not wait for it.
func (c *testCluster) launch(i int) {
	c.t.Helper()
	n := c.node(i)
	n.cmd = exec.Command(binary(c.t), "serve", "--config", n.config, "--data", n.data,
		"--listen", strings.TrimPrefix(n.url, "http://"), "--envoy-path", envoyPath(c.t))
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	p, err := n.host.Start(n.cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	n.process, n.running = p, true
	n.exited = make(chan error, 1)
	go func(exited chan<- error) { exited <- p.Wait() }(n.exited)
}

// stop ends a node with SIGTERM and checks that it ended well.
func (c *testCluster) stop(i int) {
	c.t.Helper()
	c.node(i).running = false
	c.node(i).stop()
}

// kill9 ends a node with SIGKILL; its Envoy goes with it.
func (c *testCluster) kill9(i int) {
	c.t.Helper()
	n := c.node(i)
	envoy := children(c.t, n.process.PID())
	n.running = false
	n.kill()
	for _, pid := range envoy {
		gone(c.t, pid)
	}
}

// killEnvoy ends a node's Envoy with SIGKILL.
func (c *testCluster) killEnvoy(i int) {
	c.t.Helper()
	envoy := children(c.t, c.node(i).process.PID())
	if len(envoy) != 1 {
		c.t.Fatalf("node %d has the children %v, want one Envoy", i, envoy)
	}
	if err := syscall.Kill(envoy[0], syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	gone(c.t, envoy[0])
}

// restart stops a node if it runs, starts it, and waits until it is ready.
func (c *testCluster) restart(i int) {
	c.t.Helper()
	if c.node(i).running {
		c.stop(i)
	}
	c.launch(i)
	c.awaitReady(i)
}

// wipe empties the disk of a node that does not run. When it starts again it is
// another node at the same address, which the cluster takes in once the one that
// is gone was removed: post /cluster/remove with the node_id of its status.
func (c *testCluster) wipe(i int) {
	c.t.Helper()
	if c.node(i).running {
		c.t.Fatalf("node %d still runs", i)
	}
	if err := os.RemoveAll(c.node(i).data); err != nil {
		c.t.Fatal(err)
	}
}

// until waits for something that the nodes do by themselves. A node that ends
// meanwhile ends the test.
func (c *testCluster) until(what string, done func() bool) {
	c.t.Helper()
	deadline := time.After(clusterWait)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		for _, n := range c.nodes {
			select {
			case err := <-n.exited: // nil, and so never, before the first launch
				n.exited <- err
				if n.running {
					n.running = false
					c.t.Fatalf("node %d ended before %s: %v", n.i, what, err)
				}
			default:
			}
		}
		select {
		case <-deadline:
			c.t.Fatalf("after %v it is not true that %s", clusterWait, what)
		case <-tick.C:
		}
	}
}

// awaitReady waits until these nodes are ready, or all that run.
func (c *testCluster) awaitReady(nodes ...int) {
	c.t.Helper()
	for _, n := range c.nodes {
		if slices.Contains(nodes, n.i) || len(nodes) == 0 && n.running {
			c.until(fmt.Sprintf("node %d is ready", n.i), func() bool { return c.ready(n.i) })
		}
	}
}

// ready asks the readiness probe of a node.
func (c *testCluster) ready(i int) bool {
	a, err := c.try(i, http.MethodGet, "/health/readiness", "", adminKey)
	return err == nil && a.status == http.StatusOK
}

// tryTime is how long a node has for one answer: a minority says no within 5 s.
const tryTime = 10 * time.Second

// try sends one request to a node with a key. It may be called from any
// goroutine. The error is a connection's.
func (c *testCluster) try(i int, method, path, body, key string) (*answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tryTime)
	defer cancel()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.node(i).url+path, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return &answer{status: resp.StatusCode, header: resp.Header, body: string(b)}, err
}

// post sends a change with the admin key and fails unless the answer is 200;
// into, if it is not nil, is what it is decoded into. On a machine that is too busy a
// leader may lose its place at any time: who is answered 503 asks again, and with the
// same Idempotency-Key, so what is asked for is done once.
func (c *testCluster) post(i int, path string, body, into any) {
	c.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	once := with("Idempotency-Key", fmt.Sprintf("post-%d", c.posts.Add(1)))
	alone := func(r *http.Request) { r.Close = true } // as those of the client
	var a *answer
	c.until("POST "+path+" is not refused for the moment", func() bool {
		a = c.node(i).do(http.MethodPost, path, bytes.NewReader(b), once, alone)
		return a.status != http.StatusServiceUnavailable
	})
	if a.status != http.StatusOK {
		c.t.Fatalf("POST %s on node %d: %+v", path, i, a)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.body), into); err != nil {
			c.t.Fatalf("POST %s on node %d: %v: %s", path, i, err, a.body)
		}
	}
}

// clusterStatus is the answer of GET /cluster/status.
type clusterStatus struct {
	Node   string `json:"node"`
	State  string `json:"state"`
	Leader struct {
		Node    string `json:"node"`
		Address string `json:"address"`
	} `json:"leader"`
	Term         float64         `json:"term"`
	CommitIndex  float64         `json:"commit_index"`
	AppliedIndex float64         `json:"applied_index"`
	Revision     float64         `json:"revision"`
	Members      []clusterMember `json:"members"`
	Problems     []string        `json:"problems"`
}

type clusterMember struct {
	Node          string  `json:"node"`
	Address       string  `json:"address"`
	Voter         bool    `json:"voter"`
	Alive         bool    `json:"alive"`
	State         string  `json:"state"`
	AppliedIndex  float64 `json:"applied_index"`
	Lag           float64 `json:"lag"`
	ConfigMatches bool    `json:"config_matches"`
	StateHash     string  `json:"state_hash"`
}

// status asks a node how the cluster is. The error says that it did not tell.
func (c *testCluster) status(i int) (clusterStatus, error) {
	var s clusterStatus
	a, err := c.try(i, http.MethodGet, "/cluster/status", "", adminKey)
	if err != nil {
		return s, err
	}
	if a.status != http.StatusOK {
		return s, fmt.Errorf("/cluster/status on node %d: %d %s", i, a.status, a.body)
	}
	return s, json.Unmarshal([]byte(a.body), &s)
}

// member returns what a status says of node i.
func (s *clusterStatus) member(c *testCluster, i int) (clusterMember, bool) {
	for _, m := range s.Members {
		if c.at(m.Address) == i {
			return m, true
		}
	}
	return clusterMember{}, false
}

// at returns the node of a cluster address; 0 if there is none.
func (c *testCluster) at(address string) int {
	host, _, err := net.SplitHostPort(address)
	for _, n := range c.nodes {
		if err == nil && n.host.Addr().String() == host {
			return n.i
		}
	}
	return 0
}

// awaitLeader waits until these nodes, or all that run, name the same leader,
// which is one of them and says so itself. It returns the leader.
func (c *testCluster) awaitLeader(among ...int) int {
	c.t.Helper()
	leader := 0
	c.until("there is one leader", func() bool {
		leader = 0
		for _, n := range c.nodes {
			if len(among) > 0 && !slices.Contains(among, n.i) || len(among) == 0 && !n.running {
				continue
			}
			s, err := c.status(n.i)
			named := c.at(s.Leader.Address)
			if err != nil || named == 0 || leader != 0 && named != leader || (n.i == named) != (s.State == "leader") {
				return false
			}
			leader = named
		}
		return leader != 0 && (len(among) == 0 || slices.Contains(among, leader))
	})
	return leader
}

// awaitAgreement waits until the readers of these nodes, or of all that run, see
// the same entries of the log, all that are committed. Revisions are not
// compared: a node that has restarted counts from the entry it began with, the
// others from the last one that changed something.
func (c *testCluster) awaitAgreement(among ...int) {
	c.t.Helper()
	c.until("all nodes have applied the same", func() bool {
		var first *clusterStatus
		for _, n := range c.nodes {
			if len(among) > 0 && !slices.Contains(among, n.i) || len(among) == 0 && !n.running {
				continue
			}
			s, err := c.status(n.i)
			if err != nil || s.AppliedIndex != s.CommitIndex {
				return false
			}
			if first == nil {
				first = &s
			}
			if s.AppliedIndex != first.AppliedIndex {
				return false
			}
		}
		return first != nil
	})
}

// createKey makes a key through a node and returns it.
func (c *testCluster) createKey(i int, alias string) string {
	c.t.Helper()
	var key struct {
		Key string `json:"key"`
	}
	c.post(i, "/key/generate", map[string]any{"key_alias": alias}, &key)
	return key.Key
}

// deleteKey deletes a key through a node.
func (c *testCluster) deleteKey(i int, key string) {
	c.t.Helper()
	c.post(i, "/key/delete", map[string]any{"keys": []string{key}}, nil)
}

// createModel adds a deployment on the provider through a node.
func (c *testCluster) createModel(i int, name, model, id string) {
	c.t.Helper()
	c.post(i, "/model/new", map[string]any{
		"model_name":     name,
		"gateway_params": map[string]any{"model": model, "api_base": c.provider.url + "/v1", "api_key": "provider-key-" + id},
		"model_info":     map[string]any{"id": id},
	}, nil)
}

// deleteModel removes a deployment through a node.
func (c *testCluster) deleteModel(i int, id string) {
	c.t.Helper()
	c.post(i, "/model/delete", map[string]any{"id": id}, nil)
}

// chat asks a model of a node with a key; 0 is a connection that broke. It may be
// called from any goroutine.
func (c *testCluster) chat(i int, key, model string) int {
	a, err := c.try(i, http.MethodPost, "/v1/chat/completions", request(model, ""), key)
	if err != nil {
		return 0
	}
	return a.status
}

// startTraffic has n callers ask for a model with a key, through a load balancer
// in front of all nodes, until Traffic.End.
func (c *testCluster) startTraffic(n int, key, model string) *clustertest.Traffic {
	c.t.Helper()
	return clustertest.StartTraffic(c.t, clustertest.TrafficConfig{
		Nodes: len(c.nodes), Callers: n, Ready: c.ready,
		Send: func(i int) error {
			a, err := c.try(i, http.MethodPost, "/v1/chat/completions", request(model, ""), key)
			if err == nil && a.status != http.StatusOK {
				err = fmt.Errorf("%d %s", a.status, a.body)
			}
			if err != nil {
				return fmt.Errorf("node %d: %w", i, err)
			}
			return nil
		},
	})
}
