package credential_test

import (
	"crypto/rand"
	"io"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

const good = "sk-0123456789abcdefABCDEF"

// present makes credentials of alternating names and values.
func present(headers ...string) credential.Presented {
	var p credential.Presented
	for i := 0; i < len(headers); i += 2 {
		p.Add(headers[i], headers[i+1])
	}
	return p
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	key, name, err := credential.Generate(strings.NewReader("0123456789abcdef"))
	if err != nil || key.Reveal() != "sk-MDEyMzQ1Njc4OWFiY2RlZg" || name != "sk-...RlZg" {
		t.Errorf("key %s, name %s, error %v", key.Reveal(), name, err)
	}
	seen := map[string]bool{}
	for range 100 {
		key, _, err := credential.Generate(rand.Reader)
		if err != nil || len(key.Reveal()) != 25 || seen[key.Reveal()] || credential.CheckCustom(key.Reveal()) != nil {
			t.Fatalf("key %s, error %v", key.Reveal(), err)
		}
		seen[key.Reveal()] = true
		if got, err := credential.Parse(present("authorization", "Bearer "+key.Reveal())); err != nil || got != key.Reveal() {
			t.Fatalf("the key cannot be presented: %v", err)
		}
	}
	if key, _, err := credential.Generate(strings.NewReader("too short")); err == nil || !key.IsEmpty() {
		t.Errorf("with too little randomness: %v, %v", key, err)
	}
	if _, _, err := credential.Generate(iotest{}); err == nil {
		t.Error("without randomness there is a key")
	}
}

// iotest is a source of no randomness.
type iotest struct{}

func (iotest) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"sk-0123456789abcdef": "sk-...cdef",
		"sk-short":            "sk-...",
		"":                    "sk-...",
		"imported-from-there": "sk-...here",
	} {
		if got := credential.DisplayName(key); got != want {
			t.Errorf("%q is shown as %q, want %q", key, got, want)
		}
	}
}

func TestCheckCustom(t *testing.T) {
	t.Parallel()
	for key, fine := range map[string]bool{
		"sk-0123456789abc":                  true,
		"sk-0123456789ab":                   false,
		"pk-0123456789abc":                  false,
		"sk-0123456789 abc":                 false,
		"sk-0123456789,abc":                 false,
		"sk-0123456789é-abc":                false,
		"sk-" + strings.Repeat("k", 509):    true,
		"sk-" + strings.Repeat("k", 510):    false,
		"sk-0123456789abc\r\nx-injected: 1": false,
	} {
		err := credential.CheckCustom(key)
		f := fault.From(err)
		if (err == nil) != fine || f != nil && (f.Param != "key" || f.Kind != fault.Malformed || strings.Contains(f.Error(), "0123456789")) {
			t.Errorf("%.40q: %v", key, err)
		}
	}
}

func TestParseReference(t *testing.T) {
	t.Parallel()
	h := id.HashKey(good)
	hex := strings.TrimPrefix(h.String(), "sha256:")
	for text, fine := range map[string]bool{
		good:                              true,
		hex:                               true,
		"sha256:" + hex:                   true,
		strings.ToUpper(hex):              true,
		"":                                false,
		hex[1:]:                           false,
		"sha256:" + good:                  false,
		"sk-with space":                   false,
		strings.Repeat("z", 64):           false,
		" " + good:                        false,
		"sha256:sha256:" + hex:            false,
		"sk-" + strings.Repeat("k", 1000): false,
	} {
		got, err := credential.ParseReference(text)
		if (err == nil) != fine || fine && got != h {
			t.Errorf("%.40q: %v, error %v", text, got, err)
		}
		if err != nil && (fault.KindOf(err) != fault.Malformed || text != "" && strings.Contains(err.Error(), text)) {
			t.Errorf("%.40q: the error is %v", text, err)
		}
	}
}

// FuzzParse: whatever arrives, a credential comes out only if one header holds
// exactly that, and it is one that no log line or header could be broken with.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{"Bearer " + good, ""}, {"", good}, {"Basic x", good}, {"Bearer a,b", ""}, {"bearer\t" + good, good}, {"Bearer \x00", "\r\n"}, {"Bearer", "a b"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, authorization, bare string) {
		key, err := credential.Parse(present("authorization", authorization, "x-api-key", bare))
		if err != nil {
			e := fault.From(err)
			if s := e.HTTPStatus(); key != "" || s != 400 && s != 401 {
				t.Errorf("key %q with error %v", key, err)
			}
			return
		}
		if key == "" || len(key) > credential.MaxLength || strings.ContainsAny(key, ", \t\r\n\x00") {
			t.Errorf("%q is no key", key)
		}
		if !strings.HasSuffix(strings.TrimRight(authorization, " \t"), key) && strings.Trim(bare, " \t") != key {
			t.Errorf("%q is in neither %q nor %q", key, authorization, bare)
		}
	})
}

// FuzzParseReference: what is accepted is the hash of the text, or what it spells.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{good, id.HashKey(good).String(), "sha256:", "sk-", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := credential.ParseReference(text)
		spelt := "sha256:" + strings.ToLower(strings.TrimPrefix(text, "sha256:"))
		if err == nil && h != id.HashKey(text) && h.String() != spelt {
			t.Errorf("%q is %v", text, h)
		}
	})
}
