package audit

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Check configures a verification.
type Check struct {
	// From and To are the numbers of the first and the last record. 0: all.
	From, To uint64
	// Verifiers are the keys of which one must have signed each checkpoint. Without any,
	// signatures are not verified.
	Verifiers []Verifier
	// Held are notes of checkpoints from external storage. The chain must agree with them. Only
	// they reveal a chain that was truncated or rewritten completely.
	Held []string
	// Indexes also verifies the indexes: a record that they lack is hidden from queries.
	Indexes bool
	// Progress is called now and then with the number of verified records. It may be nil.
	Progress func(checked uint64)
}

// Report is the result of a verification.
type Report struct {
	Workspace   string
	Valid       bool
	Checked     uint64     // number of valid records
	Before      uint64     // number of records before the first one, which were trimmed or not exported
	First, Last uint64     // numbers of the first and the last valid record; 0 for none
	Head        [32]byte   // hash of the last valid record
	Root        [32]byte   // of the Merkle tree up to it; zero if unknown, because only a part of a segment was verified
	Covered     uint64     // last record covered by a checkpoint that a known key signed or that was stored externally; 0 for none
	BrokenAt    uint64     // number of the first invalid record; 0 if all are valid
	Reason      string     // the problem
	Verifiers   []Verifier // the keys of which one must have signed each checkpoint
	Checkpoints int        // number of checkpoints that match the chain
	Signed      int        // number of those that a known key has signed
	Unchecked   int        // checkpoints of trimmed records
}

// Verify checks each record and each link of a chain, which may grow and be trimmed during the
// call. The error is about reading; problems of the chain are in the report.
func Verify(ctx context.Context, r Reader, workspace string, c Check) (Report, error) {
	if c.Indexes {
		// Records are packed and sealed meanwhile, and their index keys deleted: all is read as it is now.
		snapshot, done, err := block.Snapshot(r)
		if err != nil {
			return Report{}, err
		}
		defer done()
		r = snapshot
	}
	for {
		before, err := Head(r, workspace)
		if err != nil && !isDamage(err) {
			return Report{}, err
		}
		report, err := verifyOnce(ctx, r, workspace, c)
		if err != nil || report.Valid {
			return report, err
		}
		// A missing record may have been trimmed legitimately during the walk: then the first
		// number has changed.
		if after, err := Head(r, workspace); err != nil || after.First == before.First {
			return report, nil
		}
	}
}

// ends has the head of a chain, and its actual first and last keys.
type ends struct {
	head            *clusterv1.AuditHead
	lowest, highest end
	checkpoint      end
}

// end is the first or the last key of a kind.
type end struct {
	number uint64 // of the record; for a checkpoint its size
	there  bool
	odd    bool // not a key that the gateway writes
}

// readEnds reads the head after everything that must not be above it, and before everything
// that must not be below it. So both comparisons are valid while the chain changes.
func readEnds(ctx context.Context, r Reader, workspace string) (ends, error) {
	var e ends
	one := func(space store.Space, to *end, x store.Range) error {
		x.Space, x.Prefix, x.Limit = space, recordPrefix(workspace), 1
		return r.Scan(ctx, x, func(key, _ []byte) bool {
			if to.there, to.odd = true, len(key) != len(workspace)+9; !to.odd {
				to.number = numberOf(key)
			}
			return false
		})
	}
	packed := func(to *end, read func(block.Reader) (uint64, bool, error)) error {
		number, there, err := read(r)
		if err == nil && there && (!to.there || to == &e.lowest && number < to.number || to == &e.highest && number > to.number) {
			to.number, to.there = number, true
		}
		return err
	}
	if err := one(store.SpaceAudit, &e.highest, store.Range{Reverse: true}); err != nil {
		return e, err
	}
	if err := packed(&e.highest, func(r block.Reader) (uint64, bool, error) { return logOf(workspace).Highest(ctx, r) }); err != nil {
		return e, err
	}
	if err := one(store.SpaceCheckpoint, &e.checkpoint, store.Range{Reverse: true}); err != nil {
		return e, err
	}
	var err error
	if e.head, err = readHead(r, workspace); err != nil {
		return e, err
	}
	if err := one(store.SpaceAudit, &e.lowest, store.Range{}); err != nil {
		return e, err
	}
	return e, packed(&e.lowest, func(r block.Reader) (uint64, bool, error) { return logOf(workspace).Lowest(ctx, r) })
}

