package rate

import "slices"

// maxLows is how many low points are kept exactly.
const maxLows = 64

// estimates puts right what was poured in for requests that then used less.
//
// What is given back later than it was poured in may have run out meanwhile, and must
// not count twice. Without the excess e of a request, the bucket would from then on
// have held less by min(e, the least that it has held since): it is by what it
// would have been empty that the two come closer. So the low points
// since the first request that is under way are kept: each as long as there is no lower
// one after it, which are few.
type estimates struct {
	open int    // requests under way that may give something back
	seq  uint64 // counts what was poured in
	lows []low  // ordered by seq and by held
}

// low is how much there was before something was poured in.
type low struct {
	seq  uint64
	held int64
}

// pouring notes that something is to be poured in where there is held now, and returns by
// which number back knows it.
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

// ended notes that a request has given back what it could.
func (e *estimates) ended() {
	if e.open--; e.open == 0 {
		e.lows = e.lows[:0]
	}
}

// elsewhere notes that another node gave back an excess, which it had poured in
// nobody knows when, and returns it.
func (e *estimates) elsewhere(excess int64) int64 {
	for i := range e.lows {
		e.lows[i].held = max(e.lows[i].held-excess, 0)
	}
	return excess
}

// thin joins low points two by two: some requests get a little less back for it.
func (e *estimates) thin() {
	for i := range maxLows / 2 {
		e.lows[i] = low{e.lows[2*i+1].seq, e.lows[2*i].held}
	}
	e.lows = e.lows[:maxLows/2]
}

// back returns how much of an excess that was poured in as number seq is still there to
// be given back, where there is held now. It is as if it had not been poured in.
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
