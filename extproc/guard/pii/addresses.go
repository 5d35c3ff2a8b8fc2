package pii

import (
	"bytes"
	"net/netip"
)

// ipv4 finds an IPv4 address that begins with the token i. After a word such as version it is a version.
func (s *coreScanner) ipv4(i int) {
	if i+3 >= len(s.toks) {
		return
	}
	for j := i; j < i+4; j++ {
		tok := s.toks[j]
		value, n := s.number(tok.start)
		if !tok.digits || n > 3 || value > 255 || n > 1 && s.v[tok.start] == '0' {
			return
		}
		if j > i && (tok.start != s.toks[j-1].end+1 || s.v[tok.start-1] != '.') {
			return
		}
	}
	start, end := s.toks[i].start, s.toks[i+3].end
	if end+1 < len(s.v) && (s.v[end] == '.' || s.v[end] == '-') && isAlnum(s.v[end+1]) || end < len(s.v) && isWord(s.v[end]) {
		return
	}
	if b := s.before(start); b == '.' || b == '-' || s.afterVersion(start) {
		return
	}
	s.propose(start, end, ipAddress, 0.6)
}

// afterVersion reports whether the word before p says that a version follows.
func (s *coreScanner) afterVersion(p int) bool {
	text := bytes.TrimRight(s.text[max(0, s.base+s.from(p)-contextBytes):s.base+s.from(p)], " :=\t")
	n := len(text)
	for n > 0 && isLetter(text[n-1]) {
		n--
	}
	var buf [10]byte
	switch string(small(text[n:], buf[:0])) {
	case "version", "versions", "v", "ver", "release", "build", "firmware", "section", "chapter":
		return true
	}
	return false
}

// colons finds IPv6 addresses and MAC addresses with colons.
func (s *coreScanner) colons() {
	v := s.v
	for i := 0; i < len(v); i++ {
		if !isHex(v[i]) && v[i] != ':' || isWord(s.before(i)) {
			for i < len(v) && isWord(v[i]) {
				i++
			}
			continue
		}
		end, n := i, 0
		for end < len(v) && (isHex(v[end]) || v[end] == ':' || v[end] == '.' && n > 1) {
			if v[end] == ':' {
				n++
			}
			end++
		}
		for end > i && (v[end-1] == '.' || v[end-1] == ':' && !bytes.HasSuffix(v[i:end], []byte("::"))) {
			end--
		}
		if n >= 2 && (end == len(v) || !isWord(v[end])) {
			s.hexGroups(i, end)
		}
		i = max(i, end-1)
	}
}

func isHex(b byte) bool { return isDigit(b) || b|0x20-'a' < 6 }

// hexGroups looks at groups of hexadecimal digits with colons between them.
func (s *coreScanner) hexGroups(start, end int) {
	text := s.v[start:end]
	if isMAC(text, ':') {
		s.propose(start, end, macAddress, 0.8)
		return
	}
	n := bytes.Count(text, []byte(":"))
	double := bytes.Contains(text, []byte("::"))
	digits := bytes.ContainsAny(text, "0123456789")
	if n > 8 || !double && n != 7 && (n != 6 || bytes.IndexByte(text, '.') < 0) || !digits && n < 4 || len(text) < 3 {
		return
	}
	if addr, err := netip.ParseAddr(string(text)); err == nil && addr.Is6() {
		s.propose(start, end, ipAddress, 0.6)
	}
}

// isMAC reports six groups of two hexadecimal digits.
func isMAC(text []byte, separator byte) bool {
	if len(text) != 17 {
		return false
	}
	for i, b := range text {
		if i%3 == 2 && b != separator || i%3 != 2 && !isHex(b) {
			return false
		}
	}
	return true
}

// longToken finds what begins with the token i of at least 8 characters, or is it.
func (s *coreScanner) longToken(i int) {
	tok := s.toks[i]
	v := s.v[tok.start:]
	if tok.end-tok.start == 8 && s.c.table.wants(uuid) && len(v) >= 36 && isUUID(v[:36]) && s.endsAt(tok.start+36) {
		s.propose(tok.start, tok.start+36, uuid, 0.9)
	}
	if s.c.table.wants(crypto) && s.endsAt(tok.end) && isWallet(s.word(i)) {
		s.propose(tok.start, tok.end, crypto, 1)
	}
}

// mac finds a MAC address with hyphens, or with points as in 001a.2b3c.4d5e, that begins with the token i.
func (s *coreScanner) mac(i int) {
	start := s.toks[i].start
	v := s.v[start:]
	n := 0
	switch {
	case len(v) >= 17 && isMAC(v[:17], '-'):
		n = 17
	case len(v) >= 14 && v[4] == '.' && v[9] == '.' && allHex(v[:4]) && allHex(v[5:9]) && allHex(v[10:14]):
		n = 14
	default:
		return
	}
	if s.endsAt(start+n) && !s.joined(i) && (len(v) == n || v[n] != '-' && v[n] != '.' || len(v) == n+1 || !isAlnum(v[n+1])) {
		s.propose(start, start+n, macAddress, 0.8)
	}
}

func allHex(text []byte) bool {
	for _, b := range text {
		if !isHex(b) {
			return false
		}
	}
	return true
}

// isUUID reports the form of RFC 9562, section 4.
func isUUID(text []byte) bool {
	for i, b := range text {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if b != '-' {
				return false
			}
		} else if !isHex(b) {
			return false
		}
	}
	return true
}
