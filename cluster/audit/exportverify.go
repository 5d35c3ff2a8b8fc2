package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// maxLine is the longest line of an export.
const maxLine = 64 << 20

// VerifyExport verifies an export as Verify verifies a chain, based only on the file and c; it
// ignores c.From and c.To. Each line must have the canonical form.
func VerifyExport(ctx context.Context, in io.Reader, c Check) (Report, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	lines.Split(scanLine)
	next := func() ([]byte, error) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if lines.Scan() {
			return lines.Bytes(), nil
		}
		if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
			return nil, err
		}
		return nil, nil
	}
	line, err := next()
	if err != nil {
		return Report{}, err
	}
	header, ok := parseExportHeader(line)
	if !ok {
		return Report{Reason: "it does not begin as an export of an audit log does"}, nil
	}
	w, err := newWalk(header.workspace, c)
	if err != nil {
		return Report{}, err
	}
	if header.tree == nil {
		header.tree = frontier{}
	}
	w.start(header.first, header.previous, header.tree)
	w.report.Before = header.first - 1
	ended := false
	for n := 2; !w.failed && !ended; n++ {
		line, err := next()
		if err != nil {
			return Report{}, err
		}
		ended = w.exported(line, n)
	}
	if w.failed {
		return w.finish(w.number), nil
	}
	if line, err = next(); err != nil {
		return Report{}, err
	}
	if line != nil {
		w.fail(w.number+1, "there is something behind the export's end")
	}
	return w.finish(w.number), nil
}

// scanLine splits lines like bufio.ScanLines but keeps a carriage return, which is not part of
// the canonical form.
func scanLine(data []byte, atEOF bool) (advance int, line []byte, err error) { //nolint:revive // bufio.SplitFunc has it so
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n + 1, data[:n], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// exported checks a line after the first, and reports whether it is the last.
func (w *walk) exported(line []byte, n int) (last bool) {
	m, _ := membersOf(line) // anything but an object has no members
	switch {
	case line == nil:
		w.fail(w.number+1, "the export is not whole: its last line is missing")
	case m.get("external") != nil:
		w.exportedRecord(line, m, n)
	case m.get("checkpoint") != nil:
		c, ok := parseExportedCheckpoint(m.get("checkpoint"))
		if !ok || !bytes.Equal(appendCheckpoint(nil, c), line) {
			w.fail(w.number, fmt.Sprintf("line %d is not as an export has it", n))
			return false
		}
		if w.marked {
			w.fail(w.number, fmt.Sprintf("line %d has a second checkpoint of the same record", n))
			return false
		}
		w.marked = true
		w.checkpoint(w.number, c)
		return false
	case m.get("last") != nil:
		e, ok := parseExportEnd(m)
		if !ok || !bytes.Equal(e.append(nil), line) || e.last != w.number || e.workspace != w.workspace {
			w.fail(w.number+1, fmt.Sprintf("line %d does not end the export behind the last record", n))
			return false
		}
		w.end(e.head, e.root)
		return true
	default:
		w.fail(w.number+1, fmt.Sprintf("line %d is not as an export has it", n))
	}
	if w.check.Progress != nil && w.report.Checked%segment == 0 {
		w.check.Progress(w.report.Checked)
	}
	return false
}

// exportedRecord checks the line of a record.
func (w *walk) exportedRecord(line []byte, m members, n int) {
	x := exported{external: m.get("external"), internal: m.get("internal")}
	ok := true
	if x.internal == nil {
		x.inner, ok = parseHash(m.text("internal_hash"))
	} else {
		x.inner = sha256.Sum256(x.internal)
	}
	hash, ok2 := parseHash(m.text("hash"))
	x.hash = hash
	if !ok || !ok2 || !bytes.Equal(x.append(nil), line) {
		w.fail(w.number+1, fmt.Sprintf("line %d is not as an export has it", n))
		return
	}
	external, _ := membersOf(x.external) // nil if it is not an object
	w.add(x.external, external, x.inner, x.hash)
}

func parseHash(text string) (h [32]byte, ok bool) {
	if len(text) != 2*len(h) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(text))
	return h, err == nil
}

func parseExportHeader(line []byte) (exportHeader, bool) {
	m, ok := membersOf(line)
	if !ok {
		return exportHeader{}, false
	}
	first, err := strconv.ParseUint(string(m.get("first")), 10, 64)
	if err != nil || first == 0 || !validWorkspace(m.text("workspace")) {
		return exportHeader{}, false
	}
	h := exportHeader{workspace: m.text("workspace"), outset: outset{first: first}}
	if h.previous, ok = parseHash(m.text("previous_hash")); !ok {
		return exportHeader{}, false
	}
	for t := range bytes.SplitSeq(bytes.Trim(m.get("frontier"), "[]"), []byte(",")) {
		if root, ok := parseHash(string(bytes.Trim(t, `"`))); ok {
			h.tree = append(h.tree, root[:])
		}
	}
	return h, h.tree.fits(first-1) && bytes.Equal(h.append(nil), line)
}

func parseExportEnd(m members) (e exportEnd, ok bool) {
	last, err := strconv.ParseUint(string(m.get("last")), 10, 64)
	head, ok := parseHash(m.text("head"))
	root, ok2 := parseHash(m.text("root"))
	return exportEnd{m.text("workspace"), last, head, root}, err == nil && ok && ok2
}

func parseExportedCheckpoint(object []byte) (Checkpoint, bool) {
	m, ok := membersOf(object)
	if !ok {
		return Checkpoint{}, false
	}
	size, err := strconv.ParseUint(string(m.get("size")), 10, 64)
	if err != nil {
		return Checkpoint{}, false
	}
	at, err := time.Parse(timeLayout, m.text("time"))
	return Checkpoint{Note: m.text("note"), Size: size, Time: at}, err == nil
}
