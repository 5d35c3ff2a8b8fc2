package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// An export has lines of JSON:
//
//	{"format":"modelgateway-audit/1","workspace":…,"first":…,"previous_hash":…,"frontier":[…]}
//	{"external":{…},"internal":{…},"hash":…}          or, without internal objects,
//	{"external":{…},"internal_hash":…,"hash":…}
//	{"checkpoint":{"note":…,"size":…,"time":…}}       after its last record
//	{"workspace":…,"last":…,"head":…,"root":…}
//
// Hashes are hex. The objects are the hashed bytes. So a file can be verified as a stream,
// without the gateway.

// exportFormat is the name of the export format.
const exportFormat = "modelgateway-audit/1"

// Export selects what to export.
type Export struct {
	Workspace    string
	From, To     uint64 // numbers of the first and the last record; 0: all
	ExternalOnly bool   // replace the internal objects by their hashes
}

// WriteExport writes a part of a chain with its checkpoints, in the format of VerifyExport.
func WriteExport(ctx context.Context, out io.Writer, r Reader, x Export) error {
	return StreamExport(ctx, out, func(fn func(Reader) error) error { return fn(r) }, x)
}

// StreamExport is WriteExport for a state that continues to change and a reader that may be
// slow. It calls view once per segment and does not write during the call. It omits records
// that were added after its start. It fails with a Conflict if records were trimmed before they
// were read.
func StreamExport(ctx context.Context, out io.Writer, view func(fn func(Reader) error) error, x Export) error {
	w := &exportWriter{export: x}
	var to uint64
	err := view(func(r Reader) (err error) {
		to, err = w.begin(ctx, r)
		return err
	})
	for err == nil && w.number < to {
		if err = w.flush(out); err != nil {
			return err
		}
		err = view(func(r Reader) error { return w.piece(ctx, r, min(to, segmentStart(w.number+1)+segment-1)) })
	}
	if err != nil {
		return err
	}
	w.line(exportEnd{x.Workspace, w.number, w.hash, w.tree.root()}.append(nil))
	return w.flush(out)
}

// begin writes the first line and a checkpoint at that position. It returns the number of the
// last record to export.
func (w *exportWriter) begin(ctx context.Context, r Reader) (to uint64, err error) {
	x := w.export
	head, err := readHead(r, x.Workspace)
	if err != nil {
		return 0, err
	}
	from, to := min(max(x.From, head.GetFirst()), head.GetSize()+1), head.GetSize()
	if x.To != 0 {
		to = min(to, max(x.To, from-1))
	}
	at, err := exportOutset(r, x.Workspace, head, from)
	if err != nil {
		return 0, err
	}
	w.number, w.hash, w.tree = at.first-1, at.previous, at.tree
	// Earlier records of the segment are only needed for the position in the tree.
	if err := w.records(ctx, r, from-1, func(entry) {}); err != nil {
		return 0, err
	}
	w.line(exportHeader{x.Workspace, outset{from, w.hash, w.tree}}.append(nil))
	marks, err := exportMarks(ctx, r, x.Workspace, from-1, from-1)
	if err != nil {
		return 0, err
	}
	w.checkpoints(marks, from-1)
	return to, nil
}

// piece writes the records up to a number, with their checkpoints.
func (w *exportWriter) piece(ctx context.Context, r Reader, until uint64) error {
	marks, err := exportMarks(ctx, r, w.export.Workspace, w.number+1, until)
	if err != nil {
		return err
	}
	return w.records(ctx, r, until, func(e entry) {
		w.record(e)
		marks = w.checkpoints(marks, w.number)
	})
}

// exportOutset returns the last stored outset at or before a record: that of its segment, or
// the head if the record does not exist yet.
func exportOutset(r Reader, workspace string, head *clusterv1.AuditHead, from uint64) (outset, error) {
	if from > head.GetSize() {
		return outset{from, [32]byte(head.GetHash()), head.GetFrontier()}, nil
	}
	at, ok, err := readSegment(r, workspace, segmentStart(from))
	if err == nil && !ok {
		err = notThere(segmentStart(from))
	}
	return at, err
}

// notThere returns the error for a missing record.
func notThere(number uint64) *fault.Error {
	return &fault.Error{
		Op: "audit.export", Kind: fault.Conflict, Err: damagedEntry(nil),
		Detail: "The record " + EventID(number) + " is missing. Either it was trimmed during the export: repeat the export. Or the chain is broken: verify it.",
	}
}

