package vault_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

var errAway = errors.New("the KMS is away")

// TestNodesAgreeOnOneRoot starts nodes at once, all of which find that there is no
// root: they end with the same, and each has asked the KMS a few times however much
// is sealed.
func TestNodesAgreeOnOneRoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		n.away = errAway // until all have made a candidate
		for i := range 3 {
			n.start(i, uri(0))
			if _, err := n.all[i].Seal(vault.NewSecret(canary), place); !errors.Is(err, vault.ErrLocked) {
				t.Errorf("sealed with what nobody agreed on: %v", err)
			}
		}
		n.mu.Lock()
		n.away = nil
		n.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(n.keyring.Roots) != 1 || n.writes != 1 {
			t.Errorf("%d writes: %v", n.writes, n.keyring)
		}
		for i := range 1000 {
			n.seal(i % 3)
		}
		if e, d := n.cloud.count(uri(0), "encrypt"), n.cloud.count(uri(0), "decrypt"); e != 3 || d != 3+2 {
			t.Errorf("the KMS was asked to encrypt %d times and to decrypt %d times", e, d)
		}
		sealed := n.seal(0)
		restarted := n.start(1, uri(0))
		n.opens(sealed)
		if restarted.Primary() != n.all[0].Primary() || n.writes != 1 {
			t.Error("a restart changes what was agreed on")
		}
		n.stop()
	})
}

// TestRotation goes the operator's way on three nodes, between keys of each sort:
// each is restarted with the new key and the old one beside it, one after the
// other; then the secrets are sealed again; then the old key is taken away in the
// same manner. At every moment what any node seals opens on all.
func TestRotation(t *testing.T) {
	for name, c := range map[string]struct{ from, to string }{
		"secret to secret": {"old", "new"},
		"secret to KMS":    {"old", uri(1)},
		"KMS to KMS":       {uri(0), uri(1)},
		"KMS to secret":    {uri(0), "new"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNodes(t)
				var all [][]byte
				everybody := func() {
					t.Helper()
					for i := range n.all {
						all = append(all, n.seal(i))
					}
					for _, sealed := range all {
						n.opens(sealed)
					}
				}
				restart := func(primary string, previous ...string) {
					t.Helper()
					for i := range 3 {
						n.start(i, primary, previous...)
						time.Sleep(time.Minute)
						synctest.Wait()
						everybody()
					}
				}
				restart(c.from)
				restart(c.to, c.from)
				if n.all[0].Primary() == n.all[0].Configured() {
					t.Error("the new key seals before the operator says so")
				}
				n.rotate(1, all)
				everybody()
				n.rotate(2, all)
				restart(c.to)
				if strings.Contains(n.log.String(), "level=WARN") || strings.Contains(n.log.String(), "CANARY") {
					t.Errorf("log: %s", n.log)
				}
				n.stop()
			})
		})
	}
}

// TestRestartsInAnyOrder gives nodes keys in any order and at any time, with
// rotations between: as long as each has the two newest keys, all opens everywhere.
func TestRestartsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 7), 1, 25).Draw(rt, "steps")
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"s", "hashivault://k"}), 1, 6).Draw(rt, "sorts")
		name := func(i int) string { return fmt.Sprint(names[i%len(names)], i) }
		synctest.Test(t, func(t *testing.T) {
			n := newNodes(t)
			newest, has := 0, []int{0, 0, 0}
			for i := range 3 {
				n.start(i, name(0))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			all := [][]byte{n.seal(0)}
			for _, s := range steps {
				switch {
				case s < 3:
					has[s] = newest
					n.start(s, name(newest), name(max(newest-1, 0)))
				case s < 6:
					all = append(all, n.seal(s-3))
				case slices.Equal(has, []int{newest, newest, newest}) && s == 6:
					n.rotate(s%3, all)
					newest++
				default:
					synctest.Wait()
				}
				for _, sealed := range all {
					n.opens(sealed)
				}
			}
			n.stop()
		})
	})
}

// TestKMSIsAwayAtTheStart checks how long a start waits, and what it says.
func TestKMSIsAwayAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		want bool
	}{
		"a moment": {5 * time.Second, true}, "half a minute": {30 * time.Second, true}, "for good": {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNodes(t)
				n.cloud.fail(uri(0), errAway)
				time.AfterFunc(c.away, func() { n.cloud.fail(uri(0), nil) })
				r, started := n.ring(uri(0)), time.Now()
				err := r.Unlock(t.Context())
				if took := time.Since(started); (err == nil) != c.want || took > 70*time.Second || took < min(c.away, 50*time.Second) {
					t.Errorf("after %v: %v", took, err)
				}
				if !c.want && (!errors.Is(err, errAway) || !strings.Contains(err.Error(), uri(0))) {
					t.Errorf("got %v", err)
				}
				if warned := strings.Count(n.log.String(), "cannot be had yet"); warned < 2 || warned > 12 {
					t.Errorf("%d warnings: %s", warned, n.log)
				}
				time.Sleep(c.away)
			})
		})
	}
}

