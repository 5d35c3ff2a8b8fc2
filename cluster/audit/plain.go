package audit

// plain reports whether a text is a JSON object in canonical form, of the kind that almost all details have: its
// members are sorted, and their values are texts of printable ASCII without escapes, and numbers. Of another canonical
// object it may report false.
func plain(text string) bool {
	if len(text) < 2 || text[0] != '{' {
		return false
	}
	last := ""
	for i := 1; ; i++ {
		end := plainString(text, i)
		if end == 0 || end == len(text) || text[end] != ':' {
			return false
		}
		name := text[i+1 : end-1]
		if i > 1 && name <= last {
			return false
		}
		last = name
		if i = plainValue(text, end+1); i == 0 || i == len(text) {
			return false
		}
		switch text[i] {
		case '}':
			return i == len(text)-1
		case ',':
		default:
			return false
		}
	}
}

// plainValue returns the position behind a value; 0 if it is not one of those of plain.
func plainValue(text string, i int) int {
	if i < len(text) && text[i] == '"' {
		return plainString(text, i)
	}
	end := digits(text, i)
	if end == i || text[i] == '0' && end > i+1 {
		return 0
	}
	if end == len(text) || text[end] != '.' {
		return end
	}
	fraction := end + 1
	if end = digits(text, fraction); end == fraction {
		return 0
	}
	return end
}

// plainString returns the position behind a string; 0 if it is not one of those of plain.
func plainString(text string, i int) int {
	if i >= len(text) || text[i] != '"' {
		return 0
	}
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c > '~' || c == '\\':
			return 0
		}
	}
	return 0
}

func digits(text string, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}
