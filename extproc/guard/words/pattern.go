package words

import (
	"regexp/syntax"
	"unicode/utf8"
)

// pattern is a compiled regular expression.
type pattern struct {
	prog     *syntax.Prog
	prefixes []string   // every match begins with one of them, in any case; nil if it is not known
	needs    []string   // every match has one of them, in any case; nil if it is not known, and with prefixes
	least    int        // how many bytes every match has, 8 at most
	begins   [256]uint8 // bit i of a byte: it can be the one i of a match that begins with ASCII characters
}

func newPattern(text string) (*pattern, error) {
	parsed, err := syntax.Parse(text, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, err
	}
	simple := parsed.Simplify()
	prog, err := syntax.Compile(simple)
	if err != nil {
		return nil, err
	}
	p := &pattern{prog: prog}
	if begins, _ := beginnings(simple); shortest(begins) >= leastPrefix {
		p.prefixes = begins
	} else if needs := needed(simple); shortest(needs) >= leastNeeded {
		p.needs = needs
	}
	p.look()
	return p, nil
}

// look notes the bytes that matches can begin with, for as many as every match has, but 8 at most.
func (p *pattern) look() {
	at := map[uint32]bool{}
	all := !p.closure(uint32(p.prog.Start), at)
	for i := range 8 {
		if all {
			p.least = i + 1
		} else {
			for b := range p.begins {
				p.begins[b] |= 1 << i
			}
			continue
		}
		next := map[uint32]bool{}
		for pc := range at {
			inst, takes := &p.prog.Inst[pc], false
			for b := range p.begins {
				if b >= utf8.RuneSelf || inst.MatchRune(rune(b)) {
					p.begins[b] |= 1 << i
					takes = true
				}
			}
			if takes && p.closure(inst.Out, next) {
				all = false
			}
		}
		at = next
	}
}

// closure adds the instructions that can be reached without a character, and reports whether one is a match.
func (p *pattern) closure(pc uint32, to map[uint32]bool) (match bool) {
	if to[pc] {
		return false
	}
	to[pc] = true
	switch inst := &p.prog.Inst[pc]; inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		match = p.closure(inst.Out, to)
		return p.closure(inst.Arg, to) || match
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		return p.closure(inst.Out, to)
	case syntax.InstMatch:
		return true
	case syntax.InstFail, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
	}
	return false
}

// possible reports whether a match can begin with text. end says that nothing follows.
func (p *pattern) possible(text []byte, end bool) bool {
	for i, c := range text[:min(8, len(text))] {
		if p.begins[c]&(1<<i) == 0 {
			return false
		}
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return len(text) >= 8 || !end || len(text) >= p.least
}

// Bounds of literals: how many a pattern may have, how long they are, in characters, and how many characters of a class
// count as alternatives.
const (
	mostLiterals = 32
	mostOfLetter = 12
	longLiteral  = 16
	leastPrefix  = 2
	leastNeeded  = 2
)

// shortest returns the length of the shortest literal in characters; 0 if there is none.
func shortest(literals []string) int {
	least := 0
	for i, l := range literals {
		if n := utf8.RuneCountInString(l); i == 0 || n < least {
			least = n
		}
	}
	return least
}

// beginnings returns literals of which each match of re begins with one, in any case. exact says that each match
// is one of them.
func beginnings(re *syntax.Regexp) (literals []string, exact bool) {
	switch re.Op { //nolint:exhaustive // all others begin with anything
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(re.Rune)}, true
	case syntax.OpCharClass:
		return letters(re.Rune)
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpPlus:
		literals, _ = beginnings(re.Sub[0])
		return literals, false
	case syntax.OpQuest:
		if literals, exact = beginnings(re.Sub[0]); !exact {
			return []string{""}, false
		}
		return append([]string{""}, literals...), true
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			more, all := beginnings(sub)
			literals, exact = append(literals, more...), exact && all
		}
		if len(literals) > mostLiterals {
			return []string{""}, false
		}
		return literals, exact
	case syntax.OpConcat:
		return joined(re.Sub)
	}
	return []string{""}, false
}

// joined returns the beginnings of parts that follow each other.
func joined(parts []*syntax.Regexp) (literals []string, exact bool) {
	literals, exact = []string{""}, true
	for _, sub := range parts {
		more, all := beginnings(sub)
		if len(literals)*len(more) > mostLiterals || shortest(literals) >= longLiteral {
			return literals, false
		}
		var next []string
		for _, head := range literals {
			for _, tail := range more {
				next = append(next, head+tail)
			}
		}
		if literals = next; !all {
			return literals, false
		}
	}
	return literals, exact
}

// letters returns the characters of a class, each case once, if there are only some.
func letters(ranges []rune) (literals []string, exact bool) {
	seen := make(map[rune]bool)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 2*mostOfLetter {
			return []string{""}, false
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if folded := fold(r); !seen[folded] {
				seen[folded] = true
				literals = append(literals, string(folded))
			}
		}
	}
	if len(literals) > mostOfLetter || len(literals) == 0 {
		return []string{""}, false
	}
	return literals, true
}

// needed returns literals of which each match has one, in any case; nil if none is known. Of several, it
// returns those whose shortest is the longest.
func needed(re *syntax.Regexp) []string {
	switch re.Op { //nolint:exhaustive // all others need nothing
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			literals := needed(sub)
			if literals == nil || len(all)+len(literals) > mostLiterals {
				return nil
			}
			all = append(all, literals...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for i, sub := range re.Sub {
			literals, _ := joined(re.Sub[i:])
			if shortest(literals) > shortest(best) {
				best = literals
			}
			if literals = needed(sub); shortest(literals) > shortest(best) {
				best = literals
			}
		}
		return best
	}
	return nil
}
