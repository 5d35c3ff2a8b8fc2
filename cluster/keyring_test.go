package cluster_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	records "github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// fakeKMS holds keys by their URIs.
type fakeKMS struct {
	mu    sync.Mutex
	away  bool
	asked int
	keeps map[string][]byte
}

func (k *fakeKMS) open(_ context.Context, uri string) (vault.KMS, error) {
	return &fakeKey{k, uri}, nil
}

func (k *fakeKMS) set(away bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.away = away
}

type fakeKey struct {
	kms *fakeKMS
	uri string
}

func (*fakeKey) Close() error { return nil }

func (k *fakeKey) Encrypt(_ context.Context, plain []byte) ([]byte, error) {
	k.kms.mu.Lock()
	defer k.kms.mu.Unlock()
	k.kms.asked++
	if k.kms.away {
		return nil, errors.New("away")
	}
	wrapped := []byte(rand.Text())
	k.kms.keeps[k.uri+string(wrapped)] = bytes.Clone(plain)
	return wrapped, nil
}

func (k *fakeKey) Decrypt(_ context.Context, wrapped []byte) ([]byte, error) {
	k.kms.mu.Lock()
	defer k.kms.mu.Unlock()
	k.kms.asked++
	plain, ok := k.kms.keeps[k.uri+string(wrapped)]
	if !ok || k.kms.away {
		return nil, errors.New("away")
	}
	return plain, nil
}

// keyed makes a host start with encryption keys, the primary first; URIs are in
// the KMS.
func keyed(t *testing.T, h *host, kms *fakeKMS, names ...string) {
	t.Helper()
	h.configure = func(cfg *cluster.Config) {
		var sources []vault.Source
		for _, n := range names {
			s, err := vault.FromKMS(n)
			if err != nil {
				s = vault.FromSecret(vault.NewSecret(n))
			}
			sources = append(sources, s)
		}
		ring, err := vault.NewRing(vault.RingConfig{Primary: sources[0], Previous: sources[1:], Open: kms.open, Logger: h.logger()})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Ring, cfg.Sealer = ring, ring
		cfg.Unlock = func() error { return ring.Unlock(t.Context()) }
		h.ring = ring
	}
}

// addDeployment adds a deployment whose key the host seals, and waits until it can.
func addDeployment(t *testing.T, h *host, name string) {
	t.Helper()
	var err error
	if !until(settleTime, func() bool {
		_, err = h.node().Change(t.Context(), actor, func(v *cluster.View, tx *records.Txn) error {
			_, err := v.Catalog.Create(tx, newDeployment(name), h.node().Seal)
			return err
		})
		return !errors.Is(err, vault.ErrLocked)
	}) || err != nil {
		t.Fatalf("node %d does not add a deployment: %v", h.number, err)
	}
}

// allOpen checks that all nodes that are on have all deployments, with their keys.
func allOpen(t *testing.T, l *lab, names []string) {
	t.Helper()
	for _, h := range l.running() {
		v, err := h.node().Current(t.Context())
		if err != nil {
			t.Fatalf("node %d: %v", h.number, err)
		}
		for _, n := range names {
			if _, ok := v.Catalog.Deployment(id.Deployment(n)); !ok {
				t.Errorf("node %d does not have %s", h.number, n)
			}
		}
	}
}

// TestKeysAreReplacedWhileTheClusterRuns goes from a secret to a KMS and from that
// to another one, a node at a time, and adds deployments on every node all the way.
func TestKeysAreReplacedWhileTheClusterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 5)
		defer l.close()
		kms := &fakeKMS{keeps: map[string][]byte{}}
		const one, two = "hashivault://one", "hashivault://two"
		for range 3 {
			h := l.add(3)
			keyed(t, h, kms, "a secret")
			h.start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		var names []string
		everywhere := func(what string) {
			t.Helper()
			for _, h := range l.hosts {
				names = append(names, fmt.Sprintf("%s-%d", what, h.number))
				addDeployment(t, h, names[len(names)-1])
			}
			allOpen(t, l, names)
		}
		everywhere("first")
		for round, keys := range [][]string{{one, "a secret"}, {two, one, "a secret"}} {
			for i, h := range l.hosts {
				h.shut()
				keyed(t, h, kms, keys...)
				h.start()
				if err := l.ready(l.hosts, settleTime); err != nil {
					t.Fatal(err)
				}
				everywhere(fmt.Sprintf("round-%d-%d", round, i))
				err := h.node().PromoteKey(t.Context(), actor)
				if last := i == len(l.hosts)-1; !last && codeOf(err) != "encryption_key_not_everywhere" || last && err != nil {
					t.Errorf("promoted at node %d: %v", h.number, err)
				}
			}
			everywhere(fmt.Sprintf("after-%d", round))
			for _, h := range l.hosts {
				if h.ring.Primary() != h.ring.Configured() {
					t.Errorf("node %d does not seal with the new key", h.number)
				}
			}
		}
		before := kms.asked
		kms.set(true)
		time.AfterFunc(20*time.Second, func() { kms.set(false) })
		l.hosts[0].cut(50)
		l.hosts[0].start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		// What the disk lost of the state comes from the others, and with it the need for
		// a key.
		if !until(settleTime, func() bool { return !l.hosts[0].ring.Waiting() }) {
			t.Error("a key does not come")
		}
		allOpen(t, l, names)
		if kms.asked == before {
			t.Error("the KMS is not asked at the start")
		}
	})
}

// TestABackupOpensElsewhere restores what one cluster with a KMS has into another.
func TestABackupOpensElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, kms := newLab(t, 6), &fakeKMS{keeps: map[string][]byte{}}
		defer l.close()
		var backup bytes.Buffer
		for i := range 2 {
			h := l.add(1)
			h.alone = true
			keyed(t, h, kms, "hashivault://key")
			h.start()
			if err := l.ready([]*host{h}, settleTime); err != nil {
				t.Fatal(err)
			}
			addDeployment(t, h, fmt.Sprint("d", i))
			if i == 0 {
				if err := h.node().Backup(t.Context(), &backup); err != nil {
					t.Fatal(err)
				}
			}
		}
		h := l.hosts[1]
		kms.set(true)
		if err := restore(t.Context(), h.node(), backup.Bytes()); err != nil {
			t.Fatal(err)
		}
		if _, ok := h.node().View().Catalog.Deployment("d0"); ok {
			t.Error("opened without its KMS")
		}
		kms.set(false)
		if !until(settleTime, func() bool { _, ok := h.node().View().Catalog.Deployment("d0"); return ok }) {
			t.Error("the restored deployment does not come when the KMS does")
		}
		addDeployment(t, h, "d2")
	})
}
