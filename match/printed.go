package match

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/qaoa"
)

// printed returns the text that Python's str() makes of v once its json module
// has read it: True, None, [1, 'a'], {'k': 0.5}. The absent value prints as
// None. Some benchmarks compare these texts.
func printed(v qaoa.Value) string {
	if v.Kind == qaoa.String { // the one value that prints without quotes
		return v.Text
	}
	return string(appendPrinted(nil, v))
}

// appendPrinted appends Python's repr() of v.
func appendPrinted(dst []byte, v qaoa.Value) []byte {
	switch v.Kind {
	case qaoa.Bool:
		if v.Text == "true" {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case qaoa.Number:
		return append(dst, printedNumber(v.Text)...)
	case qaoa.String:
		return appendPrintedString(dst, v.Text)
	case qaoa.Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendPrinted(dst, item)
		}
		return append(dst, ']')
	case qaoa.Object:
		dst = append(dst, '{')
		for i, m := range lastOfEach(v.Members) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendPrintedString(dst, m.Name), ": "...)
			dst = appendPrinted(dst, m.Value)
		}
		return append(dst, '}')
	}
	return append(dst, "None"...)
}

// lastOfEach returns members as a Python dict holds them: of a repeated key the
// last value, where the key stood first.
func lastOfEach(members []qaoa.Member) []qaoa.Member {
	at := make(map[string]int, len(members))
	repeated := false
	for i, m := range members {
		if _, ok := at[m.Name]; ok {
			repeated = true
			break
		}
		at[m.Name] = i
	}
	if !repeated {
		return members
	}
	clear(at)
	var out []qaoa.Member
	for _, m := range members {
		if i, ok := at[m.Name]; ok {
			out[i].Value = m.Value
			continue
		}
		at[m.Name] = len(out)
		out = append(out, m)
	}
	return out
}

// isFloat reports whether Python reads the JSON number as a float.
func isFloat(literal string) bool { return strings.ContainsAny(literal, ".eE") }

// printedNumber returns what Python prints for a JSON number: an integer as it
// is, of any length; a float by the shortest digits that read back, plain from
// 0.0001 up to 1e16.
func printedNumber(literal string) string {
	if !isFloat(literal) {
		if literal == "-0" {
			return "0"
		}
		return literal
	}
	f, err := strconv.ParseFloat(literal, 64)
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case err != nil:
		return literal // not JSON
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64) // as Python: 1e-05, 1e+16
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// appendPrintedString appends Python's repr() of a string: in single quotes,
// unless it holds some and no double ones.
func appendPrintedString(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			dst = utf8.AppendRune(dst, r)
		case r <= 0xff:
			dst = appendHex(append(dst, `\x`...), r, 2)
		case r <= 0xffff:
			dst = appendHex(append(dst, `\u`...), r, 4)
		default:
			dst = appendHex(append(dst, `\U`...), r, 8)
		}
	}
	return append(dst, quote)
}

func appendHex(dst []byte, r rune, digits int) []byte {
	for i := 4 * (digits - 1); i >= 0; i -= 4 {
		dst = append(dst, "0123456789abcdef"[r>>i&0xf])
	}
	return dst
}