// TestKMSHangs has a KMS take a question and say nothing.
func TestKMSHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		r, err := vault.NewRing(vault.RingConfig{Primary: source(t, uri(0)), Logger: n.logger, Open: func(ctx context.Context, _ string) (vault.KMS, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		err = r.Unlock(t.Context())
		if err == nil || !strings.Contains(err.Error(), uri(0)+" did not respond within 10s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(started); took > 2*time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

func TestUnlockIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		n.cloud.fail(uri(0), errAway)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		started := time.Now()
		if err := n.ring(uri(0)).Unlock(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(started), err)
		}
	})
}

// TestKMSIsAwayLater has a node learn of a root while its KMS is away, as when a
// backup is restored: what it opened before still opens, the rest says what it waits
// for, and comes when the KMS does.
func TestKMSIsAwayLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		m := n.start(0, "secret", uri(0))
		before := n.seal(0)

		other := newNodes(t)
		other.cloud = n.cloud
		other.start(0, uri(0))
		later := other.seal(0)
		other.stop()

		if _, err := m.Open(later, place); !errors.Is(err, vault.ErrOtherKey) {
			t.Errorf("before there is anything to wait for: %v", err)
		}
		n.cloud.fail(uri(0), errAway)
		restored := other.keyring
		m.Learn(restored)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got, err := m.Open(before, place); err != nil || got.Reveal() != canary {
			t.Errorf("what it has the key of: %v", err)
		}
		if _, err := m.Open(later, place); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("while the KMS is away: %v", err)
		}
		if _, _, err := m.Reseal(later, place); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("while the KMS is away: %v", err)
		}
		if _, err := m.Seal(vault.NewSecret(canary), place); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("sealed with another key than was agreed on: %v", err)
		}
		if m.told != 0 {
			t.Error("told of a key that has not come")
		}
		n.cloud.fail(uri(0), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, err := m.Open(later, place); err != nil || got.Reveal() != canary || m.told != 1 {
			t.Errorf("told %d times: %v", m.told, err)
		}
		n.stop()
	})
}

// TestNobodyAgrees has a node wait for a majority as long as it takes.
func TestNobodyAgrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		n.away = errAway
		m := n.start(0, uri(0))
		time.Sleep(time.Hour)
		if _, err := m.Seal(vault.NewSecret(canary), place); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("sealed: %v", err)
		}
		if _, _, err := m.Promote(vault.Keyring{}); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("promoted: %v", err)
		}
		n.mu.Lock()
		n.away = nil
		n.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		n.seal(0)
		n.stop()
	})
}

// TestAKeyThatNobodyHas replaces a key at once, which is not how it is done: the
// node seals with its own and says what is wrong.
func TestAKeyThatNobodyHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(t)
		n.start(0, "old")
		old := n.seal(0)
		m := n.start(0, "new")
		n.seal(0)
		if m.Primary() != m.Configured() {
			t.Error("another key seals than its own")
		}
		if _, err := m.Open(old, place); !errors.Is(err, vault.ErrOtherKey) {
			t.Errorf("opened: %v", err)
		}
		m.Learn(n.keyring)
		if warned := strings.Count(n.log.String(), "encryption_keys_previous"); warned != 1 {
			t.Errorf("%d warnings: %s", warned, n.log)
		}
		n.rotate(0, nil)
		if n.keyring.Sealing != m.Configured() {
			t.Error("a rotation does not mend it")
		}
		n.stop()
	})
}

// TestABadKMS has one answer what it should not.
func TestABadKMS(t *testing.T) {
	for name, spoil := range map[string]func([]byte) []byte{
		"nothing":   func([]byte) []byte { return nil },
		"short":     func(b []byte) []byte { return b[:31] },
		"otherwise": func([]byte) []byte { return []byte("CANARY-that-is-32-bytes-long-xxx") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNodes(t)
				n.cloud.spoil = spoil
				err := n.ring(uri(0)).Unlock(t.Context())
				if err == nil || strings.Contains(err.Error()+n.log.String(), "CANARY") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestRingOfNothing(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	if _, err := vault.NewRing(vault.RingConfig{Logger: log}); err == nil {
		t.Error("a ring without a key")
	}
	kms := source(t, uri(0))
	if _, err := vault.NewRing(vault.RingConfig{Primary: kms, Logger: log}); err == nil || !strings.Contains(err.Error(), uri(0)) {
		t.Errorf("a ring without a KMS: %v", err)
	}
	n := newNodes(t)
	r := n.ring("CANARY-key")
	if shown := fmt.Sprintf("%v %+v %#v %s", r, r, r, []*vault.Ring{r}); strings.Contains(shown, "CANARY") || strings.Contains(shown, "0x") {
		t.Errorf("shown: %s", shown)
	}
	// Without an agreement it is a Sealer with its own keys.
	sealed, err := r.Seal(vault.NewSecret(canary), place)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sealer(t, "CANARY-key").Open(sealed, place); err != nil || got.Reveal() != canary {
		t.Errorf("opened: %v", err)
	}
	if err := r.Unlock(t.Context()); err != nil {
		t.Errorf("unlock: %v", err)
	}
}
