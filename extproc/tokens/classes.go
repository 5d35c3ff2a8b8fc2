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
