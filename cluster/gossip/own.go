package gossip

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"
)

const (
	// partBytes is the largest part of this node's numbers. With the overhead of memberlist and
	// encryption it fits into one packet of 1,400 bytes, with space for hints and memberlist's
	// own messages.
	partBytes = 900
	// numberBytes is the largest size of a number without its name.
	numberBytes = 16
	// refresh is how often an unchanged part is sent again, so that two of three may be lost
	// before others consider this node silent.
	refresh = Silence / 3
)

// own has this node's numbers: the current ones and those last sent.
//
// The hash of a number's name selects its part. The number of parts is the lowest power of two
// for which each fits into a packet. So a change affects one part, and a part replaces its
// predecessor as a whole, without marks for removed numbers. After a split, receivers may count
// numbers twice until both halves have arrived.
type own struct {
	counters map[string]int64
	sent     []sentPart // by part
}

// sentPart is a part as last sent.
type sentPart struct {
	part
	at time.Time
}

// ownPart is a part to send.
type ownPart struct {
	index uint32
	part
}

// changes returns the parts to send now: those that have changed, and those not sent for a
// while.
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

// told returns the parts as last sent.
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

// split divides numbers into at least this number of parts.
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

// partOf returns the part of a name, for a power of two.
func partOf(name string, parts int) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32() & uint32(parts-1)
}
