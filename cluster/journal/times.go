package journal

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/usage"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Date is the time of an occurrence.
type Date struct {
	At time.Time
	// Own means that the cluster's time is unknown and At is this node's: the clock at the
	// start of the process plus the elapsed time.
	Own bool
	// NotBefore is the latest known time of the cluster, if Own; zero if none.
	NotBefore time.Time
}

// date converts an instant of this node's clock. The zero time stays zero.
func (j *Journal) date(instant time.Time) Date {
	if instant.IsZero() {
		return Date{}
	}
	return j.cfg.Time(instant)
}

// dateIntent replaces the time of an intent by the cluster's.
func (j *Journal) dateIntent(a *usage.Attempt) {
	d := j.date(a.Start)
	a.Start, a.NotBefore, a.OwnClock = d.At, d.NotBefore, d.Own
}

// dateEvent replaces the times of an event by the cluster's. The shift of the end applies to
// all of them, so the durations stay as measured, even if the clock was set in between.
func (j *Journal) dateEvent(ev *Event) {
	last := &ev.End
	if last.IsZero() {
		last = &ev.Start
	}
	before := *last
	d := j.date(before)
	*last, ev.NotBefore, ev.OwnClock = d.At, d.NotBefore, d.Own
	for _, at := range [...]*time.Time{&ev.Start, &ev.FirstToken} {
		if at != last && !at.IsZero() {
			*at = last.Add(-before.Sub(*at))
		}
	}
}

// fieldOwnClock is the number of own_clock in cluster.v1.UsageEvent.
const fieldOwnClock = 45

// OwnClock reports whether a record of Batch has the times of the node's own clock, because the
// cluster's time was unknown.
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

// Redate returns a record for which OwnClock is true with the times of the cluster. now is the
// cluster's time, and ahead is how far the clock of the process that wrote the record is ahead
// of it. For an earlier process ahead is an estimate. So the end is clamped: not after now, and
// not before the cluster's time that the node knew.
func Redate(value []byte, now time.Time, ahead time.Duration) ([]byte, error) {
	m := &clusterv1.UsageEvent{}
	if err := proto.Unmarshal(value, m); err != nil {
		return nil, damaged("usage event", err)
	}
	end := m.GetEndUnixNano()
	if end == 0 {
		end = m.GetStartUnixNano()
	}
	by := min(max(end-int64(ahead), m.GetNotBeforeUnixNano()), now.UnixNano()) - end
	for _, at := range [...]*int64{&m.StartUnixNano, &m.FirstTokenUnixNano, &m.EndUnixNano} {
		if *at != 0 {
			*at += by
		}
	}
	m.OwnClock, m.NotBeforeUnixNano = false, 0
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, damaged("usage event", err)
	}
	return value, nil
}
