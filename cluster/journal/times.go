package journal

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// clusterTime returns the cluster's time at an instant of this node's clock. own reports
// that it is not known, and that the time is this node's.
func (j *Journal) clusterTime(at time.Time) (_ time.Time, own bool) {
	if at.IsZero() {
		return at, false
	}
	agreed, known := j.cfg.Time(at)
	if !known {
		return at, true
	}
	return agreed, false
}

// dateIntent replaces the time of an intent by the cluster's.
func (j *Journal) dateIntent(in *Intent) { in.Start, in.OwnClock = j.clusterTime(in.Start) }

// dateEvent replaces the times of an event by the cluster's. The end decides by how much
// all of them change, so the durations between them stay what this node measured, even
// if its clock was set meanwhile.
func (j *Journal) dateEvent(ev *Event) {
	last := &ev.End
	if last.IsZero() {
		last = &ev.Start
	}
	before := *last
	*last, ev.OwnClock = j.clusterTime(before)
	for _, at := range [...]*time.Time{&ev.Start, &ev.FirstToken} {
		if at != last && !at.IsZero() {
			*at = last.Add(-before.Sub(*at))
		}
	}
}

// fieldOwnClock is the number of own_clock in cluster.v1.UsageEvent.
const fieldOwnClock = 45

// OwnClock reports whether a record that Batch returned has the times of the node's own
// clock, because the node did not know the cluster's time when it wrote the record.
func OwnClock(value []byte) bool {
	own := false
	for len(value) > 0 {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return false
		}
		value = value[n:]
		if number == fieldOwnClock && kind == protowire.VarintType {
			var v uint64
			v, n = protowire.ConsumeVarint(value)
			own = v != 0
		} else {
			n = protowire.ConsumeFieldValue(number, kind, value)
		}
		if n < 0 {
			return false
		}
		value = value[n:]
	}
	return own
}

// Redate returns a record for which OwnClock is true with its times corrected by how far
// the node's clock is ahead of the cluster's.
func Redate(value []byte, ahead time.Duration) ([]byte, error) {
	m := &clusterv1.UsageEvent{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, damaged("usage event", err)
	}
	for _, at := range [...]*int64{&m.StartUnixNano, &m.FirstTokenUnixNano, &m.EndUnixNano} {
		if *at != 0 {
			*at -= int64(ahead)
		}
	}
	m.OwnClock = false
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, damaged("usage event", err)
	}
	return value, nil
}
