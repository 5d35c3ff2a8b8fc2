package block

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
)

// Query selects records. The zero Query selects all, the earliest first.
type Query struct {
	From, To int64 // times: From inclusive, To exclusive; To 0: no end
	// Terms are those that all records have. Query skips blocks without one of them; the caller
	// compares the records of the others.
	Terms   []Term
	Reverse bool // the latest first
	// The results begin after one position and end before another, in the order of the results.
	After, Before *Position
}

// Position is the position of a record in the order of times. Records of one time are in the order of
// their numbers.
type Position struct {
	Time   int64
	Number uint64
}

// Compare compares two positions, as cmp.Compare does.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.Time, o.Time), cmp.Compare(p.Number, o.Number))
}

// Query calls fn for each record of the blocks that may match, in the order of times, until fn returns false.
func (l Log) Query(ctx context.Context, r Reader, q Query, fn func(Record) bool) error {
	low, high := q.bounds()
	if high.Compare(low) < 0 {
		return nil
	}
	m := &merge{ctx: ctx, log: l, r: r, low: low, high: high, reverse: q.Reverse}
	waiting, packed, err := l.unpacked(ctx, r, 0, math.MaxUint64)
	if err != nil {
		return err
	}
	m.pushUnpacked(waiting)
	source := &source{ctx: ctx, log: l, r: r, q: q, low: low.Time, high: high.Time, packed: packed}
	if !q.Reverse {
		// A later block may have earlier records: all are looked at, but read only when it is their turn.
		if err := source.forward(m.push); err != nil {
			return err
		}
	}
	for {
		if q.Reverse {
			if err := source.backward(m); err != nil {
				return err
			}
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if opened, err := m.open(); err != nil {
			return err
		} else if opened {
			continue // its first record in range may come after blocks that were not pushed yet
		}
		record, ok, err := m.next()
		if err != nil || !ok || !fn(record) {
			return err
		}
	}
}

// bounds returns the first and the last position of the results, both inclusive.
func (q Query) bounds() (low, high Position) {
	low, high = Position{q.From, 0}, Position{math.MaxInt64, math.MaxUint64}
	if q.To != 0 {
		high = Position{q.To - 1, math.MaxUint64}
	}
	above, below := q.After, q.Before
	if q.Reverse {
		above, below = q.Before, q.After
	}
	if above != nil {
		if p := (Position{above.Time, above.Number + 1}); p.Compare(low) > 0 {
			low = p
		}
	}
	if below != nil {
		p := Position{below.Time, below.Number - 1}
		if below.Number == 0 {
			p = Position{below.Time - 1, math.MaxUint64}
		}
		if p.Compare(high) < 0 {
			high = p
		}
	}
	return low, high
}

// merge orders the records of blocks whose times overlap.
type merge struct {
	ctx       context.Context //nolint:containedctx // lives as long as one call of Query
	log       Log
	r         Reader
	low, high Position
	reverse   bool
	heap      []run // by Less
	recent    []*block
}

// run is a block of which the records in range are due one after the other. Until it is its turn for the
// first time, it is only known by its directory entry.
type run struct {
	at     ref
	opened bool
	order  []uint16   // indexes of the records in the order of the results
	due    Position   // of the first of order; of a block that was not opened, a bound of it
	loose  []unpacked // the records in no block, instead of at
}

// Len implements heap.Interface.
func (m *merge) Len() int { return len(m.heap) }

// Less implements heap.Interface. A block that was not opened is before a record at its bound.
func (m *merge) Less(i, j int) bool {
	a, b := &m.heap[i], &m.heap[j]
	c := a.due.Compare(b.due)
	if m.reverse {
		c = -c
	}
	if c == 0 {
		return !a.opened && b.opened
	}
	return c < 0
}

// Swap implements heap.Interface.
func (m *merge) Swap(i, j int) { m.heap[i], m.heap[j] = m.heap[j], m.heap[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { m.heap = append(m.heap, x.(run)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := m.heap[len(m.heap)-1]
	m.heap[len(m.heap)-1] = run{}
	m.heap = m.heap[:len(m.heap)-1]
	return last
}

// push adds a block.
func (m *merge) push(at ref) {
	due := Position{at.min, 0}
	if m.reverse {
		due = Position{at.max, math.MaxUint64}
	}
	heap.Push(m, run{at: at, due: due})
}

// pushUnpacked adds the records that are in no block.
func (m *merge) pushUnpacked(records []unpacked) {
	x := run{opened: true, loose: records}
	m.arrange(&x, len(records), func(i int) Position { return Position{records[i].Time, records[i].Number} })
}

// arrange adds a run with its records in range, in order.
func (m *merge) arrange(x *run, n int, position func(i int) Position) {
	for i := range n {
		if p := position(i); p.Compare(m.low) >= 0 && p.Compare(m.high) <= 0 {
			x.order = append(x.order, uint16(i))
		}
	}
	if len(x.order) == 0 {
		return
	}
	slices.SortFunc(x.order, func(a, b uint16) int { return position(int(a)).Compare(position(int(b))) })
	if m.reverse {
		slices.Reverse(x.order)
	}
	x.opened, x.due = true, position(int(x.order[0]))
	heap.Push(m, *x)
}

// open reads the first block if it was not opened yet.
func (m *merge) open() (opened bool, err error) {
	if len(m.heap) == 0 || m.heap[0].opened {
		return false, nil
	}
	x := heap.Pop(m).(run)
	b, ok, err := m.block(x.at)
	if err != nil {
		return false, err
	}
	if ok {
		m.arrange(&x, len(b.times), func(i int) Position { return Position{b.times[i], b.first + uint64(i)} })
	}
	return true, nil
}

// next returns the next record. The first block is open.
func (m *merge) next() (Record, bool, error) {
	if len(m.heap) == 0 {
		return Record{}, false, nil
	}
	x := &m.heap[0]
	out, position, err := m.record(x, int(x.order[0]))
	if err != nil {
		return Record{}, false, err
	}
	if x.order = x.order[1:]; len(x.order) == 0 {
		heap.Pop(m)
		return out, true, nil
	}
	x.due = position(int(x.order[0]))
	heap.Fix(m, 0)
	return out, true, nil
}

// record returns a record of a run, and the positions of its records.
func (m *merge) record(x *run, i int) (Record, func(i int) Position, error) {
	if x.loose != nil {
		return x.loose[i].Record, func(i int) Position { return Position{x.loose[i].Time, x.loose[i].Number} }, nil
	}
	b, ok, err := m.block(x.at)
	if err != nil {
		return Record{}, nil, err
	}
	if !ok {
		return Record{}, nil, gone(x.at.first)
	}
	at := func(i int) Position { return Position{b.times[i], b.first + uint64(i)} }
	return Record{at(i).Number, at(i).Time, b.values[i]}, at, nil
}

// recentBlocks is the number of decoded blocks that a query holds. Blocks that overlap with more others
// are decoded again.
const recentBlocks = 8

// block returns a decoded block.
func (m *merge) block(at ref) (*block, bool, error) {
	for i, b := range m.recent {
		if b.first == at.first {
			copy(m.recent[1:i+1], m.recent[:i])
			m.recent[0] = b
			return b, true, nil
		}
	}
	b, ok, err := m.log.read(m.ctx, m.r, at)
	if err != nil || !ok {
		return nil, false, err
	}
	if len(m.recent) < recentBlocks {
		m.recent = append(m.recent, nil)
	}
	copy(m.recent[1:], m.recent)
	m.recent[0] = b
	return b, true, nil
}
