package strategy

import (
	"cmp"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// Hinted returns the deployments of a group that are in cooldown because of hints from other
// nodes; nil if there are none.
//
// Hints may be wrong for this node, and a member may be hostile, so they have limits. They
// never exclude the last healthy deployment of a group. They never raise the share of the group
// in cooldown, for any reason, above one half (of three, one). If there are more hints, those
// that end last count.
func Hinted(group []*catalog.Deployment, inCooldown InCooldown, hint Hint) map[id.Deployment]bool {
	if hint == nil {
		return nil
	}
	type candidate struct {
		id    id.Deployment
		until time.Time
	}
	var hinted []candidate // nil, without an allocation, while there are no hints
	local := 0
	for _, d := range group {
		if inCooldown != nil {
			if _, cooling := inCooldown(d.ID); cooling {
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

// without returns ds without the deployments that hints exclude. If none would be left, it
// returns ds unchanged: a hint never costs an attempt.
func without(ds []*catalog.Deployment, hinted map[id.Deployment]bool) []*catalog.Deployment {
	cooling := func(d *catalog.Deployment) bool { return hinted[d.ID] }
	if len(hinted) == 0 || !slices.ContainsFunc(ds, cooling) {
		return ds
	}
	if out := slices.DeleteFunc(slices.Clone(ds), cooling); len(out) > 0 {
		return out
	}
	return ds
}

// probe claims a probe of a hinted deployment for this request, if one is available, and
// returns the deployment to try first; nil if there is none. It is not for a request without a
// second attempt, or if the probe would use a worse level.
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
