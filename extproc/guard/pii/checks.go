package pii

import "strings"

// The rules of numbers. Each gets the letters and digits of a value that has the shape, without separators.

// weighted returns the sum of the digits, each times its weight.
func weighted(text []byte, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(text[i]-'0') * w
	}
	return sum
}

func valueOf(digits []byte) int {
	value := 0
	for _, b := range digits {
		value = value*10 + int(b-'0')
	}
	return value
}

func upper(b byte) byte {
	if isLower(b) {
		return b - 'a' + 'A'
	}
	return b
}

// oneOf reports whether set has b.
func oneOf(set string, b byte) bool { return strings.IndexByte(set, b) >= 0 }

// notRepeated rejects digits that are all the same, which stand for no number.
func notRepeated(text []byte) bool {
	for _, b := range text[1:] {
		if b != text[len(text)-1] && isDigit(b) {
			return true
		}
	}
	return false
}

// usSSN: the Social Security Administration assigns no area 000, 666 and from 900 on, no group 00 and no serial
// number 0000.
func usSSN(t []byte) bool {
	area := valueOf(t[:3])
	return area != 0 && area != 666 && area < 900 && valueOf(t[3:5]) != 0 && valueOf(t[5:]) != 0 && notRepeated(t)
}

// usITIN: IRS Publication 1915 has numbers from 900 to 999 with groups 50 to 65, 70 to 88, 90 to 92 and 94
// to 99.
func usITIN(t []byte) bool {
	g := valueOf(t[3:5])
	return t[0] == '9' && (g >= 50 && g <= 65 || g >= 70 && g <= 88 || g >= 90 && g <= 99 && g != 93)
}

