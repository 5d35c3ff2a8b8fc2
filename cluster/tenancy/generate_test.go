package tenancy_test

import (
	"crypto/rand"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	key, name, err := tenancy.Generate(strings.NewReader("0123456789abcdef"))
	if err != nil || key.Reveal() != "sk-MDEyMzQ1Njc4OWFiY2RlZg" || name != "sk-...RlZg" {
		t.Errorf("key %s, name %s, error %v", key.Reveal(), name, err)
	}
	seen := map[string]bool{}
	for range 100 {
		key, _, err := tenancy.Generate(rand.Reader)
		if err != nil || len(key.Reveal()) != 25 || seen[key.Reveal()] || tenancy.CheckCustom(key.Reveal()) != nil {
			t.Fatalf("key %s, error %v", key.Reveal(), err)
		}
		seen[key.Reveal()] = true
		if got, err := tenancy.Parse(present("authorization", "Bearer "+key.Reveal())); err != nil || got != key.Reveal() {
			t.Fatalf("the key cannot be presented: %v", err)
		}
	}
	if key, _, err := tenancy.Generate(strings.NewReader("too short")); err == nil || !key.IsEmpty() {
		t.Errorf("with too little randomness: %v, %v", key, err)
	}
	if _, _, err := tenancy.Generate(iotest{}); err == nil {
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
		if got := tenancy.DisplayName(key); got != want {
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
		err := tenancy.CheckCustom(key)
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
		got, err := tenancy.ParseReference(text)
		if (err == nil) != fine || fine && got != h {
			t.Errorf("%.40q: %v, error %v", text, got, err)
		}
		if err != nil && (fault.KindOf(err) != fault.Malformed || text != "" && strings.Contains(err.Error(), text)) {
			t.Errorf("%.40q: the error is %v", text, err)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	from := time.Date(2027, 1, 31, 22, 30, 15, 7, time.FixedZone("", 2*3600))
	for text, want := range map[string]time.Time{
		"30s":         time.Date(2027, 1, 31, 20, 30, 45, 7, time.UTC),
		"5m":          time.Date(2027, 1, 31, 20, 35, 15, 7, time.UTC),
		"2h":          time.Date(2027, 1, 31, 22, 30, 15, 7, time.UTC),
		"1d":          time.Date(2027, 2, 1, 20, 30, 15, 7, time.UTC),
		"2w":          time.Date(2027, 2, 14, 20, 30, 15, 7, time.UTC),
		"1mo":         time.Date(2027, 2, 28, 20, 30, 15, 7, time.UTC),
		"2mo":         time.Date(2027, 3, 31, 20, 30, 15, 7, time.UTC),
		"13mo":        time.Date(2028, 2, 29, 20, 30, 15, 7, time.UTC),
		"11mo":        time.Date(2027, 12, 31, 20, 30, 15, 7, time.UTC),
		"1200mo":      time.Date(2127, 1, 31, 20, 30, 15, 7, time.UTC),
		"36500d":      from.UTC().AddDate(0, 0, 36500),
		"0001h":       time.Date(2027, 1, 31, 21, 30, 15, 7, time.UTC),
		"3153600000s": from.UTC().AddDate(0, 0, 36500),
	} {
		d, err := tenancy.ParseDuration("duration", text)
		if got := d.After(from); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s ends at %v, want %v (error %v)", text, got, want, err)
		}
	}
	for text, remedy := range map[string]string{
		"":                       "30s, 15m",
		"1":                      "30s, 15m",
		"d":                      "30s, 15m",
		"1y":                     "30s, 15m",
		"1D":                     "30s, 15m",
		"-1d":                    "30s, 15m",
		"1.5h":                   "30s, 15m",
		" 1d":                    "30s, 15m",
		"1 d":                    "30s, 15m",
		"1d2h":                   "30s, 15m",
		"0d":                     "zero",
		"00mo":                   "zero",
		"1201mo":                 "100 years",
		"36501d":                 "100 years",
		"99999999999999999999s":  "100 years",
		"9223372036854775807s":   "100 years",
		"9223372036854775808mo":  "100 years",
		strings.Repeat("x", 999): "…",
	} {
		d, err := tenancy.ParseDuration("duration", text)
		f := fault.From(err)
		if f == nil || f.Kind != fault.Malformed || f.Param != "duration" || !strings.Contains(f.Detail, remedy) || d != (tenancy.Duration{}) || len(f.Detail) > 200 {
			t.Errorf("%.40q: %v, %v; want a refusal that says %q", text, d, err, remedy)
		}
	}
}

// FuzzParseDuration: what is accepted ends later than it begins, and not more
// than a hundred years (and their leap days) later.
func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"30s", "1mo", "1200mo", "0d", "99999999999999999999s", "\x00", "é", "1\xff"} {
		f.Add(seed, int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, begin int64) {
		d, err := tenancy.ParseDuration("duration", text)
		from := time.Unix(begin%(1<<36), 0).UTC()
		if err != nil {
			if e := fault.From(err); e.Kind != fault.Malformed || strings.ContainsAny(e.Detail, "\x00\r\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if end := d.After(from); !end.After(from) || end.After(from.AddDate(100, 0, 1)) {
			t.Errorf("%q from %v ends at %v", text, from, end)
		}
	})
}

// FuzzParseReference: what is accepted is the hash of the text, or what it spells.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{good, id.HashKey(good).String(), "sha256:", "sk-", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := tenancy.ParseReference(text)
		spelt := "sha256:" + strings.ToLower(strings.TrimPrefix(text, "sha256:"))
		if err == nil && h != id.HashKey(text) && h.String() != spelt {
			t.Errorf("%q is %v", text, h)
		}
	})
}
