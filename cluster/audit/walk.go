package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/inject"
)

// walk verifies a chain record by record, and keeps the state for the next comparison. The
// first problem ends it.
type walk struct {
	workspace string
	check     Check
	held      []heldNote // by size

	first  uint64 // start of the walk
	number uint64 // of the last valid record
	hash   [32]byte
	tree   frontier
	rooted bool // tree is known
	failed bool
	marked bool // an export had a checkpoint at the current position
	// trimmed is the first remaining record of the last documented trim; 0 if there is none.
	trimmed uint64
	sum     *keySum      // sum of the expected index keys of older versions; nil: look each record up, if requested
	index   *block.Check // nil: the index is not checked
	report  Report
	// The members of the record that is verified, to reuse their memory.
	internal, external members
	terms              []block.Term
	text               []byte
}

// at reports whether a member is a time.
func (w *walk) at(value []byte, nanos int64) bool {
	w.text = appendTime(w.text[:0], nanos)
	return bytes.Equal(value, w.text)
}

// is reports whether a member is the string that write appends.
func (w *walk) is(value []byte, write func([]byte) []byte) bool {
	w.text = append(write(append(w.text[:0], '"')), '"')
	return bytes.Equal(value, w.text)
}

// heldNote is an externally stored checkpoint.
type heldNote struct {
	statement
	signed    bool
	elsewhere bool // stored externally
}

// newWalk parses the checkpoints to compare with.
func newWalk(workspace string, c Check) (*walk, error) {
	w := &walk{workspace: workspace, check: c, report: Report{Workspace: workspace, Verifiers: c.Verifiers}}
	for i, note := range c.Held {
		text, signed, err := openNote(note, c.Verifiers)
		if err != nil {
			return nil, fmt.Errorf("the given checkpoint %d cannot be used: %w", i+1, err)
		}
		s, err := parseStatement(text)
		if err != nil {
			return nil, fmt.Errorf("the given checkpoint %d cannot be used: %w", i+1, err)
		}
		switch {
		case s.workspace != workspace:
			return nil, fmt.Errorf("the given checkpoint %d is of %s, not of %s", i+1, origin(s.workspace), origin(workspace))
		case len(c.Verifiers) > 0 && !signed:
			return nil, fmt.Errorf("the given checkpoint %d is not signed by a known key", i+1)
		}
		w.held = append(w.held, heldNote{s, signed, true})
	}
	slices.SortStableFunc(w.held, func(a, b heldNote) int {
		switch {
		case a.size < b.size:
			return -1
		case a.size > b.size:
			return 1
		}
		return 0
	})
	return w, nil
}

// fail ends the walk: the record with a number is invalid.
func (w *walk) fail(at uint64, reason string) {
	w.failed = true
	w.report.Valid, w.report.BrokenAt, w.report.Reason = false, at, reason
}

// start positions the walk before the record with a number. A nil tree after earlier records
// means that the tree is unknown.
func (w *walk) start(first uint64, previous [32]byte, tree frontier) {
	w.number, w.hash = first-1, previous
	w.rooted = tree != nil || first == 1
	w.tree = slices.Clone(tree)
	w.first, w.report.Head = first, previous
	if first == 1 && previous != genesis(w.workspace) {
		w.fail(1, "the chain does not begin as its workspace's does")
	}
	w.compareHeld()
}

// add verifies the next record. m has the members of external, nil if it has none.
func (w *walk) add(external []byte, m members, internal, hash [32]byte) {
	number := w.number + 1
	switch {
	case number > w.first && inject.HasDefect("verify_ends_only"):
	case m == nil:
		w.fail(number, "the record is not the JSON that was written")
	case !w.is(m.get("event_id"), func(b []byte) []byte { return appendEventID(b, number) }):
		w.fail(number, "the record has another event_id than its place in the chain")
	case !w.is(m.get("workspace_id"), func(b []byte) []byte { return append(b, w.workspace...) }):
		w.fail(number, "the record is of another workspace")
	case !w.is(m.get("previous_event_hash"), func(b []byte) []byte { return hex.AppendEncode(append(b, hashPrefix...), w.hash[:]) }):
		w.fail(number, "previous_event_hash is not the hash of the record before it")
	case link(w.hash, sha256.Sum256(external), internal) != hash:
		w.fail(number, "the record's hash is not that of its content")
	}
	if w.failed {
		return
	}
	w.number, w.hash, w.marked = number, hash, false
	w.report.Checked++
	w.report.First, w.report.Last, w.report.Head = w.first, number, hash
	if w.rooted {
		w.tree = w.tree.grown(number-1, leafHash(hash))
	}
	w.compareHeld()
}

// checkpoint compares a stored checkpoint, under the size of the current position, with the
// chain.
func (w *walk) checkpoint(at uint64, c Checkpoint) {
	text, signed, err := openNote(c.Note, w.check.Verifiers)
	if err != nil {
		w.fail(at, fmt.Sprintf("the checkpoint at this record cannot be trusted: %v", err))
		return
	}
	s, err := parseStatement(text)
	if err != nil {
		w.fail(at, fmt.Sprintf("the checkpoint at this record cannot be trusted: %v", err))
		return
	}
	switch {
	case s.workspace != w.workspace, s.size != at, c.Size != at, !time.Unix(0, s.time).Equal(c.Time):
		w.fail(at, "the checkpoint at this record is not of it")
	case len(w.check.Verifiers) > 0 && !signed:
		w.fail(at, "the checkpoint at this record is not signed by a key that is known")
	default:
		w.compare(heldNote{s, signed, false})
	}
}

// compare compares a checkpoint with the current position.
func (w *walk) compare(n heldNote) {
	if n.head != w.hash || w.rooted && n.root != w.tree.root() {
		w.fail(n.size, "the chain is not the one that the checkpoint at this record was signed for")
		return
	}
	w.report.Checkpoints++
	if n.signed {
		w.report.Signed++
	}
	if n.signed || n.elsewhere {
		w.report.Covered = n.size
	}
}

// compareHeld compares the externally stored checkpoints of the current position.
func (w *walk) compareHeld() {
	for len(w.held) > 0 && !w.failed && w.held[0].size <= w.number {
		if w.held[0].size == w.number {
			w.compare(w.held[0])
		} else {
			w.report.Unchecked++
		}
		w.held = w.held[1:]
	}
}

// end compares the current position with the head.
func (w *walk) end(hash, root [32]byte) {
	switch {
	case w.hash != hash:
		w.fail(w.number, "the last record is not the one that the chain is said to end with")
	case w.rooted && w.tree.root() != root:
		w.fail(w.number, "the Merkle tree is not that of the records")
	}
}

// finish compares the checkpoints beyond the verified records with the size of the chain, and
// returns the report.
func (w *walk) finish(size uint64) Report {
	if w.rooted {
		w.report.Root = w.tree.root()
	}
	if w.failed {
		return w.report
	}
	if len(w.held) > 0 && w.held[len(w.held)-1].size > size {
		w.fail(size+1, "the chain is shorter than a checkpoint that was kept elsewhere: its end is missing")
		return w.report
	}
	w.report.Unchecked += len(w.held)
	w.report.Valid = true
	return w.report
}
