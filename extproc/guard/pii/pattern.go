package pii

import (
	"context"
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// pattern is a recognizer of one's own. It finds the leftmost matches, and of those that begin at one place the
// longest. Package regexp cannot say whether more of a text would change what it found, so the program is run
// here: a text is decided up to the first place at which a match could begin that has not ended.
type pattern struct {
	entity    string
	prog      *syntax.Prog
	first     [256]bool // bytes with which a match can begin
	context   contexts
	score     float32
	threshold float32
	allow     allowList
}

// skipped is how far behind the beginning of a match that is longer than a window the next is looked for.
const skipped = window / 4

// longest bounds matches, so that no more than a window is held back with the last character and half of the next.
const longest = window - 2*utf8.UTFMax

func newPattern(r Recognizer, threshold float32, allow allowList) (*pattern, error) {
	parsed, err := syntax.Parse(r.Pattern, syntax.Perl|syntax.FoldCase)
	if err != nil {
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("pattern: %s", bad.Code)
		}
		return nil, errors.New("pattern: it is no regular expression")
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, errors.New("pattern: it is too large")
	}
	p := &pattern{entity: r.Entity, prog: prog, context: contexts{}, score: 1, threshold: threshold, allow: allow}
	if r.Score != nil {
		p.score = float32(*r.Score) / thousandths
	}
	for _, words := range r.Context {
		for word := range strings.FieldsSeq(strings.ToLower(words)) {
			p.context[word] = 1
		}
	}
	p.findFirst()
	return p, nil
}

// findFirst finds the bytes with which a match can begin.
func (p *pattern) findFirst() {
	seen := make([]bool, len(p.prog.Inst))
	var visit func(pc uint32)
	visit = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &p.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(in.Out)
			visit(in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			visit(in.Out)
		case syntax.InstMatch, syntax.InstFail:
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for b := range p.first {
				p.first[b] = p.first[b] || b >= utf8.RuneSelf || takes(in, rune(b))
			}
		}
	}
	visit(uint32(p.prog.Start))
}

// takes reports whether an instruction matches a character.
func takes(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	case syntax.InstRune, syntax.InstRune1:
		return in.MatchRune(r)
	case syntax.InstAlt, syntax.InstAltMatch, syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstMatch, syntax.InstFail, syntax.InstNop:
	}
	return false
}

// patternScanner looks for one pattern.
type patternScanner struct {
	p    *pattern
	now  threads
	next threads

	text  []byte // what Scan was given
	end   bool   // nothing follows
	fresh bool   // nothing of the text is decided yet
	label int    // the size of the text's label, which patterns do not see; 0 behind the beginning of a text
}

// threads are the instructions that wait for the next character, each with the first place at which a match
// began that led to it.
type threads struct {
	at    []int  // by instruction; valid for those in list
	in    []bool // by instruction
	list  []uint32
	match int // where the match began that ends here; -1 for none
}

func (t *threads) clear() {
	for _, pc := range t.list {
		t.in[pc] = false
	}
	t.list, t.match = t.list[:0], -1
}

// Begin begins another text.
func (s *patternScanner) Begin(texts.Kind, texts.Role) { s.fresh = true }

// Fork returns a scanner for a text of the response.
func (s *patternScanner) Fork() engine.Scanner { return &patternScanner{p: s.p} }

// Reset forgets everything.
func (s *patternScanner) Reset() {}

// Scan finds the matches from at on.
func (s *patternScanner) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	if s.now.in == nil {
		n := len(s.p.prog.Inst)
		s.now, s.next = threads{at: make([]int, n), in: make([]bool, n)}, threads{at: make([]int, n), in: make([]bool, n)}
	}
	s.text, s.end = text, end
	if s.fresh {
		s.fresh, s.label = false, at
	}
	if at > s.label {
		s.label = 0
	}
	for at < len(text) {
		start, stop, ok := s.find(at)
		if stop > start {
			found = s.add(text, start, stop, found)
		}
		at = stop
		if !ok {
			break
		}
	}
	s.text = nil
	return found, at, nil
}

// add adds a match if it is certain enough.
func (s *patternScanner) add(text []byte, start, stop int, found []engine.Finding) []engine.Finding {
	score := s.p.score
	if len(s.p.context) > 0 && s.p.context.before(text[:start]) != 0 {
		score = min(1, max(score+contextBoost, contextLeast))
	}
	if score < s.p.threshold || s.p.allow.has(text[start:stop]) {
		return found
	}
	return append(found, engine.Finding{Start: start, End: stop, Entity: s.p.entity, Score: score})
}