func verifyOnce(ctx context.Context, r Reader, workspace string, c Check) (Report, error) {
	e, err := readEnds(ctx, r, workspace)
	if isDamage(err) {
		return Report{Workspace: workspace, Reason: "the head of the chain is damaged"}, nil
	}
	if err != nil {
		return Report{}, err
	}
	w, err := newWalk(workspace, c)
	if err != nil {
		return Report{}, err
	}
	size, first := e.head.GetSize(), e.head.GetFirst()
	switch {
	case e.lowest.odd, e.highest.odd, e.checkpoint.odd:
		return w.broken(0, "something is kept with the chain that is none of its records or checkpoints"), nil
	case e.highest.number > size:
		return w.broken(size+1, "the chain has records behind its head"), nil
	case e.checkpoint.number > size:
		return w.broken(size+1, "the chain is shorter than one of its checkpoints: its end is missing"), nil
	case e.lowest.there && e.lowest.number < first:
		return w.broken(e.lowest.number, "the chain has records before the one that its head calls the first"), nil
	}
	from, to := min(max(c.From, first), size+1), size
	if c.To != 0 {
		to = min(to, c.To)
	}
	if c.Indexes && from == first && to == size {
		if err := w.sumIndexes(ctx, r); isDamage(err) {
			return w.broken(0, "the head of the log of the records is damaged"), nil
		} else if err != nil {
			return Report{}, err
		}
	}
	if err := w.along(ctx, r, e.head, from, to); err != nil {
		return Report{}, err
	}
	if w.sum == nil || w.failed {
		return w.finish(size), nil
	}
	at, problem, err := w.index.End()
	if err != nil {
		return Report{}, err
	}
	if problem != "" {
		w.fail(at, indexProblem(problem))
		return w.finish(size), nil
	}
	same, err := w.sameIndexes(ctx, r, size)
	if err != nil {
		return Report{}, err
	}
	if same {
		return w.finish(size), nil
	}
	if w, err = newWalk(workspace, c); err != nil {
		return Report{}, err
	}
	if err := w.along(ctx, r, e.head, from, to); err != nil {
		return Report{}, err
	}
	if !w.failed {
		w.fail(0, "an index has something that no record belongs to")
	}
	return w.finish(size), nil
}

// along verifies a range of records. If these are all, it also verifies the ends of the chain.
func (w *walk) along(ctx context.Context, r Reader, head *clusterv1.AuditHead, from, to uint64) error {
	size, first := head.GetSize(), head.GetFirst()
	w.report.Before = first - 1
	if err := w.begin(ctx, r, head, from); isDamage(err) {
		w.fail(from-1, "the record cannot be read")
		return nil
	} else if err != nil {
		return err
	}
	if err := w.records(ctx, r, to); err != nil {
		return err
	}
	if to == size && !w.failed {
		w.end([32]byte(head.GetHash()), frontier(head.GetFrontier()).root())
	}
	if from == first && to == size && first > 1 && w.trimmed != first && !w.failed {
		w.fail(first, "the records before it are gone, and the chain does not say that they were dropped")
	}
	return nil
}

// isDamage reports whether an error is about the content of the chain.
func isDamage(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Op == opHead || f.Op == opRecord || f.Op == opSegment || f.Op == block.OpDamaged)
}

// begin positions the walk before a record.
func (w *walk) begin(ctx context.Context, r Reader, head *clusterv1.AuditHead, from uint64) error {
	if from == head.GetFirst() {
		w.start(from, [32]byte(head.GetFirstPrevious()), frontier(head.GetFirstFrontier()))
		return nil
	}
	before, ok, err := Get(ctx, r, w.workspace, from-1)
	if err != nil {
		return err
	}
	if !ok {
		return damagedEntry(nil)
	}
	w.start(from, before.Hash, nil)
	return nil
}

