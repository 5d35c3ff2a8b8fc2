package vault_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	canary = "CANARY-credential-of-a-provider"
	place  = "deployment/d1/api_key"
)

func key(tb testing.TB, secret string) vault.Key {
	tb.Helper()
	k, err := vault.KeyFromSecret(vault.NewSecret(secret))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func sealer(tb testing.TB, primary string, others ...string) *vault.Sealer {
	tb.Helper()
	var all []vault.Key
	for _, o := range others {
		all = append(all, key(tb, o))
	}
	s, err := vault.NewSealer(key(tb, primary), all...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// seal seals the canary for its place.
func seal(tb testing.TB, s *vault.Sealer) []byte {
	tb.Helper()
	sealed, err := s.Seal(vault.NewSecret(canary), place)
	if err != nil {
		tb.Fatal(err)
	}
	return sealed
}

// TestSealedOpens checks that any secret comes back, that the bytes do not hold
// it, and that another context or another key does not open them.
func TestSealedOpens(t *testing.T) {
	s, stranger := sealer(t, "k1"), sealer(t, "k2")
	rapid.Check(t, func(t *rapid.T) {
		plain := string(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "plain"))
		context := rapid.String().Draw(t, "context")
		other := rapid.String().Filter(func(o string) bool { return o != context }).Draw(t, "other")
		sealed, err := s.Seal(vault.NewSecret(plain), context)
		if err != nil {
			t.Fatal(err)
		}
		if len(plain) >= 4 && bytes.Contains(sealed, []byte(plain)) {
			t.Fatal("the sealed bytes hold the secret")
		}
		if got, err := s.Open(sealed, context); err != nil || got.Reveal() != plain {
			t.Fatalf("opened as %q, %v", got.Reveal(), err)
		}
		if got, err := s.Open(sealed, other); !errors.Is(err, vault.ErrDamaged) || !got.IsEmpty() {
			t.Fatalf("with another context: %q, %v", got.Reveal(), err)
		}
		if got, err := stranger.Open(sealed, context); !errors.Is(err, vault.ErrOtherKey) || !got.IsEmpty() {
			t.Fatalf("with another key: %q, %v", got.Reveal(), err)
		}
	})
}

func TestNothingIsSealedAsNothing(t *testing.T) {
	s := sealer(t, "k")
	sealed, err := s.Seal(vault.Secret{}, place)
	if sealed != nil || err != nil {
		t.Errorf("sealed as %x, %v", sealed, err)
	}
	for _, none := range [][]byte{nil, {}} {
		if got, err := s.Open(none, place); err != nil || !got.IsEmpty() {
			t.Errorf("opened as %v, %v", got, err)
		}
	}
}

// TestEveryChangeIsSeen flips each bit, cuts at each length and adds a byte.
func TestEveryChangeIsSeen(t *testing.T) {
	s := sealer(t, "k")
	sealed := seal(t, s)
	refused := func(what string, changed []byte) {
		t.Helper()
		got, err := s.Open(changed, place)
		if !errors.Is(err, vault.ErrDamaged) && !errors.Is(err, vault.ErrOtherKey) || !got.IsEmpty() {
			t.Errorf("%s: opened as %q, %v", what, got.Reveal(), err)
		}
	}
	for i := range sealed {
		for bit := range 8 {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, i), changed)
		}
	}
	for n := 1; n < len(sealed); n++ {
		refused(fmt.Sprintf("cut to %d bytes", n), sealed[:n])
	}
	refused("a byte more", append(bytes.Clone(sealed), 0))
}

// TestPiecesOfTwo puts the wrapped key of one secret before the content of
// another, at each place where one could end and the other begin.
func TestPiecesOfTwo(t *testing.T) {
	s := sealer(t, "k")
	a, b := seal(t, s), seal(t, s)
	const lengths = 9 + 4 // the same in both: version, key id, size of the wrapped key
	for i := lengths + 1; i < len(a); i++ {
		if got, err := s.Open(append(bytes.Clone(a[:i]), b[i:]...), place); err == nil {
			t.Errorf("joined at %d: opened as %q", i, got.Reveal())
		}
	}
}

// TestErrorsTellTheCause checks that each error leads to its own remedy, and
// that a wrong key is not taken for damage nor the other way round.
func TestErrorsTellTheCause(t *testing.T) {
	sealed := seal(t, sealer(t, "k1"))
	_, err := sealer(t, "k2").Open(sealed, place)
	if !errors.Is(err, vault.ErrOtherKey) || errors.Is(err, vault.ErrDamaged) || !strings.Contains(err.Error(), "general_settings.encryption_key") {
		t.Errorf("another key: %v", err)
	}
	_, err = sealer(t, "k1").Open(sealed[:len(sealed)-1], place)
	if !errors.Is(err, vault.ErrDamaged) || errors.Is(err, vault.ErrOtherKey) || !strings.Contains(err.Error(), "write the credential again") {
		t.Errorf("damage: %v", err)
	}
	newer := bytes.Clone(sealed)
	newer[0] = 2
	if _, err = sealer(t, "k1").Open(newer, place); !errors.Is(err, vault.ErrDamaged) || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("another form: %v", err)
	}
}

