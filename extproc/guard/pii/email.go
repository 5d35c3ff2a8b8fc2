package pii

import "bytes"

// emails finds email addresses: RFC 5321, without quoted local parts and addresses of networks as domains.
func (s *coreScanner) emails() {
	v := s.v
	for i := bytes.IndexByte(v, '@'); i > 0 && i < len(v); i++ {
		if v[i] != '@' {
			continue
		}
		start := i
		for start > 0 && inLocal(v[start-1]) {
			start--
		}
		for start < i && !isWord(v[start]) && v[start] != '+' {
			start++
		}
		end, dots := i+1, 0
		for end < len(v) && (isWord(v[end]) && v[end] != '_' || (v[end] == '-' || v[end] == '.') && end > i+1) {
			if v[end] == '.' && v[end-1] == '.' {
				break
			}
			end++
		}
		for end > i+1 && (v[end-1] == '.' || v[end-1] == '-') {
			end--
		}
		domain := v[i+1 : end]
		dots = bytes.Count(domain, []byte("."))
		if start == i || v[i-1] == '.' || dots == 0 && end < window || !isTopLevel(domain[bytes.LastIndexByte(domain, '.')+1:]) && end < window {
			continue
		}
		s.propose(start, end, emailAddress, 1)
	}
}

// inLocal reports the bytes of local parts that are in use.
func inLocal(b byte) bool {
	return isWord(b) || b == '.' || b == '-' || b == '+' || b == '%' || b == '\''
}

// isTopLevel reports whether the last label of a name can be that of an email address: letters, or the form of
// other scripts, and not the ending of a file.
func isTopLevel(label []byte) bool {
	if len(label) < 2 || len(label) > 63 {
		return false
	}
	if bytes.HasPrefix(label, []byte("xn--")) {
		return true
	}
	for _, b := range label {
		if !isLetter(b) && b < 0x80 {
			return false
		}
	}
	var buf [10]byte
	switch string(small(label, buf[:0])) {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "js", "jsx", "ts", "tsx", "css", "html", "py", "go", "json", "yaml", "yml", "txt", "pdf", "exe", "dll":
		return false
	}
	return true
}
