package match

import (
	"strconv"
	"strings"
)

const (
	// maxExponentDigits is how many digits an exponent may have as written. So
	// many always fit an int64, with room for the digits before it.
	maxExponentDigits = 18
	// maxPlaces is up to how many digits a number is spelled out plainly.
	maxPlaces = 400
)

// numberText returns the canonical text of the number that s is, and whether
// it is one: a sign or none; digits, or groups of three with commas; a
// fraction or none, where one side of the point may be empty; an exponent or
// none. Digits are 0-9, and leading zeros mean nothing.
//
// The value is exact, and equal values have equal texts: 1, 1.0 and 1e0 are
// "1", -0 is "0". A value of up to 400 digits is written plainly ("0.25"),
// any other as its significant digits and a power of ten ("1e500"). With more
// than 18 digits of exponent s is not a number.
func numberText(s string) (string, bool) {
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	whole, s, ok := wholePart(s)
	if !ok {
		return "", false
	}
	fraction := ""
	if s != "" && s[0] == '.' {
		n := digitRun(s[1:])
		fraction, s = s[1:1+n], s[1+n:]
	}
	if whole == "" && fraction == "" {
		return "", false
	}
	exp, ok := exponent(s)
	if !ok {
		return "", false
	}
	// The value is whole·fraction as one row of digits, times 10^exp.
	digits := whole + fraction
	exp -= int64(len(fraction))
	digits = strings.TrimLeft(digits, "0")
	n := len(digits)
	digits = strings.TrimRight(digits, "0")
	exp += int64(n - len(digits))
	return decimalText(neg, digits, exp), true
}

// wholePart returns the digits before the point, without their commas, and
// what follows them.
func wholePart(s string) (digits, rest string, ok bool) {
	n := digitRun(s)
	if n == len(s) || s[n] != ',' {
		return s[:n], s[n:], true
	}
	if n == 0 || n > 3 || s[0] == '0' {
		return "", "", false
	}
	end := n
	for end < len(s) && s[end] == ',' {
		if digitRun(s[end+1:]) != 3 {
			return "", "", false
		}
		end += 4
	}
	return strings.ReplaceAll(s[:end], ",", ""), s[end:], true
}

// exponent reads the rest of a number: nothing, or e, a sign or none, digits.
func exponent(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	digits := strings.TrimPrefix(s, "+")
	if len(digits) == len(s) {
		digits = strings.TrimPrefix(s, "-")
	}
	n := digitRun(digits)
	if n == 0 || n != len(digits) || n > maxExponentDigits {
		return 0, false
	}
	exp, err := strconv.ParseInt(s, 10, 64)
	return exp, err == nil
}

// decimalText writes ±digits·10^exp, where digits has no zero at its ends.
func decimalText(neg bool, digits string, exp int64) string {
	if digits == "" {
		return "0"
	}
	sign := ""
	if neg {
		sign = "-"
	}
	n := int64(len(digits))
	switch {
	case exp >= 0 && exp <= maxPlaces-n:
		return sign + digits + strings.Repeat("0", int(exp))
	case exp < 0 && n > -exp && n <= maxPlaces:
		return sign + digits[:n+exp] + "." + digits[n+exp:]
	case exp < 0 && n <= -exp && -exp <= maxPlaces:
		return sign + "0." + strings.Repeat("0", int(-exp-n)) + digits
	}
	return sign + digits + "e" + strconv.FormatInt(exp, 10)
}

// digitRun returns how many bytes at the start of s are 0-9.
func digitRun(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}
