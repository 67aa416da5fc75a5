package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// text is str(v): what is printed.
func (r *renderer) text(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case undefined:
		return ""
	case *List, *Dict:
		var b strings.Builder
		r.appendRepr(&b, v, 0)
		return b.String()
	}
	return r.repr(v)
}

// repr is Python's repr(v).
func (r *renderer) repr(v Value) string {
	var b strings.Builder
	r.appendRepr(&b, v, 0)
	return b.String()
}

// maxValueDepth is how deep a value may nest that is printed.
const maxValueDepth = 10_000

func (r *renderer) appendRepr(b *strings.Builder, v Value, depth int) {
	r.step()
	if depth > maxValueDepth {
		r.failf("a value nests more than %d deep", maxValueDepth)
	}
	before := b.Len()
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case BigInt:
		b.WriteString(string(v))
	case float64:
		b.WriteString(FormatFloat(v))
	case string:
		appendReprText(b, v)
	case undefined:
		b.WriteString("Undefined")
	case *List:
		r.reprList(b, v, depth)
		return
	case *Dict:
		b.WriteString(v.Before)
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			r.appendRepr(b, k, depth+1)
			b.WriteString(": ")
			r.appendRepr(b, v.values[i], depth+1)
		}
		b.WriteByte('}')
		b.WriteString(v.After)
		return
	default:
		fmt.Fprintf(b, "<%s>", typeName(v))
	}
	r.grow(b.Len() - before)
}

func (r *renderer) reprList(b *strings.Builder, l *List, depth int) {
	open, end := "[", "]"
	if l.tuple {
		open, end = "(", ")"
	}
	b.WriteString(l.Before + open)
	for i, item := range l.Items {
		if i > 0 {
			b.WriteString(", ")
		}
		r.appendRepr(b, item, depth+1)
	}
	if l.tuple && len(l.Items) == 1 {
		b.WriteByte(',')
	}
	b.WriteString(end + l.After)
}

// FormatFloat returns f as Python's repr prints it: 1.0, 1e+16, nan.
func FormatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// appendReprText writes s in quotes as Python does: single ones, unless it
// holds these and no double ones.
func appendReprText(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c) || unicode.Is(unicode.Co, c) && c >= 0xF0000:
			b.WriteRune(c) // the highest private characters are marks of the caller
		case c < 0x100:
			fmt.Fprintf(b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			fmt.Fprintf(b, `\U%08x`, c)
		}
	}
	b.WriteRune(quote)
}