// records verifies the records up to a number, and their checkpoints.
func (w *walk) records(ctx context.Context, r Reader, to uint64) error {
	for w.number < to && !w.failed {
		from := w.number + 1
		until := min(to, segmentStart(from)+segment-1)
		if from == segmentStart(from) {
			if err := w.segment(r, from); err != nil {
				return err
			}
		}
		marks, err := w.marks(ctx, r, w.number, until)
		if err != nil {
			return err
		}
		for len(marks) > 0 && marks[0].at == w.number && !w.failed {
			w.checkpoint(marks[0].at, marks[0].Checkpoint)
			marks = marks[1:]
		}
		var bad error
		err = scan(ctx, r, span{w.workspace, from, until}, func(x stored) bool {
			at := w.stored(x)
			switch {
			case w.failed || !w.check.Indexes:
			case x.older:
				bad = w.indexedOlder(r, w.number, indexOfMembers(at, w.external, w.internal))
			default:
				bad = w.indexed(w.number, at)
			}
			for len(marks) > 0 && marks[0].at == w.number && !w.failed {
				w.checkpoint(marks[0].at, marks[0].Checkpoint)
				marks = marks[1:]
			}
			return !w.failed && bad == nil
		})
		if isDamage(err) {
			w.fail(w.number+1, "the records that are packed with it cannot be read")
			err = nil
		}
		if err != nil {
			return err
		}
		if bad != nil {
			return bad
		}
		switch {
		case w.failed:
		case w.number != until:
			w.fail(w.number+1, "the record is missing")
		case len(marks) > 0:
			w.fail(w.number, "something is kept with the checkpoints up to this record that is none")
		}
		if w.check.Progress != nil {
			w.check.Progress(w.report.Checked)
		}
	}
	return nil
}

// segment compares the stored outset of a segment with the position of the walk before it. A
// walk without a known tree adopts its tree.
func (w *walk) segment(r Reader, first uint64) error {
	o, ok, err := readSegment(r, w.workspace, first)
	switch {
	case err != nil && !isDamage(err):
		return err
	case err != nil || !ok:
		w.fail(first, "what is kept of the segment that the record begins is damaged or missing")
	case o.previous != w.hash, w.rooted && o.tree.root() != w.tree.root():
		w.fail(first, "what is kept of the segment that the record begins is not what was before it")
	case !w.rooted:
		w.tree, w.rooted = o.tree, true
	}
	return nil
}

// mark is a checkpoint and the size in its key.
type mark struct {
	at uint64
	Checkpoint
}

// marks returns the checkpoints in a range of sizes. The one at from has already been verified,
// unless the walk begins there.
func (w *walk) marks(ctx context.Context, r Reader, from, to uint64) ([]mark, error) {
	if from+1 != w.first {
		from++ // already verified
	}
	var out []mark
	x := store.Range{Prefix: recordPrefix(w.workspace), From: recordKey(w.workspace, from), To: recordKey(w.workspace, to+1)}
	err := scanCheckpoints(ctx, r, x, func(size uint64, c Checkpoint) bool {
		out = append(out, mark{at: size, Checkpoint: c})
		return true
	})
	return out, err
}

// stored verifies a stored record, and returns its time. Its members are then in the walk.
func (w *walk) stored(at stored) (time int64) {
	number := w.number + 1
	if at.number != number {
		w.fail(number, "the record is missing")
		return 0
	}
	x, err := decodeEntry(at.value)
	if err != nil || !x.canonical(at.value) {
		w.fail(number, "the record is not stored as it was written")
		return 0
	}
	internal, ok := appendMembers(w.internal[:0], x.internal)
	external, ok2 := appendMembers(w.external[:0], x.external)
	w.internal, w.external = internal, external
	if !ok || !ok2 ||
		!w.at(internal.get("recorded_at"), x.recorded) || x.recorded != micros(x.recorded) ||
		!w.at(external.get("timestamp"), x.time) || x.time != micros(x.time) {
		w.fail(number, "the record's times are not those that it is stored with")
		return 0
	}
	w.add(x.external, external, sha256.Sum256(x.internal), x.hash)
	if first, ok := trimmedTo(external, internal); ok && !w.failed {
		w.trimmed = first
	}
	return x.time
}

// broken returns the report for a chain of which nothing was verified.
func (w *walk) broken(at uint64, reason string) Report {
	w.fail(at, reason)
	return w.report
}
