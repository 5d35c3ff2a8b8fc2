package pii

import (
	"fmt"

	"github.com/nyaruka/phonenumbers"
)

// phones says what is a phone number.
type phones struct {
	regions []region
	codes   map[int]bool // of countries
}

// region is a country whose numbers are found without a country code.
type region struct {
	name   string
	code   int32
	trunk  bool // numbers have a 0 before them
	northA bool // the numbering plan of North America
}

func newPhones(names []string) (*phones, error) {
	if len(names) == 0 {
		names = []string{"US", "GB"}
	}
	p := &phones{codes: phonenumbers.GetSupportedCallingCodes()}
	for _, name := range names {
		code := phonenumbers.GetCountryCodeForRegion(name)
		if code == 0 {
			return nil, fmt.Errorf("regions: no phone numbers are known for %.8q", name)
		}
		p.regions = append(p.regions, region{name, int32(code), phonenumbers.GetNddPrefixForRegion(name, true) == "0", code == 1})
	}
	return p, nil
}

// Bounds of the digits of phone numbers (ITU-T E.164), and of the characters of one.
const (
	leastPhone  = 7
	mostPhone   = 15
	longestCall = 40
)

// call is what could be a phone number: groups of digits.
type call struct {
	digits []byte
	groups []int
	plus   bool
}

// phone finds a phone number that begins with the token i.
func (s *coreScanner) phone(i int) {
	start := s.toks[i].start
	plus := s.before(start) == '+' && start > 0
	if !plus && (s.joined(i) || s.afterVersion(start)) {
		return
	}
	if b := s.before(start); !plus && (b == ':' && start > 1 && isDigit(s.v[start-2]) || b == '@') {
		return
	}
	var buf [mostPhone + 2]byte
	var groupBuf [8]int
	var ends [8]int
	c := call{buf[:0], groupBuf[:0], plus}
	for j := i; j < len(s.toks) && j-i < len(groupBuf); j++ {
		tok := s.toks[j]
		extended := 0
		if !tok.digits {
			if extended = extension(s.word(j)); extended == 0 {
				break
			}
			tok.end -= extended
		}
		if len(c.digits)+tok.end-tok.start > mostPhone || tok.end-start > longestCall {
			break
		}
		if j > i && !phoneGap(s.v[s.toks[j-1].end:tok.start]) {
			break
		}
		if trunkInBrackets(s.v[:tok.end], tok) && c.plus { // +44 (0)20
			continue
		}
		c.digits = append(c.digits, s.v[tok.start:tok.end]...)
		c.groups = append(c.groups, tok.end-tok.start)
		ends[len(c.groups)-1] = tok.end + extended
	}
	for n := len(c.groups); n > 0; n-- {
		c.groups = c.groups[:n]
		total := 0
		for _, g := range c.groups {
			total += g
		}
		c.digits = c.digits[:total]
		if total < leastPhone {
			return
		}
		if !s.endsAt(ends[n-1]) {
			continue
		}
		if score := s.c.phones.score(c); score > 0 {
			if start > 0 && (s.v[start-1] == '+' || s.v[start-1] == '(') {
				start--
			}
			if start > 0 && s.v[start-1] == '(' && plus {
				start--
			}
			s.propose(start, ends[n-1], phoneNumber, score)
			return
		}
	}
}

// extension returns the length of the extension at the end of a word, such as 4 for 0132x123; 0 for none.
func extension(word []byte) int {
	n := 0
	for n < len(word) && isDigit(word[n]) {
		n++
	}
	if n < 3 || n > 4 || len(word)-n < 2 || len(word)-n > 6 || word[n]|0x20 != 'x' {
		return 0
	}
	for _, b := range word[n+1:] {
		if !isDigit(b) {
			return 0
		}
	}
	return len(word) - n
}

// phoneGap reports what can stand between two groups of digits.
func phoneGap(gap []byte) bool {
	switch string(gap) {
	case " ", "-", ".", "/", ")", ") ", " (", "(", ")-", "-(", " - ", "  ", ").", ") (":
		return true
	}
	return false
}

// trunkInBrackets reports the 0 that is not dialled from abroad.
func trunkInBrackets(v []byte, tok token) bool {
	return tok.end-tok.start == 1 && v[tok.start] == '0' && tok.start > 0 && v[tok.start-1] == '('
}

