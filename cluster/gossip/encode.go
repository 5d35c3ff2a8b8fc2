package gossip

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

const (
	// recordVersion is the version of a GossipDelta and of a GossipMeta.
	recordVersion = 1
	// maxState is the largest full state. memberlist rejects more than 20 MiB, including
	// members and encryption.
	maxState = 16 << 20

	fieldVersion   protowire.Number = 1 // of GossipDelta
	fieldCooldowns protowire.Number = 2
	fieldNumbers   protowire.Number = 3
	fieldRates     protowire.Number = 4

	fieldRemaining protowire.Number = 5 // of CooldownHint
)

// newDelta starts a GossipDelta.
func newDelta() []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, fieldVersion, protowire.VarintType), recordVersion)
}

// appendHint appends a hint with its remaining time. The encoded length does not depend on that
// time, because memberlist's queue stores a message by its length. The content is computed when
// it is sent, not when it is queued: a node may be alone for an hour before it finds another
// one.
func appendHint(b []byte, h Hint, now time.Time) []byte {
	remaining := min(max(h.Until.Sub(now), 0), MaxCooldown)
	inner, _ := proto.MarshalOptions{}.MarshalAppend(nil, &clusterv1.CooldownHint{ // cannot fail: the names are ours, or came through protobuf
		Deployment: string(h.Deployment), Observer: string(h.Observer), Version: h.Version, Reason: uint32(h.Reason),
	})
	inner = protowire.AppendTag(inner, fieldRemaining, protowire.VarintType)
	inner = appendWide(inner, uint32(remaining.Milliseconds()))
	b = protowire.AppendTag(b, fieldCooldowns, protowire.BytesType)
	return protowire.AppendBytes(b, inner)
}

// appendWide appends a number below 2^28 as a varint of four bytes. An hour has 3,600,000
// milliseconds, which are 22 bits.
func appendWide(b []byte, v uint32) []byte {
	const more, low = 0x80, 0x7f
	return append(b, byte(v&low|more), byte(v>>7&low|more), byte(v>>14&low|more), byte(v>>21&low))
}

// encodeHint returns a message with one hint.
func encodeHint(h Hint, now time.Time) []byte { return appendHint(newDelta(), h, now) }

// appendPart appends a part of a node's numbers.
func appendPart(b []byte, who id.Node, p *ownPart) []byte {
	m := &clusterv1.NodeNumbers{Node: string(who), Version: p.version, Part: p.index, InFlight: wire(p.inFlight), Counters: wire(p.counters)}
	inner, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return b // a name is not UTF-8; no receiver could decode it
	}
	b = protowire.AppendTag(b, fieldNumbers, protowire.BytesType)
	return protowire.AppendBytes(b, inner)
}

func wire(list []number) []*clusterv1.Number {
	out := make([]*clusterv1.Number, len(list))
	for i, n := range list {
		out[i] = &clusterv1.Number{Name: n.name, Value: n.value}
	}
	return out
}

// full returns the full state of this node: all current hints, and its own numbers and rates,
// because a node does not vouch for the numbers of others.
func (s *State) full(now time.Time) []byte {
	b := newDelta()
	for _, p := range s.told() {
		b = appendPart(b, s.cfg.Node, &p)
	}
	b = s.appendRecentRates(b, now)
	for _, h := range s.Hints(now) {
		if len(b) > maxState {
			break // a flood of hints must not prevent the exchange of the first ones
		}
		b = appendHint(b, h, now)
	}
	return b
}
