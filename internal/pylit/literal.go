package pylit

import (
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/qaoa"
)

// MaxDepth is how many levels of brackets a literal may have. The outermost
// container is level 1, and parentheses that only group count as well.
const MaxDepth = 200

// maxRadixDigits bounds hexadecimal, octal and binary integers, because their
// conversion to decimal takes more than linear time. Python stops at 4,300
// decimal digits for the same reason.
const maxRadixDigits = 1024

// A SyntaxError is the first place where a text stops being what is wanted.
type SyntaxError struct {
	Offset int    // in bytes, from the start of the text
	Want   string // what could stand there
	Have   string // what stands there, cut to a few characters
}

// Error returns offset, want and have.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not Python at byte %d: want %s, have %s", e.Offset, e.Want, e.Have)
}

// Parse returns the one Python literal in s as a JSON value.
//
//   - A list or tuple is an array; (x) is x, (x,) an array of one, () an empty
//     one. A dict whose keys are all strings is an object with its members in
//     order, repeated ones included. Trailing commas are allowed.
//   - A string stands in single or double quotes, with Python's escapes; an
//     unknown escape keeps its backslash. \N{...}, line breaks and adjacent
//     strings are errors. A pair of \u surrogates is one character; a lone one,
//     like an invalid byte, is U+FFFD.
//   - A number keeps its value exactly and its text as far as JSON can write
//     it: 1_000 is 1000, 1. is 1.0, .5 is 0.5, +1 is 1, 0x1F is 31.
//   - True, False and None, and also true, false and null, are what they say.
//
// Every error is a [*SyntaxError].
func Parse(s string) (qaoa.Value, error) {
	p := parser{s: s}
	v, ok := p.value(0)
	if ok {
		p.blanks()
		if p.i < len(s) {
			p.fail("the end of the text")
			ok = false
		}
	}
	if !ok {
		return qaoa.Value{}, p.err
	}
	return v, nil
}

// A parser reads s from byte i on. Its methods return false once err is set.
type parser struct {
	s   string
	i   int
	err *SyntaxError
}

// fail records that want was wanted at the present place, and returns false.
// The first failure is the one that counts.
func (p *parser) fail(want string) bool {
	if p.err == nil {
		p.err = &SyntaxError{Offset: p.i, Want: want, Have: have(p.s[p.i:])}
	}
	return false
}

// have quotes the start of rest for an error message.
func have(rest string) string {
	const most = 20
	if rest == "" {
		return "the end of the text"
	}
	if len(rest) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(rest[cut]) {
			cut--
		}
		return fmt.Sprintf("%q…", rest[:cut])
	}
	return fmt.Sprintf("%q", rest)
}

// blanks skips what may stand between two tokens.
func (p *parser) blanks() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			p.i++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end. A NUL in the text reads like the
// end, which no caller takes for a token.
func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// take skips c if it is the next byte, and reports whether it was.
func (p *parser) take(c byte) bool {
	if p.peek() != c || p.i >= len(p.s) {
		return false
	}
	p.i++
	return true
}

// value reads one literal inside of depth brackets.
func (p *parser) value(depth int) (qaoa.Value, bool) {
	p.blanks()
	c := p.peek()
	switch {
	case c == '[', c == '(', c == '{':
		if depth >= MaxDepth {
			return qaoa.Value{}, p.fail(fmt.Sprintf("at most %d levels of brackets", MaxDepth))
		}
		p.i++
		switch c {
		case '[':
			return p.list(depth + 1)
		case '(':
			return p.tuple(depth + 1)
		}
		return p.dict(depth + 1)
	case c == '\'', c == '"':
		s, ok := p.str()
		return qaoa.StringValue(s), ok
	case c >= '0' && c <= '9', c == '.', c == '-', c == '+':
		return p.number()
	}
	start := p.i
	switch p.identifier() {
	case "True", "true":
		return qaoa.BoolValue(true), true
	case "False", "false":
		return qaoa.BoolValue(false), true
	case "None", "null":
		return qaoa.NullValue(), true
	}
	p.i = start
	return qaoa.Value{}, p.fail("a literal")
}

// list reads what follows a bracket.
func (p *parser) list(depth int) (qaoa.Value, bool) {
	items, _, ok := p.items(']', depth)
	return qaoa.ArrayValue(items...), ok
}

// tuple reads what follows a parenthesis.
func (p *parser) tuple(depth int) (qaoa.Value, bool) {
	items, comma, ok := p.items(')', depth)
	if ok && len(items) == 1 && !comma {
		return items[0], true
	}
	return qaoa.ArrayValue(items...), ok
}

// items reads literals up to end; comma reports whether one came last.
func (p *parser) items(end byte, depth int) (items []qaoa.Value, comma, ok bool) {
	for {
		p.blanks()
		if p.take(end) {
			return items, comma, true
		}
		if len(items) > 0 && !comma {
			return nil, false, p.fail(fmt.Sprintf("%q or ','", end))
		}
		v, ok := p.value(depth)
		if !ok {
			return nil, false, false
		}
		items = append(items, v)
		p.blanks()
		comma = p.take(',')
	}
}

