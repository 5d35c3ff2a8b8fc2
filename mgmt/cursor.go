package mgmt

import (
	"iter"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// pageLimit is how many items a page has where the request does not say.
const pageLimit = 20

// cursors is what the requests of lists with cursors have in common.
type cursors interface {
	GetLimit() int32
	GetStartingAfter() string
	GetEndingBefore() string
}

// page is a page of a list, and where it stands in it.
type page[T any] struct {
	items []T
	more  bool // after these
	total int
	next  string // id of the last of them; empty at the end
}

// pageOf returns the page of a list, which is in order and holds only what the
// caller may see, that a request asks for. idOf is what cursors are made of. A
// cursor that is no item's is refused, also where it is one of somebody else's list.
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

// keep yields those for which holds does.
func keep[T any](all iter.Seq[T], holds func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range all {
			if holds(v) && !yield(v) {
				return
			}
		}
	}
}
