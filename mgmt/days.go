package mgmt

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// mostDays bounds how many days one request asks about.
const mostDays = 366

// The years that days can be of.
const (
	firstYear = 1970
	lastYear  = 2261
)

// span of days, both included, as 2006-01-02.
type days struct{ from, to string }

// daysOf reads the days that a request asks about. The later one must not be before
// the earlier one.
func daysOf(from, to string) (days, error) {
	first, err := dayOf("start_date", from)
	if err != nil {
		return days{}, err
	}
	last, err := dayOf("end_date", to)
	switch {
	case err != nil:
		return days{}, err
	case last.Before(first):
		return days{}, fault.Field("end_date", "invalid_value", "end_date is before start_date. Exchange them.")
	case last.Sub(first) >= mostDays*24*time.Hour:
		return days{}, fault.Field("start_date", "invalid_value", "start_date and end_date are more than %d days apart. Ask for fewer.", mostDays)
	}
	return days{from, to}, nil
}

func dayOf(param, text string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		return t, fault.Field(param, "invalid_value", "%s must be a day such as 2026-01-31.", param)
	case t.Year() < firstYear || t.Year() > lastYear:
		return t, fault.Field(param, "invalid_value", "%s must be a day from %d to %d.", param, firstYear, lastYear)
	}
	return t, nil
}

// each calls fn for each day, the first one first.
func (d days) each(fn func(day string)) {
	first, _ := time.Parse(time.DateOnly, d.from) // they were read before
	last, _ := time.Parse(time.DateOnly, d.to)
	for ; !first.After(last); first = first.AddDate(0, 0, 1) {
		fn(first.Format(time.DateOnly))
	}
}
