package config

import "strings"

// price reads one price. The digits stay those of the file: a price is compared
// and multiplied exactly, so it must not pass through a float.
func (d *decoder) price(f field) (Price, bool) {
	s, ok := d.text(f.value)
	if !ok {
		return Price{}, false
	}
	s = strings.TrimSpace(s)
	switch {
	case strings.HasPrefix(s, "-") && isDecimal(s[1:]):
		d.fail(f.value, "is negative: a price is 0 or more dollars a unit")
	case !isDecimal(s):
		d.fail(f.value, "%s is not a price: write dollars a unit as a decimal number, such as 0.0000025 or 2.5e-06", quote(f.value.text))
	default:
		return Price{f.name, s}, true
	}
	return Price{}, false
}

// isDecimal reports whether s is a decimal number without a sign, with or
// without a fraction and an exponent.
func isDecimal(s string) bool {
	s = strings.ToLower(s)
	mantissa, exponent, scientific := strings.Cut(s, "e")
	if scientific {
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			exponent = exponent[1:]
		}
		if !isDigits(exponent) || len(exponent) > 3 {
			return false
		}
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	return isDigits(whole) && (!point || isDigits(fraction)) && len(mantissa) <= 64
}

// isDigits reports whether s is digits and nothing else.
func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}
