package splice

import "strconv"

// integer returns the exact value of a JSON number that is an integer in any notation (16,
// 16.0, 1.6e1), clamped to ±ceiling. It reports false for anything else.
func integer(raw []byte, ceiling int64) (int64, bool) {
	if len(raw) == 0 || raw[0] != '-' && raw[0]-'0' > 9 {
		return 0, false
	}
	negative := raw[0] == '-'
	if negative {
		raw = raw[1:]
	}
	digits, point, exponent := decompose(raw)
	// The value is 0.d1d2d3… times ten to the power of whole.
	whole := point + exponent
	var v int64
	last := 0 // digits up to the last nonzero one
	n := 0
	for _, c := range digits {
		if c == '.' {
			continue
		}
		n++
		if c != '0' {
			last = n
		}
		if n <= whole && v <= ceiling {
			v = v*10 + int64(c-'0')
		}
	}
	if last > whole {
		return 0, false
	}
	for ; v > 0 && v <= ceiling && n < whole; n++ {
		v *= 10
	}
	if v = min(v, ceiling); negative {
		v = -v
	}
	return v, true
}

// decompose splits an unsigned number into its digits, possibly with a point, the number of
// digits before the point, and the exponent.
func decompose(raw []byte) (digits []byte, point, exponent int) {
	digits, point = raw, -1
	for i, c := range raw {
		switch c {
		case '.':
			point = i
		case 'e', 'E':
			digits = raw[:i]
			exponent = power(raw[i+1:])
		default:
			continue
		}
		if c != '.' {
			break
		}
	}
	if point < 0 {
		point = len(digits)
	}
	return digits, point, exponent
}

// power reads an exponent, clamped so that it cannot overflow.
func power(raw []byte) int {
	const huge = 1 << 40
	sign := 1
	switch raw[0] {
	case '-':
		sign, raw = -1, raw[1:]
	case '+':
		raw = raw[1:]
	}
	v := 0
	for _, c := range raw {
		v = min(v*10+int(c-'0'), huge)
	}
	return sign * v
}

// within reports whether the JSON number raw is from 0 to high.
func within(raw []byte, high float64) bool {
	v, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && 0 <= v && v <= high
}
