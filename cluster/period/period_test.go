package period_test

import (
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/period"
)

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
		d, err := period.ParseDuration("duration", text)
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
		d, err := period.ParseDuration("duration", text)
		f := fault.From(err)
		if f == nil || f.Kind != fault.Malformed || f.Param != "duration" || !strings.Contains(f.Detail, remedy) || d != (period.Duration{}) || len(f.Detail) > 200 {
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
		d, err := period.ParseDuration("duration", text)
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

func TestParseKnowsWords(t *testing.T) {
	t.Parallel()
	for word, same := range map[string]string{"hourly": "1h", "daily": "1d", "weekly": "1w", "monthly": "1mo", "90s": "90s"} {
		a, err := period.Parse("p", word)
		if err != nil {
			t.Fatal(err)
		}
		b, err := period.ParseDuration("p", same)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%s is %v, want %v", word, a, b)
		}
	}
}
