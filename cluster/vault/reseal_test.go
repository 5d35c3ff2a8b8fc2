package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// stored is a secret as it lies on a disk.
type stored struct {
	plain, context string
	sealed         []byte
	key            string // that sealed it last
}

// TestKeysComeAndGo goes any way of sealing, of keys that are added and removed, and
// of sealing again: a secret opens exactly as long as its key is there, and sealing
// again changes the key and nothing else.
func TestKeysComeAndGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"k0"} // the primary is the last
		var all []stored
		made := 1
		current := func() *vault.Sealer {
			keys := make([]vault.Key, len(names))
			for i, n := range names {
				k, err := vault.KeyFromSecret(vault.NewSecret(n))
				if err != nil {
					t.Fatal(err)
				}
				keys[len(names)-1-i] = k
			}
			s, err := vault.NewSealer(keys[0], keys[1:]...)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		t.Repeat(map[string]func(*rapid.T){
			"seal": func(t *rapid.T) {
				x := stored{plain: rapid.StringN(1, 20, -1).Draw(t, "plain"), context: rapid.String().Draw(t, "context"), key: names[len(names)-1]}
				var err error
				if x.sealed, err = current().Seal(vault.NewSecret(x.plain), x.context); err != nil {
					t.Fatal(err)
				}
				all = append(all, x)
			},
			"new key": func(*rapid.T) {
				names = append(names, fmt.Sprintf("k%d", made))
				made++
			},
			"old key goes": func(t *rapid.T) {
				if len(names) == 1 { // the primary stays
					return
				}
				i := rapid.IntRange(0, len(names)-2).Draw(t, "key")
				names = append(names[:i:i], names[i+1:]...)
			},
			"reseal": func(t *rapid.T) {
				s, primary := current(), names[len(names)-1]
				for i := range all {
					x := &all[i]
					out, changed, err := s.Reseal(x.sealed, x.context)
					switch {
					case err != nil:
						if !errors.Is(err, vault.ErrOtherKey) || out != nil || changed {
							t.Fatalf("%x, %v, %v", out, changed, err)
						}
						continue
					case changed != (x.key != primary) || changed != s.NeedsReseal(x.sealed) || changed == bytes.Equal(out, x.sealed):
						t.Fatalf("changed is %v, sealed by %s, now %s", changed, x.key, primary)
					case s.NeedsReseal(out) || vault.SealedBy(out) != s.Primary():
						t.Fatal("what was sealed again needs it again")
					}
					x.sealed, x.key = out, primary
				}
			},
			"": func(t *rapid.T) {
				s := current()
				for _, x := range all {
					there := false
					for _, n := range names {
						there = there || n == x.key
					}
					got, err := s.Open(x.sealed, x.context)
					switch {
					case there && (err != nil || got.Reveal() != x.plain):
						t.Fatalf("sealed by %s: %v", x.key, err)
					case !there && (!errors.Is(err, vault.ErrOtherKey) || !got.IsEmpty()):
						t.Fatalf("opened without %s: %v", x.key, err)
					}
					if _, err := s.Open(x.sealed, x.context+"x"); err == nil {
						t.Fatal("opened in another place")
					}
				}
			},
		})
	})
}

// TestResealOfWhatIsNoSecret checks what there is to be met besides secrets.
func TestResealOfWhatIsNoSecret(t *testing.T) {
	s := sealer(t, "k")
	if out, changed, err := s.Reseal(nil, place); out != nil || changed || err != nil {
		t.Errorf("nothing: %x, %v, %v", out, changed, err)
	}
	old := seal(t, sealer(t, "old"))
	both := sealer(t, "k", "old")
	for name, bad := range map[string][]byte{"cut": old[:20], "a byte": {1}, "changed": append(bytes.Clone(old[:len(old)-1]), old[len(old)-1]^1)} {
		if out, changed, err := both.Reseal(bad, place); !errors.Is(err, vault.ErrDamaged) || changed || out != nil {
			t.Errorf("%s: %x, %v, %v", name, out, changed, err)
		}
	}
	if _, _, err := both.Reseal(old, place+"2"); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("another place: %v", err)
	}
}

func TestKeyIDs(t *testing.T) {
	a, b := key(t, "a"), key(t, "b")
	if a.ID() == b.ID() || a.ID() != key(t, "a").ID() {
		t.Error("names do not tell keys apart")
	}
	id := a.ID()
	if vault.KeyIDOf(id[:]) != id || vault.KeyIDOf(id[:7]) != (vault.KeyID{}) || vault.KeyIDOf(nil) != (vault.KeyID{}) {
		t.Error("a stored name is not read back")
	}
	if got := sealer(t, "a", "b").Keys(); len(got) != 2 || bytes.Compare(got[0][:], got[1][:]) >= 0 {
		t.Errorf("keys: %v", got)
	}
	for _, none := range [][]byte{nil, {1}, {2, 1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		if vault.SealedBy(none) != (vault.KeyID{}) {
			t.Errorf("%x names a key", none)
		}
	}
	if vault.SealedBy(seal(t, sealer(t, "a"))) != id {
		t.Error("sealed by another key")
	}
}
