package cluster

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// metrics are the node's instruments. A nil one counts nothing.
type metrics struct {
	changes metric.Float64Histogram // gateway.cluster.change.duration
}

// Measure makes the node's instruments on a meter: how it takes part in the
// agreement, and how long changes take. Call it once, before Run.
func (n *Node) Measure(m metric.Meter) error {
	changes, err := m.Float64Histogram("gateway.cluster.change.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from a change's arrival at this node to its being in force here, by outcome."),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5))
	if err != nil {
		return err
	}
	n.metrics = &metrics{changes: changes}
	for _, g := range []struct {
		name, unit, text string
		value            func() float64
	}{
		{"gateway.cluster.leader", "", "1 if this node leads.", func() float64 { return toFloat(n.consensus.IsLeader()) }},
		{"gateway.cluster.has_leader", "", "1 if this node knows a leader.", func() float64 { _, ok := n.consensus.Leader(); return toFloat(ok) }},
		{"gateway.cluster.commit_index", "", "Last entry that is known to be committed.", func() float64 { return float64(n.consensus.Committed()) }},
		{"gateway.cluster.applied_index", "", "Last entry whose effects this node's readers see.", func() float64 { return float64(n.consensus.Applied()) }},
		{"gateway.cluster.staleness", "s", "Time since this node knew that it was up to date; -1 if it never did.", n.staleness},
		{"gateway.cluster.members_alive", "{node}", "Nodes that the gossip holds for alive, this one among them.", func() float64 { return float64(n.countAlive()) }},
		{"gateway.audit.records", "{record}", "Number of the last record of the audit log that this node has; -1 if it cannot be read.", n.recordCount},
		{"gateway.journal.backlog", "{event}", "Usage events in this node's journal.", func() float64 { return float64(n.journal.Backlog()) }},
		{"gateway.disk.free", "By", "Bytes that are free on the disk of the data directory; -1 if that is not known.", n.diskFree},
		{"gateway.data.size", "By", "Bytes of the files in the data directory; -1 if they cannot be read.", n.dataSize},
		{"gateway.deployments.in_cooldown", "{deployment}", "Deployments in cooldown at this node.", func() float64 { return float64(len(n.cooldown.All(time.Now()))) }},
	} {
		_, err := m.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.text),
			metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
				o.Observe(g.value())
				return nil
			}))
		if err != nil {
			return err
		}
	}
	return n.measureCooldown(m)
}

// measureCooldown shows each deployment in cooldown; the others have no series.
func (n *Node) measureCooldown(m metric.Meter) error {
	_, err := m.Float64ObservableGauge("gateway.deployment.cooldown", metric.WithUnit("s"),
		metric.WithDescription("Time until a deployment leaves its cooldown at this node, by reason; only deployments in cooldown have it."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			now := time.Now()
			for _, rest := range n.cooldown.All(now) {
				o.Observe(rest.Until.Sub(now).Seconds(), metric.WithAttributes(
					attribute.String("gateway.deployment.id", string(rest.Deployment)), attribute.String("gateway.reason", rest.Reason.String())))
			}
			return nil
		}))
	return err
}

func (n *Node) diskFree() float64 {
	free, err := store.Free(n.cfg.FS, n.cfg.Dir)
	if err != nil {
		return -1
	}
	return float64(free)
}

func (n *Node) dataSize() float64 {
	size, err := store.Size(n.cfg.FS, n.cfg.Dir)
	if err != nil {
		return -1
	}
	return float64(size)
}

// changed counts a change.
func (m *metrics) changed(ctx context.Context, took time.Duration, err error) {
	if m == nil {
		return
	}
	outcome := "committed"
	if err != nil {
		outcome = fault.KindOf(err).String()
	}
	// OpenTelemetry counts nothing in a context that has ended.
	m.changes.Record(context.WithoutCancel(ctx), took.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
}

func (n *Node) staleness() float64 {
	age, ever := n.fresh.age()
	if !ever {
		return -1
	}
	return age.Seconds()
}

func (n *Node) recordCount() float64 {
	var head audit.ChainHead
	if err := n.Audit(func(r audit.Reader) (err error) {
		head, err = audit.Head(r, audit.DefaultWorkspace)
		return err
	}); err != nil {
		return -1
	}
	return float64(head.Size)
}

func (n *Node) countAlive() int {
	count := 1
	for node, alive := range n.alive() {
		if alive && node != n.Identity().Node {
			count++
		}
	}
	return count
}

func toFloat(b bool) float64 { //nolint:revive // flag-parameter: it is the value
	if b {
		return 1
	}
	return 0
}
