package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// freshness is when this node last knew that it had everything the cluster had
// agreed on. It is measured from when it asked, on the monotonic clock: what was
// revoked before that is revoked here.
type freshness struct {
	limit time.Duration // for how long that is good enough
	since time.Time     // what at counts from
	at    atomic.Int64  // nanoseconds since since; 0: never
}

// good reports whether keys may be honoured at all.
func (f *freshness) good() bool {
	at := f.at.Load()
	return at != 0 && time.Since(f.since)-time.Duration(at) <= f.limit
}

// ever reports whether this node was up to date since it was started.
func (f *freshness) ever() bool { return f.at.Load() != 0 }

func (f *freshness) age() (time.Duration, bool) {
	at := f.at.Load()
	return time.Since(f.since) - time.Duration(at), at != 0
}

const (
	// probesPerLimit is how often a node asks within the time that an answer is good
	// for: a lost answer or an election then does no harm.
	probesPerLimit = 10
	maxProbe       = 5 * time.Second
	minProbe       = 250 * time.Millisecond
	// firstProbe is the pause while nothing is known yet: a start waits for it.
	firstProbe = 25 * time.Millisecond
)

// pause is how long to wait for the next probe.
func (f *freshness) pause(ok bool) time.Duration {
	regular := max(min(f.limit/probesPerLimit, maxProbe), minProbe)
	switch {
	case f.at.Load() == 0:
		return firstProbe
	case !ok:
		return min(regular, minProbe)
	}
	return regular
}

// keepFresh asks, again and again, how far the cluster has come, and notes when
// it was known to have come as far.
func (n *Node) keepFresh(ctx context.Context) error {
	for {
		asked := time.Since(n.fresh.since)
		probe, cancel := context.WithTimeout(ctx, n.fresh.timeout())
		index, err := n.readIndex(probe)
		if err == nil {
			err = n.consensus.WaitApplied(probe, index)
		}
		cancel()
		if err == nil && !n.fresh.ever() {
			if err := n.shipper.Compare(); err != nil {
				return err
			}
		}
		if err == nil {
			n.fresh.at.Store(max(int64(asked), 1))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(n.fresh.pause(err == nil)):
		}
	}
}

// timeout of one probe: long enough for a round trip and its retransmission.
func (f *freshness) timeout() time.Duration {
	return max(min(f.limit, 2*time.Second), time.Second)
}

// Fresh reports whether this node may still decide by what it knows of keys that
// other nodes can revoke: it was up to date within Config.KeyStaleness. Deployments
// and routes have no such limit.
func (n *Node) Fresh() bool { return n.fresh.good() }

// Identify says who presents credentials, by a View. A node that is cut off for
// longer than Config.KeyStaleness does not know whether a key that others may
// have made or revoked is good, and says so, with Unavailable and code cut_off;
// the keys of its own file it knows.
func (n *Node) Identify(v *View, p credential.Presented, now time.Time) (tenancy.Principal, error) {
	who, err := v.Keys.Authenticate(p, now)
	if n.Fresh() {
		return who, err
	}
	unknown := err != nil && fault.From(err).Code == "invalid_api_key"
	if who.Cluster || unknown {
		return tenancy.Principal{}, &fault.Error{
			Op: "cluster.identify", Kind: fault.Unavailable, Code: "cut_off", RetryAfter: retryAfter,
			Detail: "This node is cut off from its cluster and cannot tell whether the key is still valid. Try another node, or again later.",
		}
	}
	return who, err
}
