package rate

import "slices"

// maxLows is how many low points are kept exactly.
const maxLows = 64

// estimates corrects a bucket after requests that used less than estimated.
//
// Part of an excess may have drained before it is released, and must not count twice. Without
// the excess e of a request, the bucket would now hold less by min(e, the lowest level since
// the request): the two levels converge when the bucket runs empty. So the low points since the
// oldest request in flight are kept. A low point is dropped when a lower one follows, so there
// are few.
type estimates struct {
	open int    // requests in flight that may release an excess
	seq  uint64 // counts the additions
	lows []low  // ordered by seq and by held
}

// low is the level before an addition.
type low struct {
	seq  uint64
	held int64
}

// pouring records an addition at the level held, and returns its number for back.
func (e *estimates) pouring(held int64) uint64 {
	e.seq++
	if e.open == 0 {
		return e.seq
	}
	for len(e.lows) > 0 && e.lows[len(e.lows)-1].held >= held {
		e.lows = e.lows[:len(e.lows)-1]
	}
	if len(e.lows) == maxLows {
		e.thin()
	}
	e.lows = append(e.lows, low{e.seq, held})
	return e.seq
}

// ended records that a request has released its excess.
func (e *estimates) ended() {
	if e.open--; e.open == 0 {
		e.lows = e.lows[:0]
	}
}

// elsewhere records an excess that another node released, and returns it. The time of the
// addition is unknown.
func (e *estimates) elsewhere(excess int64) int64 {
	for i := range e.lows {
		e.lows[i].held = max(e.lows[i].held-excess, 0)
	}
	return excess
}

// thin merges pairs of low points: some requests then release a little less.
func (e *estimates) thin() {
	for i := range maxLows / 2 {
		e.lows[i] = low{e.lows[2*i+1].seq, e.lows[2*i].held}
	}
	e.lows = e.lows[:maxLows/2]
}

// back returns how much of an excess, added as number seq, is still in the bucket at the level
// held. After its removal the level is as if it had never been added.
func (e *estimates) back(excess int64, seq uint64, held int64) int64 {
	first := 0
	for first < len(e.lows) && e.lows[first].seq <= seq {
		first++
	}
	least := held
	if first < len(e.lows) {
		least = min(least, e.lows[first].held)
	}
	excess = min(excess, least)
	for i := first; i < len(e.lows); i++ {
		e.lows[i].held -= excess
	}
	covered := first
	for covered > 0 && e.lows[covered-1].held >= least-excess {
		covered--
	}
	e.lows = slices.Delete(e.lows, covered, first)
	return excess
}
