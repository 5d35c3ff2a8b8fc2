package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// patience is the timeout of every wait.
	patience = 2 * time.Minute
	pollTime = 2 * time.Millisecond
)

// world is the nodes of one cluster, in this process.
type world struct {
	nodes  []*cluster.Node
	stop   context.CancelFunc
	run    *errgroup.Group
	broken <-chan struct{} // closed when a node ends
}

// startWorld opens the nodes and waits until all are ready.
func startWorld(ctx context.Context, dir string, nodes int) (_ *world, err error) {
	ctx, stop := context.WithCancel(ctx)
	group, broken := errgroup.WithContext(ctx)
	w := &world{stop: stop, run: group, broken: broken.Done()}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	sealer, err := newSealer()
	if err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(nodes)
	if err != nil {
		return nil, err
	}
	secret := vault.NewSecret(random())
	for i := range nodes {
		cfg, err := newConfig(filepath.Join(dir, fmt.Sprintf("node%d", i+1)))
		if err != nil {
			return nil, err
		}
		cfg.Sealer = sealer
		if nodes > 1 {
			cfg.Expect, cfg.Join = nodes, addresses
			cfg.Connect = connect(broken, addresses[i], secret)
		}
		node, err := cluster.Open(cfg) //nolint:contextcheck // its resources live as long as the node
		if err != nil {
			return nil, err
		}
		w.nodes = append(w.nodes, node)
		group.Go(func() error { return node.Run(broken) })
	}
	return w, w.until(ctx, "all nodes are ready", func() (bool, error) { return w.ready(), nil })
}

func (w *world) ready() bool {
	return !slices.ContainsFunc(w.nodes, func(n *cluster.Node) bool { return n.Ready() != nil })
}

func newConfig(dir string) (cluster.Config, error) {
	models, err := catalog.New(catalog.Spec{}, catalog.Providers{provider: {DefaultBase: "http://127.0.0.1"}}, nil)
	if err != nil {
		return cluster.Config{}, err
	}
	known, err := tenancy.New(nil, vault.NewSecret(random()))
	return cluster.Config{
		Dir: dir, Catalog: models, Keys: known, Version: "bench",
		Fatal: func(err error) { log.Fatal(err) },
		// No reserve of disk space; the run fails if the disk is full.
		MinFreeBytes: 1, BallastBytes: -1,
	}, err
}

func newSealer() (*vault.Sealer, error) {
	key, err := vault.KeyFromSecret(vault.NewSecret(random()))
	if err != nil {
		return nil, err
	}
	return vault.NewSealer(key)
}

// connect connects a node with the others, like the gateway does.
func connect(ctx context.Context, address string, secret vault.Secret) func(id.Node) (cluster.Link, []byte, error) {
	return func(node id.Node) (cluster.Link, []byte, error) {
		identity, err := link.FromSecret(secret, node)
		if err != nil {
			return nil, nil, err
		}
		l, err := link.New(ctx, link.Config{Listen: address, Identity: identity})
		if err != nil {
			return nil, nil, err
		}
		return l, identity.GossipKey(), nil
	}
}

// random returns a secret that is long enough for a cluster.
func random() string { return rand.Text() + rand.Text() }

// freeAddresses returns unused TCP addresses.
func freeAddresses(n int) ([]string, error) {
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

// until polls until done succeeds or fails.
func (w *world) until(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-w.broken:
			return fmt.Errorf("a node ended before %s", what)
		case <-ctx.Done():
			return fmt.Errorf("until %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// close stops the nodes and removes their directories.
func (w *world) close() error {
	w.stop()
	errs := []error{w.run.Wait()}
	for _, n := range w.nodes {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
