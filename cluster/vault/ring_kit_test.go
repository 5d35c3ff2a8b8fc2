package vault_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// cloud has KMSs: each URI is a key that wraps for itself.
type cloud struct {
	mu    sync.Mutex
	away  map[string]error // by URI, what is answered instead
	keeps map[string][]byte
	asked map[string]int // how often, by URI and question
	spoil func([]byte) []byte
}

func newCloud() *cloud {
	return &cloud{away: map[string]error{}, keeps: map[string][]byte{}, asked: map[string]int{}}
}

func (c *cloud) fail(uri string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away[uri] = err
}

func (c *cloud) count(uri, question string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[uri+" "+question]
}

func (c *cloud) open(_ context.Context, uri string) (vault.KMS, error) { return &cloudKey{c, uri}, nil }

type cloudKey struct {
	c   *cloud
	uri string
}

func (k *cloudKey) Close() error { return nil }

func (k *cloudKey) Encrypt(_ context.Context, plain []byte) ([]byte, error) {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	k.c.asked[k.uri+" encrypt"]++
	if err := k.c.away[k.uri]; err != nil {
		return nil, err
	}
	wrapped := make([]byte, 16)
	_, _ = rand.Read(wrapped)
	k.c.keeps[k.uri+string(wrapped)] = bytes.Clone(plain)
	return wrapped, nil
}

func (k *cloudKey) Decrypt(_ context.Context, wrapped []byte) ([]byte, error) {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	k.c.asked[k.uri+" decrypt"]++
	if err := k.c.away[k.uri]; err != nil {
		return nil, err
	}
	plain, ok := k.c.keeps[k.uri+string(wrapped)]
	if !ok {
		return nil, errors.New("wrapped by another key")
	}
	if k.c.spoil != nil {
		return k.c.spoil(plain), nil
	}
	return bytes.Clone(plain), nil
}

// nodes agree on a Keyring as a replicated log would have them.
type nodes struct {
	tb      testing.TB
	cloud   *cloud
	log     *bytes.Buffer
	logger  *slog.Logger
	mu      sync.Mutex
	keyring vault.Keyring
	writes  int
	away    error // what agreeing fails with
	all     []*member
}

func newNodes(tb testing.TB) *nodes {
	tb.Helper()
	log := &bytes.Buffer{}
	return &nodes{tb: tb, cloud: newCloud(), log: log, logger: slog.New(slog.NewTextHandler(log, nil))}
}

// member is one of them.
type member struct {
	*vault.Ring
	nodes *nodes
	stop  func()
	mu    sync.Mutex
	told  int // how often a key has come
}

func (m *member) Unlocked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told++
}

func (m *member) Agree(_ context.Context, change func(vault.Keyring) (vault.Keyring, bool)) error {
	n := m.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away != nil {
		return n.away
	}
	next, changed := change(n.keyring)
	if !changed {
		return nil
	}
	n.keyring = next
	n.writes++
	for _, other := range n.all {
		other.Learn(next)
	}
	return nil
}

// source reads a key as a test names it: URIs are in a KMS.
func source(tb testing.TB, name string) vault.Source {
	tb.Helper()
	if s, err := vault.FromKMS(name); err == nil {
		return s
	}
	return vault.FromSecret(vault.NewSecret(name))
}

// ring makes the Ring of a node, which has not learned anything.
func (n *nodes) ring(primary string, previous ...string) *vault.Ring {
	n.tb.Helper()
	c := vault.RingConfig{Primary: source(n.tb, primary), Open: n.cloud.open, Logger: n.logger}
	for _, p := range previous {
		c.Previous = append(c.Previous, source(n.tb, p))
	}
	r, err := vault.NewRing(c)
	if err != nil {
		n.tb.Fatal(err)
	}
	return r
}

// start starts a node in a bubble of synctest. In its place of all, if there is one
// already, that one is stopped.
func (n *nodes) start(i int, primary string, previous ...string) *member {
	n.tb.Helper()
	m := &member{Ring: n.ring(primary, previous...), nodes: n}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	m.stop = func() { cancel(); <-done }
	n.mu.Lock()
	m.Learn(n.keyring)
	n.mu.Unlock()
	if err := m.Unlock(ctx); err != nil {
		n.tb.Fatal(err)
	}
	n.mu.Lock()
	if i < len(n.all) {
		old := n.all[i]
		n.all[i] = m
		n.mu.Unlock()
		old.stop()
		n.mu.Lock()
	} else {
		n.all = append(n.all, m)
	}
	m.Learn(n.keyring) // what was agreed on meanwhile
	n.mu.Unlock()
	go func() {
		defer close(done)
		if err := m.Run(ctx, m); err != nil {
			n.tb.Error(err)
		}
	}()
	synctest.Wait()
	return m
}

func (n *nodes) stop() {
	for _, m := range n.all {
		m.stop()
	}
}

// seal seals on one node, and checks that every node opens it.
func (n *nodes) seal(by int) []byte {
	n.tb.Helper()
	sealed, err := n.all[by].Seal(vault.NewSecret(canary), place)
	if err != nil {
		n.tb.Fatalf("node %d does not seal: %v", by, err)
	}
	n.opens(sealed)
	return sealed
}

func (n *nodes) opens(sealed []byte) {
	n.tb.Helper()
	for i, m := range n.all {
		if got, err := m.Open(sealed, place); err != nil || got.Reveal() != canary {
			n.tb.Fatalf("node %d does not open it: %v", i, err)
		}
	}
}

// rotate is what an operator's rotation does on a node with all secrets.
func (n *nodes) rotate(by int, all [][]byte) {
	n.tb.Helper()
	m := n.all[by]
	target := m.Configured()
	for i, other := range n.all {
		found := false
		for _, k := range other.Keys() {
			found = found || k == target
		}
		if !found {
			n.tb.Fatalf("node %d does not have the key", i)
		}
	}
	var refused error
	if err := m.Agree(context.Background(), func(k vault.Keyring) (next vault.Keyring, changed bool) {
		next, changed, refused = m.Promote(k)
		return next, changed
	}); err != nil || refused != nil {
		n.tb.Fatal(err, refused)
	}
	for i, sealed := range all {
		out, _, err := m.Reseal(sealed, place)
		if err != nil {
			n.tb.Fatal(err)
		}
		if vault.SealedBy(out) != target {
			n.tb.Fatal("sealed again with another key")
		}
		all[i] = out
	}
}

// uri names a key in the cloud.
func uri(i int) string { return fmt.Sprintf("hashivault://key-%d", i) }
