package gossip

import (
	"context"
	"time"

	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// mostRates is the highest number of buckets that a node sends per second, and in a full
	// exchange.
	mostRates = 2000
	// rateBytes is the largest size of a bucket, and usesInPacket how many fit.
	rateBytes    = 70
	usesInPacket = 1200 / rateBytes
	// bucketBytes is the length of a bucket's name.
	bucketBytes = 16
	// lateRates is how many versions late an update of rates may arrive.
	lateRates = 50
)

// RateUse is a node's usage of the bucket of a rate limit.
type RateUse struct {
	Bucket   [bucketBytes]byte // its name
	What     uint8             // what it counts; not interpreted here
	Limit    uint32
	Born     uint64 // identifies the count
	Used     int64  // total
	Level    int64  // the part that has not drained
	InFlight int64
}

// Rates are the rate limits of this node. The methods are called from several goroutines and
// must not block.
//
// Invariant: received updates are passed on as they arrive, possibly repeated, late or not at
// all. Only those older than the last lateRates versions of their node are dropped, as replays
// of recorded packets. The versions of a node increase with everything that it sends.
type Rates interface {
	// Changed returns the uses to send, limited to most of them.
	Changed(now time.Time, most int) []RateUse
	// Recent returns the uses for a node that has received nothing yet.
	Recent(now time.Time, most int) []RateUse
	// Hear merges the uses of another node.
	Hear(now time.Time, from id.Node, version uint64, uses []RateUse)
}

// sendChangedRates sends changed rates to every member until ctx ends. They are not broadcast like the
// other data, which has one packet at a time: there may be thousands a second, and each is soon
// outdated. The next update makes up for a lost one.
func (g *Gossip) sendChangedRates(ctx context.Context, list *memberlist.Memberlist) {
	if g.cfg.State.cfg.Rates == nil {
		return
	}
	ticker := time.NewTicker(g.cfg.Timing.Numbers)
	defer ticker.Stop()
	most := max(1, int(mostRates*g.cfg.Timing.Numbers/time.Second))
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if g.members.count() > 1 {
				g.sendRates(list, g.cfg.State.changedRates(now, most))
			}
		}
	}
}

// sendRates sends messages to every other member.
func (g *Gossip) sendRates(list *memberlist.Memberlist, messages [][]byte) {
	if len(messages) == 0 {
		return
	}
	for _, m := range list.Members() {
		if m.Name == string(g.cfg.Node) {
			continue
		}
		for _, b := range messages {
			if list.SendBestEffort(m, b) != nil {
				break // not reachable now
			}
		}
	}
}

// changedRates returns messages with changed rates.
func (s *State) changedRates(now time.Time, most int) [][]byte {
	var out [][]byte
	for _, record := range s.rateRecords(s.cfg.Rates.Changed(now, most)) {
		out = append(out, appendRates(newDelta(), record))
	}
	return out
}

// appendRecentRates appends the rates for a node that has received nothing yet.
func (s *State) appendRecentRates(b []byte, now time.Time) []byte {
	if s.cfg.Rates == nil {
		return b
	}
	for _, record := range s.rateRecords(s.cfg.Rates.Recent(now, mostRates)) {
		b = appendRates(b, record)
	}
	return b
}

// rateRecords divides uses into records that each fit into a packet.
func (s *State) rateRecords(uses []RateUse) []*clusterv1.NodeRates {
	if len(uses) == 0 {
		return nil
	}
	s.mu.Lock()
	version := s.nextLocked()
	s.mu.Unlock()
	var out []*clusterv1.NodeRates
	for i, u := range uses {
		if i%usesInPacket == 0 {
			out = append(out, &clusterv1.NodeRates{Node: string(s.cfg.Node), Version: version})
		}
		last := out[len(out)-1]
		last.Uses = append(last.GetUses(), &clusterv1.RateUse{
			Bucket: u.Bucket[:], What: uint32(u.What), Limit: u.Limit, Born: u.Born, Used: u.Used, Level: u.Level, InFlight: u.InFlight,
		})
	}
	return out
}

// appendRates appends a part of a node's rates.
func appendRates(b []byte, record *clusterv1.NodeRates) []byte {
	inner, err := proto.Marshal(record)
	if err != nil {
		return b // cannot happen: its only text is a node's name
	}
	b = protowire.AppendTag(b, fieldRates, protowire.BytesType)
	return protowire.AppendBytes(b, inner)
}

// mergeRates passes on a node's rates.
func (s *State) mergeRates(record []byte, now time.Time) {
	var m clusterv1.NodeRates
	if s.cfg.Rates == nil || proto.Unmarshal(record, &m) != nil {
		return
	}
	from := id.Node(m.GetNode())
	if !validNode(m.GetNode()) || from == s.cfg.Node || m.GetVersion() == 0 || m.GetVersion() > maxVersion {
		return
	}
	if !s.timely(from, m.GetVersion(), now) {
		return
	}
	uses := make([]RateUse, 0, len(m.GetUses()))
	for _, u := range m.GetUses() {
		if len(u.GetBucket()) != bucketBytes || u.GetWhat() > 0xff || u.GetUsed() < 0 || u.GetLevel() < 0 || u.GetInFlight() < 0 {
			continue
		}
		uses = append(uses, RateUse{
			Bucket: [bucketBytes]byte(u.GetBucket()), What: uint8(u.GetWhat()), Limit: u.GetLimit(), Born: u.GetBorn(),
			Used: u.GetUsed(), Level: u.GetLevel(), InFlight: u.GetInFlight(),
		})
	}
	s.cfg.Rates.Hear(now, from, m.GetVersion(), uses)
}

// timely records an update of a node's rates, and reports whether it is recent enough.
func (s *State) timely(from id.Node, version uint64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodeLocked(from, now)
	if n == nil || version+lateRates < n.rates {
		return false
	}
	if version > n.rates {
		n.rates, n.heard = version, now
	}
	return true
}
