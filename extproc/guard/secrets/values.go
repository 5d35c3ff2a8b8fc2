package secrets

import (
	"bytes"
	"math"
)

// named looks for values that have no form of their own, but a word before them that says what they are.
func (f *finder) named() (match, bool) {
	i := f.start
	end := f.upTo(inValue)
	n, padding := end-i, min(2, f.from(end, inBase64)-end)
	if f.text[min(i+4, f.end-1)] == 'Q' && f.entraSecret() > 0 {
		return f.is(azure, f.entraSecret(), form)
	}
	if n < 16 || f.follows(end+padding, inAlnum) {
		return match{}, false
	}
	value := f.text[i:end]
	hex := f.exactly(i, inHex, n)
	switch {
	case bytes.HasSuffix(f.before(), []byte(":_authtoken=")):
		return f.is(npm, end+padding, contextOf)
	case bytes.HasSuffix(f.before(), []byte("sig=")) && f.after("sv=", "se=") && n >= 32:
		for end < f.end && (f.r.s.e.kinds[f.text[end]]&inValue != 0 || f.text[end] == '%') {
			end++
		}
		return f.is(azure, end, contextOf)
	case n == 86 && padding == 2 && f.after("accountkey", "account_key", "storage", "azure", "cosmos"):
		return f.is(azure, end+2, contextOf)
	case n == 43 && padding == 1 && f.after("sharedaccesskey", "shared_access_key", "azure", "servicebus", "eventhub", "iothub"):
		return f.is(azure, end+1, contextOf)
	case padding > 0:
		return match{}, false
	case n == 84 && string(value[52:57]) == "JQQJ9": // the mark of keys of Azure's AI services
		return f.is(azure, end, form)
	case n == 40 && mixed(value) && f.after("cohere", "co_api_key"), n == 32 && mixed(value) && f.after("mistral") && f.keyish():
		return f.is(modelProvider, end, contextOf)
	case n == 32 && hex && f.after("twilio") && f.keyish():
		return f.is(twilio, end, contextOf)
	case n == 40 && mixed(value) && (f.after("secret_access_key", "secretaccesskey", "secret access key") || f.after("aws", "amazon") && f.keyish()):
		return f.is(aws, end, contextOf)
	case n == 44 && varied(value) && f.exactly(i, inToken, n) && f.after("ibm", "iam", "bluemix") && f.keyish():
		return f.is(ibmIAM, end, contextOf)
	case n == 48 && hex && f.after("cos", "ibm", "hmac") && f.after("secret"):
		return f.is(ibmCOS, end, contextOf)
	case n == 24 && lower(value), n == 64 && hex:
		if f.after("cloudant") && f.keyish() && varied(value) {
			return f.is(cloudant, end, contextOf)
		}
	}
	if n == 64 && f.after("softlayer", "sl_") && f.keyish() {
		return f.softlayer()
	}
	return match{}, false
}

// soap looks for the key of SoftLayer in an address of its API.
func (f *finder) soap() (match, bool) {
	if f.text[f.start-1] != '/' || !f.exactly(f.start, inAlnum, 64) || !f.after("softlayer.com/soap/v3") {
		return match{}, false
	}
	return f.softlayer()
}

// softlayer reports whether there is a key of SoftLayer.
func (f *finder) softlayer() (match, bool) {
	end := f.start + 64
	value := f.text[f.start:end]
	for _, c := range value {
		if c < '0' || c > '9' && c < 'a' || c > 'z' {
			return match{}, false
		}
	}
	if !varied(value) {
		return match{}, false
	}
	return f.is(softlayer, end, contextOf)
}

// keyish reports whether a word for secrets is before start.
func (f *finder) keyish() bool {
	return f.after("key", "secret", "token", "pass", "pwd", "auth", "credential")
}

// entraSecret returns the end of a client secret of Microsoft Entra, such as abc8Q~…; 0 if there is none.
func (f *finder) entraSecret() int {
	i, end := f.start, f.start
	for end < f.end && (f.r.s.e.kinds[f.text[end]]&inToken != 0 || f.text[end] == '~' || f.text[end] == '.') {
		end++
	}
	if n := end - i; n < 37 || n > 40 || string(f.text[i+4:i+6]) != "Q~" || f.text[i+3] < '0' || f.text[i+3] > '9' {
		return 0
	}
	return end
}

