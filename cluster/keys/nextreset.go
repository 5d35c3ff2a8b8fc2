package keys

import (
	"strings"
	"time"
)

// Days that windows are counted from. January 1, 1970 was a Thursday.
const (
	day         = 24 * time.Hour
	firstMonday = 4 // in days since January 1, 1970
)

// NextReset returns the end of the window of a budget's duration that holds now: from
// then on the spend counts anew. It is false for no duration, and for one that
// ParsePeriod refuses. All windows begin and end by UTC, and depend on the duration
// and now alone, so that all nodes come to the same at any time:
//
//	1d, daily            the next midnight
//	7d, 1w, weekly       the next Monday
//	30d, 1mo, monthly    the first of the next month
//	<n>d                 windows of n days, the first of which began on January 1, 1970
//	<n>w                 windows of n weeks, the first of which began on January 5, 1970, a Monday
//	<n>mo                windows of n months, the first of which began in January of the year 0:
//	                     3mo is quarters, 12mo calendar years
//	<n>h, <n>m, <n>s     the next multiple of it since January 1, 1970: 12h is midnight and noon
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
	switch {
	case length.months > 0:
		year, month, _ := now.Date()
		next := nextMultiple(int64(year)*12+int64(month)-1, int64(length.months))
		return time.Date(0, time.Month(next+1), 1, 0, 0, 0, 0, time.UTC), true
	case strings.HasSuffix(duration, "w"):
		const first = firstMonday * int64(day/time.Second)
		return time.Unix(first+nextMultiple(now.Unix()-first, int64(length.exact/time.Second)), 0).UTC(), true
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
