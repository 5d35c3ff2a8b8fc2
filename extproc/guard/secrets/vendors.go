package secrets

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"
)

// token looks for a secret that begins at start, or for basic_auth whose address has its :// there.
func (f *finder) token() (match, bool) {
	if f.text[f.start] == ':' {
		return f.basicAuth()
	}
	if m, ok := f.vendor(); ok && f.r.s.e.wanted[m.who] {
		return m, true
	}
	if f.start > 0 && f.r.s.e.kinds[f.text[f.start-1]]&inValue != 0 { // within a value
		m, ok := f.soap()
		return m, ok && f.r.s.e.wanted[m.who]
	}
	if m, ok := f.named(); ok && f.r.s.e.wanted[m.who] {
		return m, true
	}
	m, ok := f.unusual()
	return m, ok && f.r.s.e.wanted[m.who]
}

// is returns the match of a detector from start to end.
func (f *finder) is(who detector, end int, score float32) (match, bool) {
	return match{who: who, start: f.start, end: end, score: score}, true
}

// vendor looks for the forms that vendors give their secrets.
func (f *finder) vendor() (match, bool) {
	i := f.start
	if m, ok := f.modelKey(); ok {
		return m, true
	}
	switch f.text[i] {
	case 'A':
		return f.capitalA()
	case 'E':
		if f.has("EAAA") && f.exactly(i+4, inToken, 60) && varied(f.text[i:i+64]) {
			return f.is(square, i+64, form)
		}
	case 'M', 'N', 'O':
		return f.discord()
	case 'S':
		if f.has("SK") && f.exactly(i+2, inAnyHex, 32) && varied(f.text[i:i+34]) {
			return f.is(twilio, i+34, form)
		}
		if f.has("SG.") && f.exactly(i+3, inJWT, 66) && bytes.IndexByte(f.text[i+3:i+69], '.') > 0 {
			return f.is(sendgrid, i+69, form)
		}
	case 'c':
		if f.has("cmVmdGtu") && f.exactly(i+8, inAlnum, 56) { // base64 of reftkn
			return f.is(artifactory, i+64, form)
		}
	case 'e':
		if f.has("eyJ") {
			return f.jwt()
		}
	case 'g':
		return f.github()
	case 'h':
		if to := i + len("hooks.slack.com/services/"); f.has("hooks.slack.com/services/T", "hooks.slack.com/workflows/T", "hooks.slack.com/triggers/T") {
			if f.text[to-1] != '/' {
				to += bytes.IndexByte(f.text[to:f.end], '/') + 1
			}
			end := f.from(to, inValue)
			if end-to >= 24 && bytes.Count(f.text[to:end], []byte("/")) >= 1 && varied(f.text[to:end]) {
				return match{who: slack, start: to, end: end, score: form}, true
			}
		}
	case 'n':
		if f.has("npm_") && f.exactly(i+4, inAlnum, 36) && varied(f.text[i+4:i+40]) {
			return f.is(npm, i+40, checked(f.text[i+4:i+40]))
		}
	case 'r', 's', 'w':
		return f.payment()
	case 'x':
		return f.slack()
	}
	if f.exactly(i, inHex, 32) && f.end > i+35 && string(f.text[i+32:i+35]) == "-us" {
		if end := f.from(i+35, inHex); (end == i+36 || end == i+37) && !f.follows(end, inToken) && f.text[i+35] <= '9' && f.text[end-1] <= '9' {
			return f.is(mailchimp, end, form)
		}
	}
	return match{}, false
}

// capitalA looks for secrets that begin with A.
func (f *finder) capitalA() (match, bool) {
	i := f.start
	switch {
	case f.has("AKIA", "ASIA", "ABIA", "ACCA", "A3T") && f.exactly(i, inCapital, 20) && varied(f.text[i+4:i+20]):
		return f.is(aws, i+20, form)
	case f.has("AC") && f.exactly(i+2, inAnyHex, 32) && varied(f.text[i:i+34]):
		return f.is(twilio, i+34, form)
	case f.has("AKC", "AP"):
		end := f.upTo(inAlnum)
		rest := f.text[i+2 : end]
		encrypted := len(rest) >= 9 && (f.r.s.e.kinds[rest[0]]&inHex != 0 || rest[0] >= 'A' && rest[0] <= 'F') && f.assigned()
		key := f.has("AKC") && len(rest) >= 20
		if (key || encrypted && f.text[i+1] == 'P') && mixed(rest) && !f.follows(end, inToken) {
			return f.is(artifactory, end, form)
		}
	}
	return match{}, false
}

// github looks for GitHub's tokens.
func (f *finder) github() (match, bool) {
	i := f.start
	if f.has("github_pat_") && f.exactly(i+11, inToken, 82) && varied(f.text[i+11:i+93]) {
		return f.is(github, i+93, form)
	}
	if f.has("ghp_", "gho_", "ghu_", "ghs_", "ghr_") {
		end := f.from(i+4, inAlnum)
		if body := f.text[i+4 : end]; len(body) == 36 && varied(body) {
			return f.is(github, end, checked(body))
		} else if len(body) > 36 && varied(body) {
			return match{who: github, start: i, end: end, score: form, goes: inAlnum}, true
		}
	}
	return match{}, false
}

