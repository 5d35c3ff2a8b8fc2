package tenancy

import (
	"strings"
	"time"
)

// NextReset returns the end of a budget's window that begins at now; then the spend resets. It is
// false for no duration, and for one that ParsePeriod rejects. Windows end by UTC:
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
	length, err := ParsePeriod("", duration)
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
