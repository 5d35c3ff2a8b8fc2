package period

import (
	"math"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Duration is a length of time as people write it. Months are kept apart from
// the rest, for how long they are depends on when they begin.
type Duration struct {
	months int
	exact  time.Duration
}

// maxYears is the longest duration. A key for longer is one without an end.
const maxYears = 100

// ParseDuration reads `<n>s`, `m`, `h`, `d`, `w` or `mo`: a whole number, at
// least 1, and one unit. The error is a *fault.Error of the given param.
func ParseDuration(param, s string) (Duration, error) {
	digits := 0
	n, overflow := int64(0), false
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		overflow = overflow || n > (math.MaxInt64-9)/10
		if !overflow {
			n = n*10 + int64(s[digits]-'0')
		}
		digits++
	}
	var unit time.Duration
	most := int64(maxYears * 12)
	switch s[digits:] {
	case "s":
		unit = time.Second
	case "m":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "d":
		unit = 24 * time.Hour
	case "w":
		unit = 7 * 24 * time.Hour
	case "mo":
	default:
		digits = 0
	}
	if unit > 0 {
		most = int64(maxYears * 365 * 24 * time.Hour / unit)
	}
	switch {
	case digits == 0:
		return Duration{}, fault.Field(param, "invalid_value", "%s is not a duration. Write a whole number and a unit: 30s, 15m, 12h, 7d, 2w or 1mo.", fault.Short(s))
	case overflow || n > most:
		return Duration{}, fault.Field(param, "invalid_value", "The duration is longer than %d years. Leave it out for no end.", maxYears)
	case n == 0:
		return Duration{}, fault.Field(param, "invalid_value", "The duration is zero. Leave it out for no end.")
	case unit == 0:
		return Duration{months: int(n)}, nil
	}
	return Duration{exact: time.Duration(n) * unit}, nil
}

// Parse reads the period after which a spend resets: a duration, or hourly, daily, weekly
// or monthly. The error is a *fault.Error of the param.
func Parse(param, s string) (Duration, error) {
	switch s {
	case "hourly":
		s = "1h"
	case "daily":
		s = "1d"
	case "weekly":
		s = "1w"
	case "monthly":
		s = "1mo"
	}
	return ParseDuration(param, s)
}

// After returns the end of a duration that begins at t. Months end on the same
// day of the month at the same time, UTC, or on the month's last day where it
// is shorter: a month after January 31 is February 28 or 29, not March 3.
func (d Duration) After(t time.Time) time.Time {
	t = t.UTC()
	if d.months == 0 {
		return t.Add(d.exact)
	}
	year, month, day := t.Date()
	// Day 0 of the month after is the last day of the one that is meant.
	last := time.Date(year, month+time.Month(d.months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	hour, minute, second := t.Clock()
	return time.Date(year, month+time.Month(d.months), min(day, last), hour, minute, second, t.Nanosecond(), time.UTC)
}

// NextReset returns the end of a budget's window that begins at now; then the spend resets. It is
// false for no duration, and for one that Parse rejects. Windows end by UTC:
//
//	<n>d                 n days from the last midnight: 1d is the next midnight
//	<n>w                 n weeks from the last Monday: 1w is the next Monday
//	<n>mo                n months from the first of the month: 1mo is the first of the next
//	7d, 30d              as 1w and 1mo
//	<n>h, <n>m, <n>s     the next multiple of it since January 1, 1970: 12h is midnight and noon
//
// Of two days, weeks or months or more it depends on the day that it is asked on: the
// ledger keeps the end of a window that has begun, and asks again when it is over.
func NextReset(duration string, now time.Time) (time.Time, bool) {
	switch duration {
	case "":
		return time.Time{}, false
	case "daily":
		duration = "1d"
	case "weekly", "7d":
		duration = "1w"
	case "monthly", "30d":
		duration = "1mo"
	}
	length, err := Parse("", duration)
	if err != nil {
		return time.Time{}, false
	}
	now = now.UTC()
	year, month, today := now.Date()
	days := int(length.exact / (24 * time.Hour))
	switch {
	case length.months > 0:
		return time.Date(year, month+time.Month(length.months), 1, 0, 0, 0, 0, time.UTC), true
	case strings.HasSuffix(duration, "w"):
		sinceMonday := (int(now.Weekday()) + 6) % 7
		return time.Date(year, month, today-sinceMonday+days, 0, 0, 0, 0, time.UTC), true
	case strings.HasSuffix(duration, "d"):
		return time.Date(year, month, today+days, 0, 0, 0, 0, time.UTC), true
	}
	return time.Unix(nextMultiple(now.Unix(), int64(length.exact/time.Second)), 0).UTC(), true
}

// nextMultiple returns the least multiple of n that is greater than v.
func nextMultiple(v, n int64) int64 {
	rest := v % n
	if rest < 0 {
		rest += n
	}
	return v - rest + n
}

// ResetsSooner reports whether budget a may reset before budget b. A budget without a period
// never resets.
func ResetsSooner(a, b string) bool {
	if a == "" || a == b {
		return false
	}
	if b == "" {
		return true
	}
	// A month is shorter than what it is compared with, or longer: 28 to 31 days.
	shortest, ok := days(a, 28)
	longest, known := days(b, 31)
	return !ok || !known || shortest < longest
}

// Lasts reports whether a duration is at least as long as another, whatever months it
// falls into.
func Lasts(a, b string) bool {
	shortest, ok := days(a, 28)
	longest, known := days(b, 31)
	return a == b || ok && known && shortest >= longest
}

// days is how long a duration is, with months of so many days.
func days(text string, month int) (time.Duration, bool) {
	switch text {
	case "hourly":
		text = "1h"
	case "daily":
		text = "1d"
	case "weekly":
		text = "7d"
	case "monthly":
		text = "30d"
	}
	d, err := ParseDuration("", text)
	if err != nil {
		return 0, false
	}
	return d.exact + time.Duration(d.months*month)*24*time.Hour, true
}
