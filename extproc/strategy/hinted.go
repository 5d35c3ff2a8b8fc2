package strategy

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Hinted returns which of a group's deployments rest because other nodes say so.
// It is nil if none does.
//
// Hints may be wrong here, and a member may be hostile, so they are believed only as far as
// they leave enough to serve with: they never take the last healthy deployment
// of a group, and never bring the share that rests, for whatever reason, above one half
// (of three, one). Where there are more hints than that, the latest ends are believed.
func Hinted(group []*catalog.Deployment, resting Resting, hint Hint) map[id.Deployment]bool {
	if hint == nil {
		return nil
	}
	type candidate struct {
		id    id.Deployment
		until time.Time
	}
	var hinted []candidate // nil, and so without an allocation, while there are no hints
	local := 0
	for _, d := range group {
		if resting != nil {
			if _, rests := resting(d.ID); rests {
				local++
				continue
			}
		}
		if until, _, ok := hint(d.ID); ok {
			hinted = append(hinted, candidate{d.ID, until})
		}
	}
	most := min(len(group)/2-local, len(hinted))
	if most <= 0 {
		return nil
	}
	slices.SortFunc(hinted, func(a, b candidate) int { return cmp.Or(b.until.Compare(a.until), cmp.Compare(a.id, b.id)) })
	out := make(map[id.Deployment]bool, most)
	for _, c := range hinted[:most] {
		out[c.id] = true
	}
	return out
}

// without returns ds without those that rest because of hints. If that leaves
// none, ds stays as it is: a hint takes no attempt away.
func without(ds []*catalog.Deployment, hinted map[id.Deployment]bool) []*catalog.Deployment {
	rests := func(d *catalog.Deployment) bool { return hinted[d.ID] }
	if len(hinted) == 0 || !slices.ContainsFunc(ds, rests) {
		return ds
	}
	if out := slices.DeleteFunc(slices.Clone(ds), rests); len(out) > 0 {
		return out
	}
	return ds
}

// probe claims a probe for this request, if there is one to be had among the
// hinted, and returns whom to ask first; nil if nobody. A request that has no second attempt
// is not used for it, and neither is one that would be taken from a better level
// to a worse one.
func (p *planner) probe(hinted map[id.Deployment]bool, healthy []*catalog.Deployment) *catalog.Deployment {
	r := &p.request
	if len(hinted) == 0 || len(healthy) == 0 || r.Probe == nil || r.Retries < 1 {
		return nil
	}
	level := slices.MinFunc(healthy, func(a, b *catalog.Deployment) int { return cmp.Compare(a.Order, b.Order) }).Order
	for _, d := range r.Group {
		if !hinted[d.ID] || d.Order > level || r.Full != nil && r.Full(d) {
			continue
		}
		if _, free, _ := r.Hint(d.ID); free && r.Probe(d.ID) {
			return d
		}
	}
	return nil
}