// score returns the base score of a phone number; 0 if it is none.
func (p *phones) score(c call) float32 {
	if c.plus {
		return p.international(c.digits)
	}
	if len(c.digits) > 9 && c.digits[0] == '0' && c.digits[1] == '0' && p.international(c.digits[2:]) == known {
		return 0.6
	}
	best := float32(0)
	for _, r := range p.regions {
		best = max(best, r.score(c))
	}
	if best == 0 && len(c.groups) > 1 && len(c.digits) <= mostLocal && min(c.groups[0], c.groups[len(c.groups)-1]) > 1 {
		return unknownPlan
	}
	return best
}

// mostLocal bounds the digits of numbers in groups that no region knows, and unknownPlan is their base score: they
// need a word of the context.
const (
	mostLocal   = 12
	unknownPlan = 0.2
)

// Base scores of numbers with a plus: those that are in use, and those that only have a length that is, such as the
// numbers that are set aside for films.
const (
	known  = 0.9
	usable = 0.55
)

// international returns the base score of a number with its country code; 0 if it is none.
func (p *phones) international(digits []byte) float32 {
	if digits[0] == '0' {
		return 0
	}
	code := 0
	for n := range min(3, len(digits)) {
		code = code*10 + int(digits[n]-'0')
		if !p.codes[code] {
			continue
		}
		number := numberOf(int32(code), digits[n+1:])
		switch {
		case number == nil:
			return 0
		case phonenumbers.IsValidNumber(number):
			return known
		case phonenumbers.IsPossibleNumber(number):
			return usable
		}
		return 0
	}
	return 0
}

// score returns the base score of a number as it is dialled within the region. The form is looked at first,
// because most numbers in texts are none of a phone.
func (r region) score(c call) float32 {
	n := len(c.digits)
	switch {
	case r.northA:
		first, ok := c.groups, true
		digits := c.digits
		if n == 11 && digits[0] == '1' {
			digits = digits[1:]
			if first[0] == 1 {
				first = first[1:]
			} else {
				ok = len(first) == 1
			}
		}
		ok = ok && len(digits) == 10 && digits[0] > '1' &&
			(len(first) == 1 || len(first) == 3 && first[0] == 3 && first[1] == 3 || len(first) == 2 && first[0] == 3)
		if !ok {
			return 0
		}
		known := digits[3] > '1' && (valid(r.code, digits, r.name) || valid(r.code, digits, ""))
		switch {
		case !known && len(first) == 3:
			return 0.5 // nothing else is written like this
		case !known:
			return 0
		case len(c.groups) == 1:
			return 0.4
		}
		return 0.75
	case r.trunk:
		if c.digits[0] != '0' || c.digits[1] == '0' || n < 8 {
			return 0
		}
		if !valid(r.code, c.digits[1:], r.name) {
			if number := numberOf(r.code, c.digits[1:]); len(c.groups) > 1 && n > 9 && phonenumbers.IsPossibleNumber(number) {
				return 0.4
			}
			return 0
		}
		if len(c.groups) == 1 && n < 11 {
			return 0.45
		}
		return 0.65
	default:
		if !valid(r.code, c.digits, r.name) {
			return 0
		}
		if len(c.groups) == 1 {
			return 0.35
		}
		return 0.5
	}
}

// valid asks the library whether a national number is in use in a region, in any of the code if name is empty.
func valid(code int32, national []byte, name string) bool {
	number := numberOf(code, national)
	switch {
	case number == nil:
		return false
	case name == "":
		return phonenumbers.IsValidNumber(number)
	}
	return phonenumbers.IsValidNumberForRegion(number, name)
}

// numberOf returns a national number as the library has it; nil for one that is too short.
func numberOf(code int32, national []byte) *phonenumbers.PhoneNumber {
	if len(national) < 4 {
		return nil
	}
	value := uint64(0)
	for _, b := range national {
		value = value*10 + uint64(b-'0')
	}
	number := &phonenumbers.PhoneNumber{CountryCode: &code, NationalNumber: &value}
	if national[0] == '0' { // Italy, and some others
		zeros := int32(0)
		for zeros < int32(len(national))-1 && national[zeros] == '0' {
			zeros++
		}
		number.ItalianLeadingZero, number.NumberOfLeadingZeros = new(true), &zeros
	}
	return number
}
