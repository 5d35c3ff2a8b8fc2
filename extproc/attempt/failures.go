package attempt

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Failures has what is known of the attempts of one plan. It is not safe for concurrent use: the
// mutex of the request guards it. Begin comes first.
type Failures struct {
	list    []Failure     // by attempt
	changed chan struct{} // closed and replaced when anything here changes
	entries int           // how many the attempt log has had
	logLost bool          // the attempt log broke off: it may lack entries
}

// Begin begins a plan of n attempts.
func (f *Failures) Begin(n int) {
	f.list = make([]Failure, n)
	f.changed = make(chan struct{})
}

// Cut leaves the first n attempts.
func (f *Failures) Cut(n int) { f.list = f.list[:n] }

// Report records why attempt i (from 0) failed, and reports whether that was not known. The
// first report counts; later ones add what it lacks.
func (f *Failures) Report(i int, t Failure) (first bool) {
	switch {
	case i < 0 || i >= len(f.list):
		return false
	case f.list[i].Known:
		f.list[i].merge(&t)
		return false
	}
	t.Known = true
	f.list[i] = t
	f.notify()
	return true
}

// Logged counts an entry of the attempt log, and returns the attempt that it is of. Entries do not
// name their attempt, but there is one for each failed attempt, in order: only the last attempt
// can have none.
func (f *Failures) Logged() int {
	f.entries++
	return f.entries - 1
}

// LoseLog records that the attempt log broke off, as it does when Envoy dies.
func (f *Failures) LoseLog() {
	if !f.logLost {
		f.logLost = true
		f.notify()
	}
}

// notify wakes the goroutines that wait for changes.
func (f *Failures) notify() {
	if f.changed != nil { // else no plan was made, and nobody waits
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// Changed returns a channel that is closed with the next change.
func (f *Failures) Changed() <-chan struct{} { return f.changed }

// Of returns what is known of attempt i.
func (f *Failures) Of(i int) *Failure { return &f.list[i] }

// First returns the first n attempts. They are not copies.
func (f *Failures) First(n int) []Failure { return f.list[:min(n, len(f.list))] }

// All returns all attempts. They are not copies.
func (f *Failures) All() []Failure { return f.list }

// Made returns how many attempts of planned there were, if sent were prepared here, which have gone
// out in any case, and the caller then disconnected. If the log broke off, the attempt after the
// last failed one counts as sent: only Envoy knows that it was not.
func (f *Failures) Made(sent, planned int) int {
	n := max(1, sent)
	for i := range f.list {
		if f.list[i].Known {
			n = max(n, i+1)
		}
	}
	if last := &f.list[n-1]; f.logLost && n < planned && last.Known && last.Kind != fault.Canceled {
		n++
	}
	return n
}

// KnowsFirst reports whether the first n attempts are accounted for, or the log broke off.
func (f *Failures) KnowsFirst(n int) bool {
	return f.logLost || !slices.ContainsFunc(f.First(n), func(t Failure) bool { return !t.Known })
}

// HasEntry reports whether the attempt log has had its entry of attempt i, or broke off.
func (f *Failures) HasEntry(i int) bool { return f.logLost || f.entries > i }

// KnowsCanceled reports whether the attempt log says that the caller disconnected, or broke off.
func (f *Failures) KnowsCanceled() bool {
	return f.logLost || slices.ContainsFunc(f.list, func(t Failure) bool { return t.Kind == fault.Canceled })
}
