package pii

// card finds numbers of payment cards that begin with the token i: 12 to 19 digits in one group, or in the
// groups that are printed on cards, with the ranges and lengths of ISO/IEC 7812 issuers and the check digit
// of its Annex B (Luhn). Other ranges need a word of the context.
func (s *coreScanner) card(i int) {
	var buf [19]byte
	number := buf[:0]
	var groups [5]int
	for j := i; j < len(s.toks) && j-i < len(groups); j++ {
		tok := s.toks[j]
		if !tok.digits || len(number)+tok.end-tok.start > len(buf) {
			return
		}
		if j > i {
			gap := s.v[s.toks[j-1].end:tok.start]
			if len(gap) != 1 || gap[0] != ' ' && gap[0] != '-' && gap[0] != '.' {
				return
			}
		}
		groups[j-i] = tok.end - tok.start
		number = append(number, s.v[tok.start:tok.end]...)
		if len(number) < 12 || !s.endsAt(tok.end) || s.joined(i) || !cardGroups(groups[:j-i+1]) || !luhn(number) {
			continue
		}
		score := float32(0.8)
		switch {
		case !issued(number):
			score = 0.25
		case j > i:
			score = 0.95
		}
		s.propose(s.toks[i].start, tok.end, creditCard, score)
	}
}

// cardGroups reports the groups in which numbers of cards are written: fours with a rest, of which some may
// stand together, 4-6-5, 4-6-4, and 6-13.
func cardGroups(groups []int) bool {
	fours, sum := true, 0
	for _, g := range groups[:len(groups)-1] {
		sum += g
		fours = fours && sum%4 == 0
	}
	last := groups[len(groups)-1]
	switch len(groups) {
	case 1:
		return true
	case 2:
		return fours || groups[0] == 6 && last == 13
	case 3:
		return fours || groups[0] == 4 && groups[1] == 6 && (last == 5 || last == 4)
	}
	return fours
}

// issued reports whether an issuer has numbers that begin like this and are so long. The ranges are those that
// the schemes publish.
func issued(number []byte) bool {
	prefix := func(n int) int {
		value := 0
		for _, b := range number[:n] {
			value = value*10 + int(b-'0')
		}
		return value
	}
	n, two, three, four := len(number), prefix(2), prefix(3), prefix(4)
	switch {
	case number[0] == '4': // Visa
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case three >= 300 && three <= 305, two == 36, two == 38, two == 39: // Diners Club
		return n >= 14 && n <= 19
	case four == 6011, two == 65, three >= 644 && three <= 649: // Discover
		return n >= 16
	case four >= 3528 && four <= 3589: // JCB
		return n >= 16
	case two == 62, two == 81: // UnionPay
		return n >= 16
	case four >= 2200 && four <= 2204: // Mir
		return n >= 16
	case two == 60, two == 82, four == 6521, four == 6522: // RuPay
		return n == 16
	case two == 50, two >= 56 && two <= 58, two == 63, two == 67: // Maestro
		return n >= 12
	}
	return false
}

// luhn checks the check digit of ISO/IEC 7812-1, Annex B.
func luhn(number []byte) bool {
	sum := 0
	for i, b := range number {
		d := int(b - '0')
		if (len(number)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	same := true
	for _, b := range number {
		same = same && b == number[0]
	}
	return sum%10 == 0 && !same
}
