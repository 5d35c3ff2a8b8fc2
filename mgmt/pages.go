package mgmt

import (
	"iter"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// pageLimit is the number of items on a page unless the request sets it.
const pageLimit = 20

// cursors has the fields that all requests for lists with cursors have.
type cursors interface {
	GetLimit() int32
	GetStartingAfter() string
	GetEndingBefore() string
}

// page is a page of a list, and its position in the list.
type page[T any] struct {
	items []T
	more  bool // after these
	total int
	next  string // id of the last of them; empty at the end
}

// pageOf returns the page of a request from a sorted list of the items that the caller may see.
// Cursors are the ids of items. A cursor that belongs to no item of the list is rejected.
func pageOf[T any](all iter.Seq[T], idOf func(T) string, in cursors) (page[T], error) {
	items := slices.Collect(all)
	out := page[T]{total: len(items)}
	limit := int(in.GetLimit())
	if limit == 0 {
		limit = pageLimit
	}
	if in.GetStartingAfter() != "" && in.GetEndingBefore() != "" {
		return out, fault.Field("ending_before", "invalid_value", "Send starting_after or ending_before, not both.")
	}
	from, to := 0, min(limit, len(items))
	for _, c := range []struct{ param, id string }{{"starting_after", in.GetStartingAfter()}, {"ending_before", in.GetEndingBefore()}} {
		if c.id == "" {
			continue
		}
		at := slices.IndexFunc(items, func(item T) bool { return idOf(item) == c.id })
		switch {
		case at < 0:
			return out, fault.Field(c.param, "invalid_value", "%s is no cursor of this list. Begin again without it.", c.param)
		case c.param == "starting_after":
			from, to = at+1, min(at+1+limit, len(items))
		default:
			from, to = max(0, at-limit), at
		}
	}
	out.items, out.more = items[from:to], to < len(items)
	if out.more && len(out.items) > 0 {
		out.next = idOf(out.items[len(out.items)-1])
	}
	return out, nil
}

// keep yields the values for which holds returns true.
func keep[T any](all iter.Seq[T], holds func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range all {
			if holds(v) && !yield(v) {
				return
			}
		}
	}
}

// mostDays bounds the days in one request.
const mostDays = 366

// The first and the last year of days.
const (
	firstYear = 1970
	lastYear  = 2261
)

// days are the first and the last day of a period, as 2006-01-02.
type days struct{ from, to string }

// daysOf reads the days of a request. The last one must not be before the first one.
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

// span returns the number of the page in a request, from 1, and the number of items on it.
func span(page, size *int32, otherwise int32) (number, items int32) {
	return orElse(page, 1), orElse(size, otherwise)
}

// orElse returns an optional value of a request, or another value if the request does not set it.
func orElse[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

// pages returns the number of pages of a list.
func pages(total int, size int32) uint32 { return uint32((total + int(size) - 1) / int(size)) }

// distinct yields the entries of a list with their first indices.
func distinct(list []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		seen := map[string]bool{}
		for i, one := range list {
			if !seen[one] && !yield(i, one) {
				return
			}
			seen[one] = true
		}
	}
}
