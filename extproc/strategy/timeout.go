package strategy

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// Timeout is what a request says of how long its attempts may take.
type Timeout struct {
	Asked    time.Duration // by the caller; 0 for nothing
	Streams  bool          // the response comes in pieces
	AnyShort bool          // the caller may ask for less than least
}

// least is the shortest timeout that a caller may choose for an attempt. Each attempt
// that times out is paid for, and a shorter timeout would produce only such attempts.
const least = time.Second

// Of returns how long one attempt may take: until its response's headers if it streams,
// else until its whole response. The caller may shorten or lengthen it.
func (t Timeout) Of(d *catalog.Deployment, s catalog.RouterSettings) time.Duration {
	own := t.own(d, s)
	switch {
	case t.Asked <= 0:
		return own
	case t.AnyShort:
		return t.Asked
	}
	return max(t.Asked, min(own, least))
}

// Shortens reports whether the caller gave an attempt less time than its deployment's
// timeout.
func (t Timeout) Shortens(d *catalog.Deployment, s catalog.RouterSettings) bool {
	return t.Asked > 0 && t.Of(d, s) < t.own(d, s)
}

// own returns how long one attempt may take unless the caller sets it.
func (t Timeout) own(d *catalog.Deployment, s catalog.RouterSettings) time.Duration {
	switch {
	case t.Streams && d.StreamTimeout > 0:
		return d.StreamTimeout
	case d.Timeout > 0:
		return d.Timeout
	case t.Streams && s.StreamTimeout > 0:
		return s.StreamTimeout
	}
	return s.Timeout
}
