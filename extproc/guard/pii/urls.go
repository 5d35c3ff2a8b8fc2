package pii

import "bytes"

// schemeBefore reports whether a scheme of a URL (RFC 3986, 3.1) ends a run.
func schemeBefore(run []byte) bool {
	n := len(run)
	for n > 0 && (isAlnum(run[n-1]) || run[n-1] == '+' || run[n-1] == '-' || run[n-1] == '.') {
		n--
	}
	for n < len(run) && !isLetter(run[n]) {
		n++
	}
	return len(run)-n >= 2 && len(run)-n <= 20
}

// inURL reports the bytes of URLs, without those that more often end one.
func inURL(b byte) bool {
	if b <= ' ' || b == 0x7F {
		return false
	}
	switch b {
	case '<', '>', '"', '`', '{', '}', '|', '\\', '^':
		return false
	}
	return true
}

// urlEnd returns the end of the run that has a URL at i.
func urlEnd(v []byte, i int) int {
	for i < len(v) && inURL(v[i]) {
		i++
	}
	return i
}

// isHost reports whether a run ends with a host name of a usual top level domain, or is one with an
// address of a mailbox before it.
func isHost(run []byte) bool {
	n := len(run)
	for n > 0 && (isAlnum(run[n-1]) || run[n-1] == '-' || run[n-1] == '.' || run[n-1] >= 0x80) {
		n--
	}
	if n > 0 && (run[n-1] == '@' || run[n-1] == '/' || run[n-1] == '_') {
		return false
	}
	return isDomain(run[n:])
}

// isDomain reports whether name is a host name of a usual top level domain. Those that are endings of files,
// such as py, sh and rs, are not among them.
func isDomain(name []byte) bool {
	dot := bytes.LastIndexByte(name, '.')
	if dot < 1 || len(name)-dot > 9 || name[0] == '.' || name[0] == '-' || bytes.Contains(name, []byte("..")) {
		return false
	}
	var buf [10]byte
	switch string(small(name[dot+1:], buf[:0])) {
	case "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "dev", "app", "ai", "cloud", "online", "site", "shop", "tech", "xyz", "eu",
		"uk", "de", "fr", "es", "it", "nl", "be", "ch", "at", "se", "no", "dk", "fi", "cz", "pt", "ie", "gr", "hu", "ro", "bg", "hr", "si", "sk", "lt", "lv", "ee",
		"us", "ca", "mx", "br", "ar", "cl", "co", "au", "nz", "jp", "cn", "kr", "in", "sg", "hk", "tw", "th", "vn", "ph", "ru", "ua", "tr", "il", "za", "ng", "ke":
		return true
	}
	return false
}

// urls finds URLs with a scheme, and host names with www or a usual top level domain.
func (s *coreScanner) urls() {
	v := s.v
	if i := bytes.Index(v, []byte("://")); i > 0 && schemeBefore(v[:i]) {
		start := i
		for start > 0 && (isAlnum(v[start-1]) || v[start-1] == '+' || v[start-1] == '-' || v[start-1] == '.') {
			start--
		}
		for !isLetter(v[start]) {
			start++
		}
		if end := s.trimURL(start); end > i+3 {
			s.propose(start, end, url, 0.9)
		}
		return
	}
	for i := 0; i < len(v); {
		if !isAlnum(v[i]) && v[i] < 0x80 {
			i++
			continue
		}
		e, dots := i, 0
		for e < len(v) && (isAlnum(v[e]) || v[e] == '-' || v[e] == '.' || v[e] >= 0x80) {
			if v[e] == '.' {
				dots++
			}
			e++
		}
		host := bytes.TrimRight(v[i:e], ".-")
		www := len(host) > 4 && bytes.EqualFold(host[:4], []byte("www."))
		if dots > 0 && (www || isDomain(host)) && (i == 0 || v[i-1] != '@' && v[i-1] != '/' && v[i-1] != '_') && (e == len(v) || v[e] != '@') {
			end := i + len(host)
			if e < len(v) && (v[e] == '/' || v[e] == ':') || www {
				end = max(end, s.trimURL(i))
			}
			s.propose(i, end, url, 0.5)
			i = max(end, e)
			continue
		}
		i = e
	}
}

// trimURL returns the end of the URL that begins at start: without the punctuation of the sentence, and
// without a closing bracket that it did not open. A URL that fills the window is left whole, because its
// end is not known.
func (s *coreScanner) trimURL(start int) int {
	v := s.v
	end := urlEnd(v, start)
	if s.full && end == len(v) {
		return end
	}
	for end > start {
		switch b := v[end-1]; b {
		case '.', ',', ';', ':', '!', '?', '\'', '*', '_', '~':
			end--
			continue
		case ')', ']':
			opened := byte('(')
			if b == ']' {
				opened = '['
			}
			if bytes.Count(v[start:end], []byte{b}) > bytes.Count(v[start:end], []byte{opened}) {
				end--
				continue
			}
		}
		break
	}
	return end
}