// payment looks for secrets of Stripe and Square.
func (f *finder) payment() (match, bool) {
	i := f.start
	switch {
	case f.has("sk_live_", "sk_test_", "rk_live_", "rk_test_"):
		if end := f.from(i+8, inAlnum); end-i >= 8+16 && varied(f.text[i+8:end]) {
			return match{who: stripe, start: i, end: end, score: form, goes: inAlnum}, true
		}
	case f.has("whsec_"):
		if end := f.from(i+6, inBase64); end-i >= 6+32 && varied(f.text[i+6:end]) {
			return f.is(stripe, end, form)
		}
	case f.has("sq0atp-") && f.exactly(i+7, inToken, 22), f.has("sq0csp-") && f.exactly(i+7, inToken, 43):
		return f.is(square, f.upTo(inToken), form)
	}
	return match{}, false
}

// slack looks for Slack's tokens, such as xoxb-1234567890-abcdef.
func (f *finder) slack() (match, bool) {
	i := f.start
	if f.has("xapp-", "xoxa-", "xoxb-", "xoxe-", "xoxe.xox", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-") {
		end := f.upTo(inToken)
		if f.has("xoxe.xoxb-", "xoxe.xoxp-") {
			end = f.from(i+5, inToken)
		}
		rest := f.text[i+5 : end]
		if len(rest) >= 16 && varied(rest) && bytes.IndexByte(rest, '-') > 0 && bytes.ContainsAny(rest, "0123456789") {
			return match{who: slack, start: i, end: end, score: form, goes: inToken}, true
		}
	}
	return match{}, false
}

// discord looks for tokens of bots. Their first part is the user's number, in base64.
func (f *finder) discord() (match, bool) {
	one := f.upTo(inToken)
	if n := one - f.start; n < 23 || n > 28 || one == f.end || f.text[one] != '.' {
		return match{}, false
	}
	two := f.from(one+1, inToken)
	if two-one != 7 || two == f.end || f.text[two] != '.' {
		return match{}, false
	}
	end := f.from(two+1, inToken)
	if n := end - two - 1; n < 27 || n > 38 {
		return match{}, false
	}
	var number [32]byte
	n, err := base64.RawURLEncoding.Decode(number[:], f.text[f.start:one])
	if err != nil || n < 17 {
		return match{}, false
	}
	for _, c := range number[:n] {
		if c < '0' || c > '9' {
			return match{}, false
		}
	}
	return f.is(discord, end, verified)
}

// jwt looks for JSON Web Tokens. Their first part is JSON that names an algorithm, in base64.
func (f *finder) jwt() (match, bool) {
	end := f.upTo(inJWT)
	all := f.text[f.start:end]
	head, rest, dot := bytes.Cut(all, []byte("."))
	long := f.cut && end == f.end
	switch {
	case !dot && !long, dot && !long && len(rest) < 8:
		return match{}, false
	case !dot:
		head = head[:len(head)/4*4]
	}
	var plain [window]byte
	n, err := base64.RawURLEncoding.Decode(plain[:], bytes.TrimRight(head, "="))
	if err != nil || !bytes.Contains(plain[:n], []byte(`"alg"`)) && !bytes.Contains(plain[:n], []byte(`"typ"`)) {
		return match{}, false
	}
	if !long {
		end = f.start + len(bytes.TrimRight(all, "."))
	}
	return match{who: jwt, start: f.start, end: end, score: verified, goes: inJWT}, true
}

// checked returns the score of a token whose last 6 characters are the CRC-32 of the others, in base 62: GitHub's and
// npm's. A wrong checksum makes it less certain only: a token that was mistyped shows most of one, and vendors
// change what they promise.
func checked(token []byte) float32 {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := crc32.ChecksumIEEE(token[:len(token)-6])
	for i := len(token) - 1; i >= len(token)-6; i-- {
		if token[i] != digits[sum%62] {
			return contextOf
		}
		sum /= 62
	}
	return verified
}

// basicAuth looks for the password of an address such as https://user:password@host.
func (f *finder) basicAuth() (match, bool) {
	i := f.start
	if !f.has("://") {
		return match{}, false
	}
	user := f.part(i + 3)
	if user == f.end || f.text[user] != ':' {
		return match{}, false
	}
	from := user + 1
	to := from
	for to < f.end && f.text[to] != '@' && f.text[to] != '/' {
		to++
	}
	if to == f.end || f.text[to] != '@' || to-from < 2 || f.from(to+1, inAlnum) == to+1 || !differ(f.text[from:to]) {
		return match{}, false
	}
	who, secret := basicAuth, f.text[from:to]
	if host := f.text[to+1 : f.part(to+1)]; (len(secret) == 64 || len(secret) == 24) && bytes.HasSuffix(host, []byte(".cloudant.com")) && f.r.s.e.wanted[cloudant] {
		who = cloudant
	}
	if !f.r.s.e.wanted[who] {
		return match{}, false
	}
	return match{who: who, start: from, end: to, score: form}, true
}

// part returns where a part of an address that begins at a place ends.
func (f *finder) part(i int) int {
	for i < f.end && bytes.IndexByte([]byte(":/?#@"), f.text[i]) < 0 {
		i++
	}
	return i
}

// differ reports whether not all characters are the same, as in ****.
func differ(text []byte) bool { return bytes.Count(text, text[:1]) < len(text) }
