package gossip

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"
)

const (
	// partBytes is how large a part of this node's numbers may get: with what
	// memberlist and encryption add, it fits into one packet of 1,400 bytes, and
	// leaves room for hints and for memberlist's own messages.
	partBytes = 900
	// numberBytes is what a number takes at most besides its name.
	numberBytes = 16
	// refresh is how often a part is told though nothing in it has changed, so that two
	// of three may be lost before others take this node for silent.
	refresh = Silence / 3
)

// own is this node's numbers: as they are, and as they were last told.
//
// A number belongs to the part that the hash of its name says, of as many parts as it takes
// (always a power of two) for each to fit into a packet. So a change touches
// one part, and a part can replace the one before as a whole, without marks for what
// is no longer in it. When parts are split, what was in one may be counted
// twice elsewhere until both halves have arrived.
type own struct {
	counters map[string]int64
	sent     []sentPart // by part
}

// sentPart is a part as it was last told.
type sentPart struct {
	part
	at time.Time
}

// ownPart is a part to be told.
type ownPart struct {
	index uint32
	part
}

// changes returns the parts of this node's numbers to be told now: those that have changed, and
// those not told for a while.
func (s *State) changes(now time.Time) []ownPart {
	var inFlight []number
	if s.cfg.InFlight != nil {
		for d, n := range s.cfg.InFlight {
			if n > 0 && len(d) <= maxName {
				inFlight = append(inFlight, number{string(d), n})
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.mu.own
	counters := make([]number, 0, len(o.counters))
	for name, v := range o.counters {
		counters = append(counters, number{name, v})
	}
	fresh := split(inFlight, counters, len(o.sent))
	o.sent = append(o.sent, make([]sentPart, len(fresh)-len(o.sent))...)
	var out []ownPart
	version := uint64(0)
	for i := range fresh {
		f, last := &fresh[i], &o.sent[i]
		same := slices.Equal(f.inFlight, last.inFlight) && slices.Equal(f.counters, last.counters)
		if same && (f.size() == 0 || now.Sub(last.at) < refresh) {
			continue
		}
		if version == 0 {
			version = s.nextLocked()
		}
		f.version = version
		*last = sentPart{*f, now}
		out = append(out, ownPart{uint32(i), *f})
	}
	return out
}

// told returns the parts as they were last told.
func (s *State) told() []ownPart {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []ownPart
	for i := range s.mu.own.sent {
		if p := &s.mu.own.sent[i]; p.version > 0 && p.size() > 0 {
			out = append(out, ownPart{uint32(i), p.part})
		}
	}
	return out
}

// split divides numbers into at least so many parts.
func split(inFlight, counters []number, parts int) []part {
	byName := func(a, b number) int { return cmp.Compare(a.name, b.name) }
	slices.SortFunc(inFlight, byName)
	slices.SortFunc(counters, byName)
	for fits := false; !fits; {
		sizes := make([]int, parts)
		fits = true
		for _, list := range [][]number{inFlight, counters} {
			for _, n := range list {
				i := partOf(n.name, parts)
				sizes[i] += len(n.name) + numberBytes
				fits = fits && sizes[i] <= partBytes
			}
		}
		if !fits && parts < maxParts {
			parts *= 2
		} else {
			fits = true
		}
	}
	out := make([]part, parts)
	for _, n := range inFlight {
		p := &out[partOf(n.name, parts)]
		p.inFlight = append(p.inFlight, n)
	}
	for _, n := range counters {
		p := &out[partOf(n.name, parts)]
		p.counters = append(p.counters, n)
	}
	return out
}

// partOf returns the part that a name belongs to, of a power of two.
func partOf(name string, parts int) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32() & uint32(parts-1)
}