// exportMarks returns the checkpoints in a range of sizes.
func exportMarks(ctx context.Context, r Reader, workspace string, from, to uint64) ([]mark, error) {
	var out []mark
	x := store.Range{Prefix: recordPrefix(workspace), From: recordKey(workspace, from), To: recordKey(workspace, to+1)}
	err := scanCheckpoints(ctx, r, x, func(size uint64, c Checkpoint) bool {
		out = append(out, mark{at: size, Checkpoint: c})
		return true
	})
	return out, err
}

// exportWriter writes a part of a chain. It does not verify the stored hashes; the reader of
// the export does.
type exportWriter struct {
	export Export
	out    bytes.Buffer // not yet written

	number uint64
	hash   [32]byte
	tree   frontier
}

func (w *exportWriter) line(b []byte) {
	w.out.Write(b)
	w.out.WriteByte('\n')
}

func (w *exportWriter) flush(out io.Writer) error {
	_, err := w.out.WriteTo(out)
	return err
}

func (w *exportWriter) record(e entry) {
	x := exported{external: e.external, internal: e.internal, hash: e.hash}
	if w.export.ExternalOnly {
		x.internal, x.inner = nil, sha256.Sum256(e.internal)
	}
	w.line(x.append(nil))
}

// records calls fn for each record up to a number.
func (w *exportWriter) records(ctx context.Context, r Reader, to uint64, fn func(entry)) error {
	if w.number >= to {
		return nil
	}
	workspace := w.export.Workspace
	var bad error
	err := scan(ctx, r, span{workspace, w.number + 1, to}, func(x stored) bool {
		var e entry
		if e, bad = decodeEntry(x.value); bad != nil || x.number != w.number+1 {
			return false
		}
		w.tree = w.tree.grown(w.number, leafHash(e.hash))
		w.number, w.hash = w.number+1, e.hash
		fn(e)
		return true
	})
	switch {
	case err != nil:
		return err
	case bad != nil:
		return bad
	case w.number < to:
		return notThere(w.number + 1)
	}
	return nil
}

// checkpoints writes the checkpoints of a size and returns the others.
func (w *exportWriter) checkpoints(marks []mark, size uint64) []mark {
	for len(marks) > 0 && marks[0].at == size {
		w.line(appendCheckpoint(nil, marks[0].Checkpoint))
		marks = marks[1:]
	}
	return marks
}

// exportHeader is the first line.
type exportHeader struct {
	workspace string
	outset
}

func (h exportHeader) append(b []byte) []byte {
	b = append(b, `{"format":"`+exportFormat+`","workspace":`...)
	b = appendString(b, h.workspace)
	b = append(b, `,"first":`...)
	b = strconv.AppendUint(b, h.first, 10)
	b = append(b, `,"previous_hash":"`...)
	b = hex.AppendEncode(b, h.previous[:])
	b = append(b, `","frontier":[`...)
	for i, t := range h.tree {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(hex.AppendEncode(b, t), '"')
	}
	return append(b, ']', '}')
}

// exportEnd is the last line.
type exportEnd struct {
	workspace  string
	last       uint64
	head, root [32]byte
}

func (e exportEnd) append(b []byte) []byte {
	b = append(b, `{"workspace":`...)
	b = appendString(b, e.workspace)
	b = append(b, `,"last":`...)
	b = strconv.AppendUint(b, e.last, 10)
	b = append(b, `,"head":"`...)
	b = hex.AppendEncode(b, e.head[:])
	b = append(b, `","root":"`...)
	b = hex.AppendEncode(b, e.root[:])
	return append(b, '"', '}')
}

// exported is the line of a record.
type exported struct {
	external    []byte
	internal    []byte // nil if only its hash is exported
	inner, hash [32]byte
}

func (x exported) append(b []byte) []byte {
	b = append(append(b, `{"external":`...), x.external...)
	if x.internal == nil {
		b = append(b, `,"internal_hash":"`...)
		b = append(hex.AppendEncode(b, x.inner[:]), '"')
	} else {
		b = append(append(b, `,"internal":`...), x.internal...)
	}
	b = append(b, `,"hash":"`...)
	b = hex.AppendEncode(b, x.hash[:])
	return append(b, '"', '}')
}

// appendCheckpoint appends the line of a checkpoint.
func appendCheckpoint(b []byte, c Checkpoint) []byte {
	b = append(b, `{"checkpoint":{"note":`...)
	b = appendString(b, c.Note)
	b = append(b, `,"size":`...)
	b = strconv.AppendUint(b, c.Size, 10)
	b = append(b, `,"time":`...)
	b = appendTime(b, c.Time.UnixNano())
	return append(b, '}', '}')
}