// Thresholds of entropy in bits a character, and the least length of what has it.
const (
	base64Least  = 4.5
	hexLeast     = 3.0
	shortestText = 20
)

// unusual looks for values in quotes, or after = or :, that look random.
func (f *finder) unusual() (match, bool) {
	end := f.upTo(inValue)
	n, padding := end-f.start, min(2, f.from(end, inBase64)-end)
	long := f.cut && end == f.end
	if n < shortestText || f.text[f.start] == '/' {
		return match{}, false
	}
	if point := end + padding; !long && point < f.end && (point+1 < f.end || bytes.IndexByte([]byte(".:!?"), f.text[point]) < 0) {
		return match{}, false // part of something else, such as a path or an address
	}
	value := f.text[f.start:end]
	set := f.hexes(value)
	who := hexEntropy
	switch e := bitsOf(value); {
	case set != 0 && e > hexLeast:
	case set == 0 && e > base64Least && mixed(value):
		who, set = base64Entropy, inBase64
	default:
		return match{}, false
	}
	if !f.r.s.e.wanted[who] || !f.assigned() && !f.quoted(end+padding, long) || f.isHash(value) {
		return match{}, false
	}
	if set == inBase64 && !long {
		end += padding
	}
	return match{who: who, start: f.start, end: end, score: random, goes: set}, true
}

// hexes returns the set that what continues a value of hexadecimal digits has; 0 for other values, and for numbers.
func (f *finder) hexes(value []byte) charset {
	digits, lower, upper := 0, 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			lower++
		case c >= 'A' && c <= 'F':
			upper++
		}
	}
	switch {
	case lower > 0 && digits > 0 && digits+lower == len(value):
		return inHex
	case upper > 0 && digits > 0 && digits+upper == len(value):
		return inCapital
	}
	return 0
}

// assigned reports whether = or : is before start, if need be with spaces and a quote between them.
func (f *finder) assigned() bool {
	i := f.start - 1
	for spaces := 0; i >= 0 && spaces < 3 && (f.text[i] == ' ' || isQuote(f.text[i])); spaces++ {
		i--
	}
	return i >= 0 && (f.text[i] == '=' || f.text[i] == ':')
}

// quoted reports whether the value that ends at a place is in quotes.
func (f *finder) quoted(end int, long bool) bool {
	return f.start > 0 && isQuote(f.text[f.start-1]) && (long || end < len(f.text) && f.text[end] == f.text[f.start-1])
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isHash reports whether the text before a value says that it is a hash or a number that is no secret.
func (f *finder) isHash(value []byte) bool {
	if bytes.HasPrefix(value, []byte("sha256-")) || bytes.HasPrefix(value, []byte("sha384-")) || bytes.HasPrefix(value, []byte("sha512-")) {
		return true
	}
	if bytes.HasSuffix(f.before(), []byte("h1:")) {
		return true
	}
	if f.keyish() {
		return false
	}
	return f.after("sha1", "sha2", "sha3", "sha5", "sha-", "md5", "blake", "crc", "hash", "digest", "checksum", "integrity", "fingerprint", "etag",
		"commit", "revision", "rev:", "tree", "blob", "object", "trace", "span", "request_id", "requestid", "request-id", "uuid", "guid", "build", "layer", "image")
}

// bitsOf returns the entropy of a text in bits a character.
func bitsOf(text []byte) float64 {
	var counts [256]uint16
	for _, c := range text {
		counts[c]++
	}
	sum := 0.0
	for _, c := range text {
		sum += math.Log2(float64(counts[c])) // once for each time that c occurs
	}
	return math.Log2(float64(len(text))) - sum/float64(len(text))
}

// varied reports whether a text is no placeholder such as xxxx or 1234123412341234.
func varied(text []byte) bool { return bitsOf(text) >= 2.5 }

// mixed reports whether a text has small and capital letters and digits.
func mixed(text []byte) bool {
	var small, capital, digit bool
	for _, c := range text {
		small = small || c >= 'a' && c <= 'z'
		capital = capital || c >= 'A' && c <= 'Z'
		digit = digit || c >= '0' && c <= '9'
	}
	return small && capital && digit
}

// lower reports whether a text has only small letters.
func lower(text []byte) bool {
	for _, c := range text {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}
