package guard

import (
	"bytes"
	"context"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// chain is the way of one text through all engines of a hook, in the order of the guardrails. A text
// comes whole or in pieces. A chain takes one text after the other, and belongs to one goroutine.
type chain struct {
	s     *Screen
	hook  string
	steps []step
	place func() string // where the text is, for records
	fixed bool          // the text cannot be changed: what would be replaced is blocked
	quiet bool          // the text was examined before: findings are not recorded again
	part  part          // the engines that see the text

	replaced bool // set when something is replaced
}

// part is some of the engines of a chain.
type part uint8

const (
	every      part = iota
	labelled        // those that read labels, and what puts back values
	unlabelled      // the others
)

// has reports whether a step is in the part.
func (p part) has(t *step) bool {
	_, reads := t.scanner.(engine.Labelled)
	return p == every || (p == labelled) == (reads || t.scanner == nil)
}

// step is one engine's part of a chain.
type step struct {
	unit     *unit // nil for the step that puts back what was replaced
	scanner  engine.Scanner
	text     []byte // what may be context, and what is not decided
	at       int    // in text: what is before is decided
	from     int    // offset of text in the whole text
	replaced bool   // the last finding was replaced, and may go on
	out      []byte
	found    []engine.Finding
}

// begin begins another text.
func (c *chain) begin(kind texts.Kind, role texts.Role) { c.beginLabelled(kind, role, nil) }

// beginLabelled begins another text. Engines that read labels know its label.
func (c *chain) beginLabelled(kind texts.Kind, role texts.Role, label []byte) {
	for i := range c.steps {
		t := &c.steps[i]
		t.text, t.at, t.from, t.replaced = t.text[:0], 0, 0, false
		if t.scanner == nil {
			continue
		}
		t.scanner.Begin(kind, role)
		if _, reads := t.scanner.(engine.Labelled); reads && len(label) > 0 {
			t.text = append(t.text, label...)
			t.at, t.from = len(label), -len(label)
		}
	}
}

// push takes a piece of the text, and returns what can be passed on: valid until the next call, and piece
// itself if nothing changes.
func (c *chain) push(ctx context.Context, piece []byte, end bool) ([]byte, error) {
	for i := range c.steps {
		if !c.part.has(&c.steps[i]) {
			continue
		}
		var err error
		if piece, err = c.steps[i].push(ctx, c, piece, end); err != nil {
			return nil, err
		}
	}
	return piece, nil
}

func (t *step) push(ctx context.Context, c *chain, piece []byte, end bool) ([]byte, error) { //nolint:revive // says where the text ends, and is no mode
	if end && len(t.text) == 0 { // a whole text is examined where it is
		return t.scan(ctx, c, piece, true)
	}
	if len(piece) == 0 && !end {
		return nil, nil
	}
	if drop := t.at - engine.Behind; drop > engine.Behind {
		t.text = t.text[:copy(t.text, t.text[drop:])]
		t.at, t.from = t.at-drop, t.from+drop
	}
	t.text = append(t.text, piece...)
	return t.scan(ctx, c, t.text, end)
}

// scan examines what is not decided of text, and returns the decided part with what replaces its findings.
func (t *step) scan(ctx context.Context, c *chain, text []byte, end bool) ([]byte, error) {
	from := t.at
	if t.unit == nil {
		out, decided := c.s.memory.restore(t.out[:0], text, t.at, end)
		t.at, t.out = decided, out
		return out, nil
	}
	found, decided, err := t.scanner.Scan(ctx, text, t.at, end, t.found[:0])
	t.found = found
	if err != nil {
		if err := c.failed(ctx, t.unit, err); err != nil {
			return nil, err
		}
		found, decided = found[:0], len(text)
	}
	t.at = decided
	if len(found) == 0 {
		t.replaced = t.replaced && decided == from
		return text[from:decided], nil
	}
	t.out = t.out[:0]
	for i := range found {
		f := &found[i]
		goes := f.Continues && i == 0 && f.Start == from
		t.out = append(t.out, text[from:f.Start]...)
		from = f.End
		if goes && t.replaced {
			continue
		}
		action, inName := t.unit.actionOf(f), false
		if action == Anonymize && c.fixed {
			action, inName = Block, true
		}
		if !goes && !c.quiet {
			c.s.record(c, t.unit, f.Entity, action, t.from+f.Start)
		}
		t.replaced = action == Anonymize
		switch action {
		case Block:
			entity := f.Entity
			if inName {
				entity += " in a name, which cannot be replaced"
			}
			return nil, c.s.blocked(t.unit, c.hook, entity)
		case Anonymize:
			c.replaced = true
			t.out = append(t.out, c.s.replacement(t.unit, f, text[f.Start:f.End])...)
		case Flag:
			t.out = append(t.out, text[f.Start:f.End]...)
		}
	}
	t.replaced = t.replaced && from == decided
	t.out = append(t.out, text[from:decided]...)
	return t.out, nil
}

// once takes a whole text, and reports whether it changes.
func (c *chain) once(ctx context.Context, kind texts.Kind, role texts.Role, text []byte) (out []byte, changed bool, err error) {
	c.begin(kind, role)
	return c.rest(ctx, text)
}

// rest takes the whole of a text that has begun, and reports whether it changes.
func (c *chain) rest(ctx context.Context, text []byte) (out []byte, changed bool, err error) {
	if out, err = c.push(ctx, text, true); err != nil {
		return nil, false, err
	}
	return out, !bytes.Equal(out, text), nil
}

// release gives the scanners back.
func (c *chain) release() {
	for i := range c.steps {
		if t := &c.steps[i]; t.scanner != nil {
			t.unit.release(t.scanner)
			t.scanner = nil
		}
	}
}
