package period_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/period"
)

func TestNextReset(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ duration, now, want string }{
		{"1d", "2026-11-21T12:00:00Z", "2026-11-22T00:00:00Z"},
		{"1d", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"1d", "2026-11-21T23:59:59.999999999Z", "2026-11-22T00:00:00Z"},
		{"1d", "2026-12-31T12:00:00Z", "2027-01-01T00:00:00Z"},
		{"1d", "2028-02-28T12:00:00Z", "2028-02-29T00:00:00Z"}, // a leap year
		{"1d", "2027-02-28T12:00:00Z", "2027-03-01T00:00:00Z"},
		{"1d", "2100-02-28T12:00:00Z", "2100-03-01T00:00:00Z"}, // none
		{"1d", "2026-11-21T23:30:00-05:00", "2026-11-23T00:00:00Z"},
		{"daily", "2026-11-21T12:00:00Z", "2026-11-22T00:00:00Z"},
		{"1w", "2026-11-21T12:00:00Z", "2026-11-23T00:00:00Z"}, // a Saturday
		{"7d", "2026-11-22T23:59:59Z", "2026-11-23T00:00:00Z"},
		{"weekly", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"}, // a Monday
		{"7d", "2026-12-31T00:00:00Z", "2027-01-04T00:00:00Z"},
		{"30d", "2026-11-21T12:00:00Z", "2026-12-01T00:00:00Z"},
		{"1mo", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"},
		{"monthly", "2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z"},
		{"1mo", "2026-01-31T12:00:00Z", "2026-02-01T00:00:00Z"},
		{"30d", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"3mo", "2026-11-21T12:00:00Z", "2027-02-01T00:00:00Z"},
		{"3mo", "2026-03-31T23:59:59Z", "2026-06-01T00:00:00Z"},
		{"12mo", "2026-11-21T12:00:00Z", "2027-11-01T00:00:00Z"},
		{"2d", "2026-11-21T12:00:00Z", "2026-11-23T00:00:00Z"},
		{"2d", "2026-11-21T00:00:00Z", "2026-11-23T00:00:00Z"},
		{"14d", "2026-11-21T12:00:00Z", "2026-12-05T00:00:00Z"},
		{"31d", "2026-11-21T12:00:00Z", "2026-12-22T00:00:00Z"},
		{"60d", "2027-12-31T23:59:59Z", "2028-02-29T00:00:00Z"},
		{"2w", "2026-11-21T12:00:00Z", "2026-11-30T00:00:00Z"},
		{"2w", "2026-11-22T23:59:59Z", "2026-11-30T00:00:00Z"}, // a Sunday
		{"2w", "2026-11-23T00:00:00Z", "2026-12-07T00:00:00Z"},
		{"1h", "2026-11-21T12:00:00Z", "2026-11-21T13:00:00Z"},
		{"hourly", "2026-11-21T12:59:59.5Z", "2026-11-21T13:00:00Z"},
		{"12h", "2026-11-21T11:00:00Z", "2026-11-21T12:00:00Z"},
		{"24h", "2026-11-21T11:00:00Z", "2026-11-22T00:00:00Z"},
		{"15m", "2026-11-21T11:07:00Z", "2026-11-21T11:15:00Z"},
		{"15m", "2026-12-31T23:50:00Z", "2027-01-01T00:00:00Z"},
		{"30s", "2026-11-21T11:07:30Z", "2026-11-21T11:08:00Z"},
		{"1s", "1969-12-31T23:59:58.5Z", "1969-12-31T23:59:59Z"},
		{"", "2026-11-21T12:00:00Z", ""},
		{"0d", "2026-11-21T12:00:00Z", ""},
		{"-1d", "2026-11-21T12:00:00Z", ""},
		{"1y", "2026-11-21T12:00:00Z", ""},
		{"99999999999999999999d", "2026-11-21T12:00:00Z", ""},
	} {
		now, err := time.Parse(time.RFC3339Nano, test.now)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := period.NextReset(test.duration, now)
		text := ""
		if ok {
			text = got.Format(time.RFC3339Nano)
		}
		if text != test.want {
			t.Errorf("%q at %s: %s, want %s", test.duration, test.now, text, test.want)
		}
	}
}

// TestWindowsFollowEachOther: the end of a window comes after now and is the same
// from all of the hour, day, week or month that it began in; the next window begins
// with it and is a whole one.
func TestWindowsFollowEachOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"s", "m", "h", "d", "w", "mo"}).Draw(t, "unit")
		number := rapid.IntRange(1, 40).Draw(t, "number")
		next := func(number int, at time.Time) time.Time {
			duration := fmt.Sprint(number, unit)
			end, ok := period.NextReset(duration, at)
			if !ok {
				t.Fatalf("%s has no end", duration)
			}
			if !end.After(at) {
				t.Fatalf("%s: %s ends at %s", duration, at, end)
			}
			return end
		}
		now := time.Unix(rapid.Int64Range(-1e9, 5e9).Draw(t, "now"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
		end, length := next(number, now), next(1, now).Sub(now)
		for range 5 {
			later := now.Add(time.Duration(rapid.Int64Range(0, int64(length)-1).Draw(t, "later")))
			if got := next(number, later); !got.Equal(end) {
				t.Fatalf("%d%s: %s ends at %s, %s at %s", number, unit, now, end, later, got)
			}
		}
		var whole time.Time
		switch unit {
		case "mo":
			whole = end.AddDate(0, number, 0)
		case "w":
			whole = end.AddDate(0, 0, 7*number)
		case "d":
			if number == 30 {
				whole = end.AddDate(0, 1, 0)
			} else {
				whole = end.AddDate(0, 0, number)
			}
		default:
			unit, _ := time.ParseDuration("1" + unit)
			whole = end.Add(time.Duration(number) * unit)
		}
		if after := next(number, end); !after.Equal(whole) {
			t.Fatalf("%d%s: the window from %s on ends at %s, want %s", number, unit, end, after, whole)
		}
	})
}
