package pii

// The rules of more registers of persons and banks, as those of checks.go.

// birthday reports whether digits are a year, a month and a day, or only the last two if they are six.
func birthday(t []byte) bool {
	month, day := valueOf(t[len(t)-4:len(t)-2]), valueOf(t[len(t)-2:])
	return month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// abaRouting: the American Bankers Association has the district in the first two digits, and weights 3, 7 and 1.
func abaRouting(t []byte) bool {
	d := valueOf(t[:2])
	return (d <= 12 || d >= 21 && d <= 32 || d >= 61 && d <= 72 || d == 80) && weighted(t, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0 && notRepeated(t)
}

// caSIN: Service Canada assigns no number that begins with 0 or 8; the last digit is that of Luhn.
func caSIN(t []byte) bool { return t[0] != '0' && t[0] != '8' && luhn(t) }

// krRRN: the birthday, and a digit from 1 to 8 for century, sex and nationality. Numbers since October 2020 have no check
// digit (Ministry of the Interior and Safety).
func krRRN(t []byte) bool { return birthday(t[:6]) && t[6] >= '1' && t[6] <= '8' && notRepeated(t[6:]) }

// sePersonnummer: the birthday, with 60 added to the day for coordination numbers, and the digit of Luhn over the last
// ten (Skatteverket).
func sePersonnummer(t []byte) bool {
	t = t[len(t)-10:]
	month, day := valueOf(t[2:4]), valueOf(t[4:6])%60
	return month >= 1 && month <= 12 && day >= 1 && day <= 31 && luhn(t)
}

// thTNIN: the Department of Provincial Administration has a check digit modulo 11 with weights 13 to 2.
func thTNIN(t []byte) bool {
	check := (11 - weighted(t, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 10
	return t[0] != '0' && t[0] != '9' && check == int(t[12]-'0') && notRepeated(t)
}

// trNationalID: the tenth digit is that of odd places times 7 less even ones, the eleventh that of the sum of all before
// (Nüfus ve Vatandaşlık İşleri).
func trNationalID(t []byte) bool {
	odd, even := weighted(t, 1, 0, 1, 0, 1, 0, 1, 0, 1), weighted(t, 0, 1, 0, 1, 0, 1, 0, 1)
	tenth := (odd*7 - even + 100) % 10
	return t[0] != '0' && tenth == int(t[9]-'0') && (odd+even+tenth)%10 == int(t[10]-'0')
}

// usNPI: Luhn over the number with 80840 before it, which adds 24 (45 CFR 162.406).
func usNPI(t []byte) bool {
	number := append([]byte("80840"), t...)
	return (t[0] == '1' || t[0] == '2') && luhn(number)
}

// zaID: the birthday, 0 to 2 for citizenship at the eleventh place, and the digit of Luhn (Department of Home Affairs).
func zaID(t []byte) bool { return birthday(t[:6]) && t[10] <= '2' && luhn(t) }

// ukLicenceForms are those of British driving licences: five letters of the name, filled up with nines, and initials, of
// which the second may be a nine.
const ukLicenceForms = "AAAAA999999AA9AA AAAAA999999AAAAA AAAAA999999A99AA AAAAA999999A9AAA AAAA9999999AA9AA AAAA9999999AAAAA AAAA9999999A99AA AAAA9999999A9AAA " +
	"AAA99999999AA9AA AAA99999999AAAAA AAA99999999A99AA AAA99999999A9AAA AA999999999AA9AA AA999999999AAAAA AA999999999A99AA AA999999999A9AAA"

// ukLicence: the month of birth, with 50 added for women, and the day (DVLA).
func ukLicence(t []byte) bool {
	month, day := valueOf(t[6:8]), valueOf(t[8:10])
	filled := true
	for _, b := range t[:5] {
		filled = filled && (isLetter(b) || b == '9')
	}
	return filled && (month >= 1 && month <= 12 || month >= 51 && month <= 62) && day >= 1 && day <= 31
}
