package tokens

// classOf returns the class of a byte. The constant classes was generated with it.
func classOf(c byte) byte {
	switch {
	case c == ' ':
		return classSpace
	case c == '\t':
		return classTab
	case c >= '\n' && c <= '\r':
		return classNewline
	case 'a' <= c && c <= 'z':
		return classLower + c - 'a'
	case 'A' <= c && c <= 'Z':
		return classUpper + upperGroup(c)
	case '0' <= c && c <= '9':
		return classDigit
	case c < ' ', c == 0x7f:
		return classControl
	case c >= 0x80:
		return classOfHigh(c)
	}
	switch c {
	case '"':
		return classQuote
	case '\\':
		return classBackslash
	case '(', ')', '[', ']', '{', '}':
		return classBracket
	case ',', ':', ';':
		return classComma
	case '.', '-', '_', '/':
		return classDot
	}
	return classPunct
}

// upperGroup returns the group of an upper-case letter: letters that often occur next to each
// other.
func upperGroup(c byte) byte {
	switch c {
	case 'A', 'E':
		return 0
	case 'I', 'O', 'U':
		return 1
	case 'R', 'N':
		return 2
	case 'S', 'T':
		return 3
	case 'L', 'C', 'D':
		return 4
	case 'P', 'M', 'H':
		return 5
	case 'B', 'F', 'G':
		return 6
	}
	return 7
}

// classOfHigh returns the class of the first byte of a multi-byte character. Its other bytes
// have the same class.
func classOfHigh(c byte) byte {
	switch {
	case c < 0xc0:
		return classContinued
	case c < 0xc2, c > 0xf4:
		return classInvalid
	case c < 0xc4:
		return classLatin
	case c < 0xce:
		return classAccents
	case c < 0xd0:
		return classGreek
	case c < 0xd4:
		return classCyrillic
	case c < 0xd8:
		return classHebrew
	case c < 0xe0:
		return classArabic
	case c == 0xe0:
		return classIndic
	case c == 0xe1:
		return classGeorgian
	case c == 0xe2:
		return classSymbol
	case c == 0xe3:
		return classKana
	case c < 0xea:
		return classHan
	case c < 0xee:
		return classHangul
	case c < 0xf0:
		return classRare
	}
	return classFour
}
