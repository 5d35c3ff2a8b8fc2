package tokens

// classCount is the number of classes for which there are weights.
const classCount = 64

// Classes of bytes. Each lower-case letter has its own class, and upper-case letters share
// four. The sequence of letters shows whether a text consists of words, with many letters per
// token, or of random letters, with one or two.
const (
	classSpace = iota
	classNewline
	classLower                          // and the 25 after it
	classUpper     = classLower + 26    // and the 7 after it, by letter
	classDigit     = classUpper + 8     //
	classQuote     = classDigit + 1     // "
	classBackslash = classQuote + 1     //
	classBracket   = classBackslash + 1 //
	classComma     = classBracket + 1   // , : ;
	classDot       = classComma + 1     // . - _ /
	classPunct     = classDot + 1       // the rest of visible ASCII
	classControl   = classPunct + 1     //
	classLatin     = classControl + 1   // multi-byte characters by script, from U+0080
	classAccents   = classLatin + 1     // U+0100
	classGreek     = classAccents + 1   // U+0380
	classCyrillic  = classGreek + 1     // U+0400
	classHebrew    = classCyrillic + 1  // U+0500
	classArabic    = classHebrew + 1    // U+0600
	classIndic     = classArabic + 1    // U+0800: also Thai
	classGeorgian  = classIndic + 1     // U+1000
	classSymbol    = classGeorgian + 1  // U+2000
	classKana      = classSymbol + 1    // U+3000
	classHan       = classKana + 1      // U+4000
	classHangul    = classHan + 1       // U+A000
	classRare      = classHangul + 1    // U+E000
	classFour      = classRare + 1      // U+10000: emoji
	classInvalid   = classFour + 1      // bytes that never occur in UTF-8
	classContinued = classInvalid + 1   // further bytes of a character, which have its class
	classTab       = classContinued + 1
)

// classes has the class of each byte, as classOf returns it, as a character: '!' is class 0. It
// is a constant, because a table that is filled at start would be mutable.
const classes = `LLLLLLLLL]""""LLLLLLLLLLLLLLLLLL!KFKKKKKHHKKIJJJEEEEEEEEEEIIKKKK` +
	`K=CAA=CCB>DDAB?>BD?@@>DDDDDHGHKJK#$%&'()*+,-./0123456789:;<HKHKL` +
	`\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\` +
	`[[MMNNNNNNNNNNOOPPPPQQQQRRRRRRRRSTUVWWWWWWXXXXYYZZZZZ[[[[[[[[[[[`

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