// find looks for the first match from p on. Without one, start and stop are where to go on; ok is false if more
// of the text is needed there.
func (s *patternScanner) find(p int) (start, stop int, ok bool) {
	text := s.text
	s.now.clear()
	before := rune(-1)
	if p > s.label {
		before, _ = utf8.DecodeLastRune(text[:p])
	}
	best, bestEnd := -1, -1
	for i := p; ; {
		if len(s.now.list) == 0 && best < 0 {
			from := i
			for i < len(text) && !s.p.first[text[i]] {
				i++
			}
			if i > from {
				before, _ = utf8.DecodeLastRune(text[:i])
			}
		}
		if i == len(text) && !s.end || i < len(text) && !utf8.FullRune(text[i:]) && !s.end {
			return s.held(best, i)
		}
		r, size := rune(-1), 0
		if i < len(text) {
			r, size = utf8.DecodeRune(text[i:])
		}
		begin := i
		if best >= 0 {
			begin = -1
		}
		s.step(begin, syntax.EmptyOpContext(before, r))
		if m := s.next.match; m >= 0 && m < i && (best < 0 || m <= best) {
			best, bestEnd = m, i
		}
		if first := s.first(); first >= 0 && i-first >= longest && (best < 0 || first < best) { // it is too long
			s.next.clear()
			if best >= 0 {
				return best, bestEnd, true
			}
			to := first + skipped
			for !utf8.RuneStart(text[to]) {
				to++
			}
			return to, to, true
		}
		if i == len(text) {
			if best >= 0 {
				return best, bestEnd, true
			}
			return i, i, true
		}
		s.read(r, best, i)
		if best >= 0 && (len(s.now.list) == 0 || i-best >= longest) {
			return best, bestEnd, true
		}
		before, i = r, i+size
	}
}

// held returns where a match could begin that more of the text may complete.
func (s *patternScanner) held(best, i int) (start, stop int, ok bool) {
	for _, pc := range s.now.list {
		i = min(i, s.now.at[pc])
	}
	if best >= 0 {
		i = min(i, best)
	}
	return i, i, false
}

// first returns the first place at which a match began that goes on; -1 for none.
func (s *patternScanner) first() int {
	first := -1
	for _, pc := range s.next.list {
		if first < 0 || s.next.at[pc] < first {
			first = s.next.at[pc]
		}
	}
	return first
}

// step follows the instructions that need no character from those in now, and for a match that begins at begin,
// which may be -1 for none. The result is in next.
func (s *patternScanner) step(begin int, flags syntax.EmptyOp) {
	s.next.clear()
	for _, pc := range s.now.list {
		s.follow(pc, s.now.at[pc], flags)
	}
	if begin >= 0 {
		s.follow(uint32(s.p.prog.Start), begin, flags)
	}
}

func (s *patternScanner) follow(pc uint32, at int, flags syntax.EmptyOp) {
	t := &s.next
	if t.in[pc] && t.at[pc] <= at {
		return
	}
	if !t.in[pc] {
		t.in[pc] = true
		t.list = append(t.list, pc)
	}
	t.at[pc] = at
	switch in := &s.p.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		s.follow(in.Out, at, flags)
		s.follow(in.Arg, at, flags)
	case syntax.InstCapture, syntax.InstNop:
		s.follow(in.Out, at, flags)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^flags == 0 {
			s.follow(in.Out, at, flags)
		}
	case syntax.InstMatch:
		if t.match < 0 || at < t.match {
			t.match = at
		}
	case syntax.InstFail, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	}
}

// read moves the instructions in next over a character. Those whose match began after the best one are dropped.
func (s *patternScanner) read(r rune, best, i int) {
	s.now.clear()
	for _, pc := range s.next.list {
		at := s.next.at[pc]
		in := &s.p.prog.Inst[pc]
		if best >= 0 && at > best || at > i || !takes(in, r) {
			continue
		}
		out := in.Out
		if !s.now.in[out] {
			s.now.in[out] = true
			s.now.list = append(s.now.list, out)
			s.now.at[out] = at
		}
		s.now.at[out] = min(s.now.at[out], at)
	}
}
