//go:build linux

package clustertest

import (
	"math/rand/v2"
	"time"
)

// Rule is what happens to packets on their way from one host to another. The
// zero Rule delivers them all at once. Shares are between 0 and 1.
type Rule struct {
	// Delay is how long a packet takes. Jitter is the most that is added to or
	// taken from it, evenly; it alone does not change the order, as on a path
	// whose queues grow and shrink.
	Delay, Jitter time.Duration
	// Loss is the share of packets that do not arrive.
	Loss float64
	// Duplicate is the share of packets that arrive twice.
	Duplicate float64
	// Reorder is the share of packets that do not wait for the delay and so
	// overtake others. Without a delay there is nothing to overtake.
	Reorder float64
	// Rate is how many bytes pass in a second; 0 is no limit.
	Rate int
}

// Count is how many packets of a link met which fate. Each packet that was
// offered is, once nothing is under way any more, in exactly one of Delivered,
// Cut, Lost and Overflowed; Duplicated ones are delivered once more than that.
type Count struct {
	Offered    int // packets that the sender's kernel sent
	Delivered  int // of them, those that came to the receiver's kernel
	Cut        int // taken by a partition or a one-way cut
	Lost       int // taken by Rule.Loss
	Overflowed int // more than a link holds
	Duplicated int // second copies that arrived
	Reordered  int // packets that Rule.Reorder sent ahead
}

// linkHolds is how many packets may be under way on a link: a second of 10 Mbit/s
// in packets of 1,250 bytes. What comes on top is dropped, as a router does.
const linkHolds = 1000

// link is one direction between two hosts. Its owner locks it.
type link struct {
	rule     Rule
	random   *rand.Rand
	count    Count
	queued   int       // packets under way, copies included
	lastDue  time.Time // when the last packet that keeps the order arrives
	lineFree time.Time // when the line has sent what it was given, with Rule.Rate
}

func newLink(seed uint64, from, to int) *link {
	return &link{random: rand.New(rand.NewPCG(seed, uint64(from)<<32|uint64(to)))} //nolint:gosec // chance is to be repeated, not to be secret
}

// fate is what becomes of a packet.
type fate struct {
	copies int       // 0: it does not arrive
	due    time.Time // when; not after now: at once
}

// decide takes a packet of size bytes that is sent now. The same number of
// random numbers is drawn for each packet, so that one rule does not change
// what another one does.
func (l *link) decide(now time.Time, size int) fate {
	lost, twice, ahead := l.random.Float64(), l.random.Float64(), l.random.Float64()
	jitter := time.Duration((2*l.random.Float64() - 1) * float64(l.rule.Jitter))
	l.count.Offered++
	if lost < l.rule.Loss {
		l.count.Lost++
		return fate{}
	}
	if l.queued >= linkHolds {
		l.count.Overflowed++
		return fate{}
	}
	sent := now
	if l.rule.Rate > 0 {
		if l.lineFree.After(now) {
			sent = l.lineFree
		}
		sent = sent.Add(time.Duration(float64(size) / float64(l.rule.Rate) * float64(time.Second)))
		l.lineFree = sent
	}
	f := fate{copies: 1, due: sent.Add(max(0, l.rule.Delay+jitter))}
	switch {
	case ahead < l.rule.Reorder && l.queued > 0:
		l.count.Reordered++
		f.due = sent
	case f.due.Before(l.lastDue):
		f.due = l.lastDue
	}
	if f.due.After(l.lastDue) {
		l.lastDue = f.due
	}
	if twice < l.rule.Duplicate {
		f.copies = 2
	}
	return f
}