// dict reads what follows a brace.
func (p *parser) dict(depth int) (qaoa.Value, bool) {
	v := qaoa.ObjectValue()
	for comma := true; ; {
		p.blanks()
		if p.take('}') {
			return v, true
		}
		if !comma {
			return v, p.fail("'}' or ','")
		}
		if c := p.peek(); c != '\'' && c != '"' {
			return v, p.fail("a key in quotes")
		}
		name, ok := p.str()
		if !ok {
			return v, false
		}
		p.blanks()
		if !p.take(':') {
			return v, p.fail("':'")
		}
		item, ok := p.value(depth)
		if !ok {
			return v, false
		}
		v.Members = append(v.Members, qaoa.Member{Name: name, Value: item})
		p.blanks()
		comma = p.take(',')
	}
}

// identifier reads a name, "" if there is none.
func (p *parser) identifier() string {
	start := p.i
	for p.i < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		letter := r == '_' || unicode.IsLetter(r)
		if !letter && (p.i == start || !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)) {
			break
		}
		p.i += n
	}
	return p.s[start:p.i]
}

// number reads a number with its sign.
func (p *parser) number() (qaoa.Value, bool) {
	start := p.i
	var b strings.Builder
	if p.take('-') {
		b.WriteByte('-')
	} else {
		p.take('+')
	}
	p.blanks()
	if p.peek() == '0' && p.i+1 < len(p.s) {
		if base := radix(p.s[p.i+1]); base != 0 {
			p.i += 2
			return p.radixInt(&b, base)
		}
	}
	whole, ok := p.digits()
	if !ok {
		return qaoa.Value{}, p.fail("a number")
	}
	point := p.take('.')
	fraction := ""
	if point {
		if fraction, ok = p.digits(); !ok {
			return qaoa.Value{}, p.fail("a number")
		}
	}
	if whole == "" && fraction == "" {
		p.i = start
		return qaoa.Value{}, p.fail("a number")
	}
	exponent, ok := p.exponent()
	if !ok {
		return qaoa.Value{}, p.fail("digits of an exponent")
	}
	trimmed := strings.TrimLeft(whole, "0")
	if trimmed != "" && len(trimmed) < len(whole) && !point && exponent == "" {
		p.i = start
		return qaoa.Value{}, p.fail("an integer without leading zeros")
	}
	if trimmed == "" {
		trimmed = "0"
	}
	b.WriteString(trimmed)
	if point {
		b.WriteByte('.')
		b.WriteString(fraction)
		if fraction == "" {
			b.WriteByte('0')
		}
	}
	b.WriteString(exponent)
	return p.numberEnd(b.String())
}

// numberEnd returns the number text, unless it runs on into a name or number.
func (p *parser) numberEnd(text string) (qaoa.Value, bool) {
	end := p.i
	if p.identifier() != "" || p.peek() == '.' || p.peek() >= '0' && p.peek() <= '9' {
		p.i = end
		return qaoa.Value{}, p.fail("the end of the number")
	}
	return qaoa.NumberValue(text), true
}

// digits reads decimal digits, which single underscores may separate, and
// returns them without. It fails on an underscore that stands elsewhere.
func (p *parser) digits() (string, bool) {
	start := p.i
	under := false
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c == '_' {
			if p.i == start || p.s[p.i-1] == '_' {
				return "", false
			}
			under = true
		} else if c < '0' || c > '9' {
			break
		}
		p.i++
	}
	text := p.s[start:p.i]
	if !under {
		return text, true
	}
	return strings.ReplaceAll(text, "_", ""), !strings.HasSuffix(text, "_")
}

// exponent reads an exponent, "" if there is none.
func (p *parser) exponent() (string, bool) {
	c := p.peek()
	if c != 'e' && c != 'E' {
		return "", true
	}
	p.i++
	text := string(c)
	if s := p.peek(); s == '+' || s == '-' {
		p.i++
		text += string(s)
	}
	d, ok := p.digits()
	return text + d, ok && d != ""
}

// radix returns the base that the letter after a zero stands for, or 0.
func radix(c byte) int {
	switch c {
	case 'x', 'X':
		return 16
	case 'o', 'O':
		return 8
	case 'b', 'B':
		return 2
	}
	return 0
}

// radixInt reads the digits after 0x, 0o or 0b, and writes them in decimal
// after the sign in b.
func (p *parser) radixInt(b *strings.Builder, base int) (qaoa.Value, bool) {
	start := p.i
	var digits strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '_' && p.i+1 < len(p.s) && hexDigit(p.s[p.i+1]) < base:
		case hexDigit(c) < base:
			digits.WriteByte(c)
		default:
			c = 0
		}
		if c == 0 {
			break
		}
		if digits.Len() > maxRadixDigits {
			p.i = start
			return qaoa.Value{}, p.fail(fmt.Sprintf("at most %d digits", maxRadixDigits))
		}
		p.i++
	}
	n, ok := new(big.Int).SetString(digits.String(), base)
	if !ok {
		return qaoa.Value{}, p.fail(fmt.Sprintf("digits of base %d", base))
	}
	b.WriteString(n.String())
	return p.numberEnd(b.String())
}

// hexDigit returns the value of c as a digit, 99 if it is none.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}
