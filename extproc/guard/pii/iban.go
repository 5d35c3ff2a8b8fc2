package pii

// iban finds account numbers of ISO 13616 that begin with the token i, in one group or in several with a space
// or a hyphen between them. A country's numbers have one length, so the end of one is known.
func (s *coreScanner) iban(i int) {
	start := s.toks[i].start
	length := ibanLength(s.v[start:])
	if length == 0 {
		return
	}
	var buf [34]byte
	number := buf[:0]
	p := start
	for separator := byte(0); p < len(s.v) && len(number) < length; p++ {
		b := s.v[p]
		if isAlnum(b) {
			if isLower(b) {
				b -= 'a' - 'A'
			}
			number = append(number, b)
			continue
		}
		if b != ' ' && b != '-' && b != '.' || separator != 0 && b != separator || p+1 == len(s.v) || !isAlnum(s.v[p+1]) {
			return
		}
		separator = b
	}
	if len(number) < length || p < len(s.v) && isWord(s.v[p]) || !mod97(number) {
		return
	}
	s.propose(start, p, ibanCode, 1)
}

// mod97 checks an IBAN (ISO 7064, MOD 97-10): with its first four characters at the end and letters as numbers
// from 10 on, it is 1 modulo 97.
func mod97(number []byte) bool {
	rest := 0
	add := func(part []byte) {
		for _, b := range part {
			if isDigit(b) {
				rest = (rest*10 + int(b-'0')) % 97
			} else {
				rest = (rest*100 + int(b-'A') + 10) % 97
			}
		}
	}
	add(number[4:])
	add(number[:4])
	return rest == 1
}

// ibanLength returns the length of the account numbers of the country whose letters v begins with; 0 if v does
// not begin with the letters of a country and two check digits. The lengths are those of SWIFT's registry.
func ibanLength(v []byte) int {
	if len(v) < 4 || !isLetter(v[0]) || !isLetter(v[1]) || !isDigit(v[2]) || !isDigit(v[3]) {
		return 0
	}
	const lengths = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28" +
		"HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29" +
		"RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"
	a, b := v[0]&^0x20, v[1]&^0x20
	for i := 0; i < len(lengths); i += 4 {
		if lengths[i] == a && lengths[i+1] == b {
			return int(lengths[i+2]-'0')*10 + int(lengths[i+3]-'0')
		}
	}
	return 0
}