// TestReplacingAKey goes the way of an operator: the new key seals, both open,
// and in the end the old one is gone.
func TestReplacingAKey(t *testing.T) {
	before := seal(t, sealer(t, "old"))
	both := sealer(t, "new", "older", "old", "new")
	after := seal(t, both)
	for name, sealed := range map[string][]byte{"before": before, "after": after} {
		if got, err := both.Open(sealed, place); err != nil || got.Reveal() != canary {
			t.Errorf("%s, with both: %v, %v", name, got, err)
		}
	}
	if got, err := sealer(t, "new").Open(after, place); err != nil || got.Reveal() != canary {
		t.Errorf("after, with the new one: %v, %v", got, err)
	}
	if _, err := sealer(t, "new").Open(before, place); !errors.Is(err, vault.ErrOtherKey) {
		t.Errorf("before, with the new one: %v", err)
	}
}

// TestOlderBytesOpen opens what is on disks: whatever changes here, these bytes
// must open.
func TestOlderBytesOpen(t *testing.T) {
	const stored = "01151db52580480b600000004aeb9af7c1b9e974ee479f0353b45c0078e9a00ede85f8957bdcabac071432a07c5a408da706434e1827e6ac86aec76e9c2989da38208e4f78595d225e1eb56414bc4b0902479f962fee4394a2dfbdfc660fdf08ff6fc3acf329a34bc7c93f3f07f42e28761310d240a617f2a7319ee2bb27fe5e46c726b3d1ed18cbdf68978216ae89a79918"
	sealed, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sealer(t, "a master key of version 1").Open(sealed, place)
	if err != nil || got.Reveal() != canary {
		t.Errorf("opened as %q, %v", got.Reveal(), err)
	}
}

// TestTheSameSecretTwice checks that sealed bytes do not tell whether two
// deployments have the same credential.
func TestTheSameSecretTwice(t *testing.T) {
	s := sealer(t, "k")
	a, b := seal(t, s), seal(t, s)
	const header = 9 // version and key id, which tell the key and nothing else
	if !bytes.Equal(a[:header], b[:header]) || bytes.Equal(a[header:], b[header:]) {
		t.Errorf("%x and %x", a, b)
	}
}

func TestNoKey(t *testing.T) {
	if _, err := vault.KeyFromSecret(vault.Secret{}); err == nil {
		t.Error("a key is made of nothing")
	}
	if _, err := vault.NewSealer(vault.Key{}); err == nil {
		t.Error("seals with no key")
	}
	if _, err := vault.NewSealer(key(t, "k"), vault.Key{}); err == nil {
		t.Error("opens with no key")
	}
}

// TestKeysAreNotShown prints a key and a sealer in every way there is.
func TestKeysAreNotShown(t *testing.T) {
	const secret = "CANARY-encryption-key"
	k, s := key(t, secret), sealer(t, secret)
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.InfoContext(t.Context(), "shown", slog.Any("key", k), slog.Any("sealer", s))
	for _, v := range []any{k, &k, s, struct{ K vault.Key }{k}, []vault.Key{k}} {
		fmt.Fprintf(&out, "%v %+v %#v %s %x %q %d", v, v, v, v, v, v, v)
	}
	encoded, err := json.Marshal(map[string]any{"k": k})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(encoded)
	for _, hidden := range []string{secret, hex.EncodeToString([]byte(secret)), "kek", "0x"} {
		if strings.Contains(out.String(), hidden) {
			t.Errorf("%q is shown: %s", hidden, out.String())
		}
	}
}

// TestManyAtOnce seals and opens from several goroutines, for the race detector.
func TestManyAtOnce(t *testing.T) {
	s := sealer(t, "k", "old")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			context := fmt.Sprint(i)
			sealed, err := s.Seal(vault.NewSecret(canary), context)
			if err != nil {
				t.Error(err)
			}
			if got, err := s.Open(sealed, context); err != nil || got.Reveal() != canary {
				t.Errorf("opened as %v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// FuzzOpen gives bytes that nobody sealed: they do not open and do no harm.
func FuzzOpen(f *testing.F) {
	s := sealer(f, "k")
	good := seal(f, s)
	f.Add(good[:len(good)-1])
	f.Add(append(good[:9:9], 0xff, 0xff, 0xff, 0xff, 0))
	f.Add(append(good[:9:9], 0, 0, 0, 0))
	f.Add(append(good[:9:9], 0, 0, 0, 1, 7))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		got, err := s.Open(sealed, place)
		switch {
		case len(sealed) == 0:
		case err == nil:
			t.Errorf("opened as %q", got.Reveal())
		case !errors.Is(err, vault.ErrDamaged) && !errors.Is(err, vault.ErrOtherKey) || !got.IsEmpty():
			t.Errorf("%q, %v", got.Reveal(), err)
		}
	})
}

// BenchmarkOpen is what each credential costs at the start of a node.
func BenchmarkOpen(b *testing.B) {
	s := sealer(b, "k")
	sealed := seal(b, s)
	for b.Loop() {
		if _, err := s.Open(sealed, place); err != nil {
			b.Fatal(err)
		}
	}
}
