package tokentest

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Make returns the fetcher of a credential.
type Make func(of cloud.Credential, clients *outbound.Clients) token.Fetcher

// Node keeps the tokens of one gateway. Its deployments are those of a configuration file.
type Node struct {
	*token.Manager
	t   *testing.T
	of  cloud.Kind
	log safeBuffer

	mu struct {
		sync.Mutex
		catalog  *catalog.Catalog
		changed  chan struct{}
		problems map[string]string
	}
}

// NewNode starts a node at a network, whose deployments have credentials of a cloud: settings by the name of the
// deployment. It ends with the test. environ is its environment.
func (n *Network) NewNode(of cloud.Kind, newFetcher Make, environ map[string]string, credentials map[string]map[string]string) *Node {
	n.t.Helper()
	return n.newNode(of, newFetcher, credentials, outbound.Config{Roots: n.roots, Dial: n.Dial, Environ: func(name string) string { return environ[name] }})
}

// NewNodeAt starts a node at another network, which knows the test authority of this network and no other.
func (n *Network) NewNodeAt(other *Network, of cloud.Kind, newFetcher Make, credentials map[string]map[string]string) *Node {
	n.t.Helper()
	return n.newNode(of, newFetcher, credentials, outbound.Config{Roots: n.roots, Dial: other.Dial})
}

func (n *Network) newNode(of cloud.Kind, newFetcher Make, credentials map[string]map[string]string, cfg outbound.Config) *Node {
	n.t.Helper()
	clients := outbound.NewClients(cfg)
	node := &Node{t: n.t, of: of}
	node.mu.changed = make(chan struct{})
	node.mu.problems = make(map[string]string)
	node.mu.catalog = node.catalogOf(credentials)
	node.Manager = token.NewManager(token.Config{
		Catalog: node.catalog,
		Changed: func() <-chan struct{} { node.mu.Lock(); defer node.mu.Unlock(); return node.mu.changed },
		Cloud:   func(string) cloud.Kind { return of },
		New:     func(c cloud.Credential) (token.Fetcher, error) { return newFetcher(c, clients), nil },
		Report:  node.report,
		Logger:  slog.New(slog.NewTextHandler(&node.log, nil)),
	})
	ctx, stop := context.WithCancel(n.t.Context())
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	n.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			n.t.Error(err)
		}
		clients.Close()
	})
	return node
}

func (n *Node) catalog() *catalog.Catalog { n.mu.Lock(); defer n.mu.Unlock(); return n.mu.catalog }

func (n *Node) report(about string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.mu.problems, about)
	if err != nil {
		n.mu.problems[about] = err.Error()
	}
}

// Rotate replaces the credentials.
func (n *Node) Rotate(credentials map[string]map[string]string) {
	n.t.Helper()
	c := n.catalogOf(credentials)
	n.mu.Lock()
	n.mu.catalog = c
	close(n.mu.changed)
	n.mu.changed = make(chan struct{})
	n.mu.Unlock()
}

func (n *Node) catalogOf(credentials map[string]map[string]string) *catalog.Catalog {
	n.t.Helper()
	var spec catalog.Spec
	for _, name := range slices.Sorted(maps.Keys(credentials)) {
		d := catalog.DeploymentSpec{ID: name, ModelName: name, Model: "clouded/m", Cloud: map[string]vault.Secret{}}
		for setting, value := range credentials[name] {
			d.Cloud[setting] = vault.NewSecret(value)
		}
		spec.Deployments = append(spec.Deployments, d)
	}
	c, err := catalog.New(spec, catalog.Providers{"clouded": {DefaultBase: "https://clouded.example.com", Cloud: n.of}}, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// Deployment returns a deployment.
func (n *Node) Deployment(name string) *catalog.Deployment {
	n.t.Helper()
	d, ok := n.catalog().Deployment(id.Deployment(name))
	if !ok {
		n.t.Fatalf("there is no deployment %s", name)
	}
	return d
}

// Token returns the token of a deployment once nothing is under way; zero if it has none.
func (n *Node) Token(name string) cloud.Token {
	n.t.Helper()
	synctest.Wait()
	got, err := n.Manager.Token(n.Deployment(name))
	if err != nil {
		return cloud.Token{}
	}
	return got
}

// Reason returns why a deployment has no token, once nothing is under way: what GET /model/info and the health show.
func (n *Node) Reason(name string) string {
	n.t.Helper()
	synctest.Wait()
	return n.Manager.Reason(n.Deployment(name))
}

// Printed returns all that the node has logged and reported.
func (n *Node) Printed() string {
	n.t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	var out strings.Builder
	out.WriteString(n.log.String())
	for about, problem := range n.mu.problems {
		out.WriteString(about + ": " + problem + "\n")
	}
	return out.String()
}

// safeBuffer is a buffer for the logger.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds a line.
func (s *safeBuffer) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(line)
}

// String returns the lines.
func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