// ukNHS: the NHS Data Dictionary has a check digit modulo 11 with weights 10 to 2.
func ukNHS(t []byte) bool {
	check := 11 - weighted(t, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	if check == 11 {
		check = 0
	}
	return check == int(t[9]-'0') && notRepeated(t)
}

// ukNINO: HMRC's National Insurance Manual (NIM39110) says which prefixes and suffixes there are.
func ukNINO(t []byte) bool {
	a, b := t[0], t[1]
	switch string(t[:2]) {
	case "BG", "GB", "NK", "KN", "TN", "NT", "ZZ":
		return false
	}
	return !oneOf("DFIQUV", a) && !oneOf("DFIQUVO", b) && t[8] >= 'A' && t[8] <= 'D'
}

// auABN: the Australian Business Register subtracts 1 from the first digit, then the weighted sum is a multiple
// of 89.
func auABN(t []byte) bool {
	return (weighted(t, 10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)-10)%89 == 0 && t[0] != '0'
}

// auACN: ASIC has a check digit modulo 10 with weights 8 to 1.
func auACN(t []byte) bool {
	return (10-weighted(t, 8, 7, 6, 5, 4, 3, 2, 1)%10)%10 == int(t[8]-'0') && notRepeated(t)
}

// auMedicare: Services Australia has numbers from 2 to 6 with a check digit modulo 10 at the ninth place.
func auMedicare(t []byte) bool {
	return t[0] >= '2' && t[0] <= '6' && weighted(t, 1, 3, 7, 9, 1, 3, 7, 9)%10 == int(t[8]-'0')
}

// auTFN: the Australian Taxation Office has a weighted sum that is a multiple of 11.
func auTFN(t []byte) bool {
	return weighted(t, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0 && notRepeated(t)
}

// deTaxID: § 139b AO. The first is not 0; among ten digits exactly one is there twice or three times, the others at
// most once; the last is that of ISO/IEC 7064, MOD 11,10.
func deTaxID(t []byte) bool {
	if t[0] == '0' {
		return false
	}
	var count [10]int
	for _, b := range t[:10] {
		count[b-'0']++
	}
	repeated := 0
	for _, n := range count {
		if n > 3 {
			return false
		}
		if n > 1 {
			repeated++
		}
	}
	return repeated == 1 && mod1110(t)
}

// mod1110 checks the last digit by ISO/IEC 7064, MOD 11,10.
func mod1110(t []byte) bool {
	product := 10
	for _, b := range t[:len(t)-1] {
		sum := (int(b-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(t[len(t)-1]-'0')
}

// spanish is the order of the letters that the Spanish police gives numbers modulo 23.
const spanish = "TRWAGMYFPDXBNJZSQVHLCKE"

// esNIF: eight digits and the letter of their remainder.
func esNIF(t []byte) bool { return spanish[valueOf(t[:8])%23] == t[8] }

// esNIE: X, Y and Z stand for 0, 1 and 2 before the seven digits.
func esNIE(t []byte) bool {
	return t[0] >= 'X' && t[0] <= 'Z' && spanish[(int(t[0]-'X')*10_000_000+valueOf(t[1:8]))%23] == t[8]
}

// fiHetu: the Digital and Population Data Services Agency has the birthday, a sign of the century, a number from
// 002 to 999 and a letter of the remainder modulo 31. A separator is not in t, so a letter in its place is.
func fiHetu(t []byte) bool {
	if len(t) == 11 {
		if !oneOf("ABCDEFYXWVU", t[6]) {
			return false
		}
	} else if len(t) != 10 {
		return false
	}
	number := t[len(t)-4 : len(t)-1]
	if valueOf(t[:2]) < 1 || valueOf(t[:2]) > 31 || valueOf(t[2:4]) < 1 || valueOf(t[2:4]) > 12 || valueOf(number) < 2 {
		return false
	}
	return "0123456789ABCDEFHJKLMNPRSTUVWXY"[(valueOf(t[:6])*1000+valueOf(number))%31] == t[len(t)-1]
}

// aadhaar: UIDAI has twelve digits that begin with none of 0 and 1, and a check digit by Verhoeff.
func aadhaar(t []byte) bool { return t[0] > '1' && notRepeated(t) && verhoeff(t) }

// verhoeff checks the last digit by J. Verhoeff, Error Detecting Decimal Codes (1969).
func verhoeff(t []byte) bool {
	// The dihedral group D5, and the powers of the permutation (1 5 8 9 4 2 7 0)(3 6).
	const group = "0123456789123406789523401789563401289567401239567859876043216598710432765982104387659321049876543210"
	const powers = "01234567891576283094580379614289160435279453126870428657390127938064157046913258"
	sum := 0
	for i := range t {
		d := int(t[len(t)-1-i] - '0')
		sum = int(group[sum*10+int(powers[i%8*10+d]-'0')] - '0')
	}
	return sum == 0
}

// inPAN: the fourth letter is the kind of holder (Income Tax Department).
func inPAN(t []byte) bool { return oneOf("ABCFGHLJPT", upper(t[3])) }

// inPassport: a letter other than Q, X and Z, and no 0 after it.
func inPassport(t []byte) bool { return !oneOf("QXZ", t[0]) && t[1] != '0' }

// inVehicle: the code of a state or union territory, and a number that is not 0000.
func inVehicle(t []byte) bool {
	const states = "AN AP AR AS BH BR CG CH DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG TN TR TS UK UP WB"
	for i := 0; i < len(states); i += 3 {
		if states[i] == t[0] && states[i+1] == t[1] {
			return valueOf(t[len(t)-4:]) != 0
		}
	}
	return false
}

// itDriver: forms of the Italian licence.
func itDriver(t []byte) bool { return t[0] == 'U' || isLetter(t[1]) }

// itFiscal: Decree of 23 December 1976 has values for letters and digits at odd places and at even ones.
func itFiscal(t []byte) bool {
	const odd = "\x01\x00\x05\x07\x09\x0d\x0f\x11\x13\x15\x02\x04\x12\x14\x0b\x03\x06\x08\x0c\x0e\x10\x0a\x16\x19\x18\x17"
	if len(t) != 16 || !oneOf("ABCDEHLMPRST", upper(t[8])) {
		return false
	}
	sum := 0
	for i, b := range t[:15] {
		b = upper(b)
		value := int(b - 'A')
		if isDigit(b) {
			value = int(b - '0')
		}
		if i%2 == 0 {
			value = int(odd[value])
		}
		sum += value
	}
	return byte(sum%26)+'A' == upper(t[15])
}

// itVAT: eleven digits, the last that of Luhn; the office from 001 to 100, or one of a few (DPR 633/1972).
func itVAT(t []byte) bool {
	office := valueOf(t[7:10])
	return luhn(t) && (office >= 1 && office <= 100 || office == 120 || office == 121 || office == 888 || office == 999)
}

func itVATPrefixed(t []byte) bool { return t[0] == 'I' && t[1] == 'T' && itVAT(t[2:]) }

// deaNumber: 21 CFR 1301 numbers have the kind of registrant, the first letter of a name or a 9, and a check digit.
func deaNumber(t []byte) bool {
	if !oneOf("ABCDEFGHJKLMPRSTUX", t[0]) || !isLetter(t[1]) && t[1] != '9' {
		return false
	}
	d := t[2:]
	return (weighted(d, 1, 0, 1, 0, 1)+2*weighted(d, 0, 1, 0, 1, 0, 1))%10 == int(d[6]-'0') && notRepeated(d)
}

// plPESEL: the birthday with the century in the month, and a check digit (Journal of Laws 2010 No. 217).
func plPESEL(t []byte) bool {
	month, day := valueOf(t[2:4])%20, valueOf(t[4:6])
	check := (10 - weighted(t, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10) % 10
	return month >= 1 && month <= 12 && day >= 1 && day <= 31 && check == int(t[10]-'0')
}

// sgNRIC: S and T for citizens, F, G and M for foreigners, weights 2 7 6 5 4 3 2, and a letter of the remainder
// modulo 11.
func sgNRIC(t []byte) bool {
	sum := weighted(t[1:], 2, 7, 6, 5, 4, 3, 2)
	switch t[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == t[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == t[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == t[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == t[8]
	case 'M':
		return "XWUTRQPNJLK"[10-(sum+3)%11] == t[8]
	}
	return false
}

// sgUEN: businesses have eight digits and a letter, companies nine of which the first four are a year (ACRA).
func sgUEN(t []byte) bool {
	const letters = "XMKECAWLJDB"
	if len(t) == 9 {
		return letters[weighted(t, 10, 4, 9, 3, 8, 2, 7, 1)%11] == t[8]
	}
	y := valueOf(t[:4])
	return y > 1900 && y < 2100 && "ZKCMDNERGWH"[weighted(t, 10, 8, 6, 4, 9, 7, 5, 3, 1)%11] == t[9]
}

// sgUENOther: other entities have R, S or T, the year, two letters of their kind, four digits
// and a letter.
func sgUENOther(t []byte) bool {
	const kinds = "CC CD CH CL CM CP CS CX DP FB FC FM FN GA GB GS HS LL LP MB MC MD MH MM MQ NB NR PA PB PF RF RP SM SS TC TU VH XL"
	const alphabet = "ABCDEFGHJKLMNPQRSTUVWX0123456789"
	if t[0] < 'R' || t[0] > 'T' {
		return false
	}
	known := false
	for i := 0; i < len(kinds); i += 3 {
		known = known || kinds[i] == t[3] && kinds[i+1] == t[4]
	}
	sum := 0
	for i, weight := range [9]int{4, 3, 5, 3, 10, 2, 2, 5, 7} {
		value := strings.IndexByte(alphabet, t[i])
		if value < 0 {
			return false
		}
		sum += value * weight
	}
	return known && alphabet[(sum+6)%11] == t[9]
}
