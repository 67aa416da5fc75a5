package pylit

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string; the next byte is its quote.
func (p *parser) str() (string, bool) {
	quote := p.s[p.i]
	p.i++
	// Most strings have no escape: they are a piece of the text.
	for j := p.i; j < len(p.s); j++ {
		c := p.s[j]
		if c == quote {
			text := p.s[p.i:j]
			if !utf8.ValidString(text) {
				break
			}
			p.i = j + 1
			return text, true
		}
		if c == '\\' || c == '\n' || c == '\r' {
			break
		}
	}
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == quote:
			p.i++
			return b.String(), true
		case c == '\n' || c == '\r':
			return "", p.fail("a closing quote before the line ends")
		case c == '\\':
			if !p.escape(&b) {
				return "", false
			}
		case c < utf8.RuneSelf:
			b.WriteByte(c)
			p.i++
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.i:])
			b.WriteRune(r) // an invalid byte is U+FFFD
			p.i += n
		}
	}
	return "", p.fail("a closing quote")
}

// simpleEscapes maps the letter after a backslash to what it stands for.
var simpleEscapes = [256]byte{
	'\\': '\\', '\'': '\'', '"': '"',
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
}

// escape reads an escape sequence; the next byte is its backslash.
func (p *parser) escape(b *strings.Builder) bool {
	p.i++
	c := p.peek()
	if s := simpleEscapes[c]; s != 0 {
		b.WriteByte(s)
		p.i++
		return true
	}
	switch {
	case c == 'x':
		r, ok := p.hex(2)
		b.WriteRune(r)
		return ok
	case c == 'u':
		r, ok := p.hex(4)
		if ok && utf16.IsSurrogate(r) {
			r = p.surrogate(r)
		}
		b.WriteRune(r)
		return ok
	case c == 'U':
		start := p.i
		r, ok := p.hex(8)
		if ok && (r < 0 || r > utf8.MaxRune) {
			p.i = start
			return p.fail("a code point up to U+10FFFF")
		}
		b.WriteRune(r) // a surrogate is U+FFFD
		return ok
	case c == 'N':
		return p.fail(`a character written out, since \N is not read`)
	case c >= '0' && c <= '7':
		r := rune(0)
		for n := 0; n < 3 && p.peek() >= '0' && p.peek() <= '7'; n++ {
			r = r<<3 | rune(p.peek()-'0')
			p.i++
		}
		b.WriteRune(r)
		return true
	}
	b.WriteByte('\\') // the next character is read as any other
	return true
}

// hex reads the letter of an escape and n hexadecimal digits.
func (p *parser) hex(n int) (rune, bool) {
	p.i++
	r := rune(0)
	for range n {
		d := hexDigit(p.peek())
		if d > 15 {
			return 0, p.fail("a hexadecimal digit")
		}
		r = r<<4 | rune(d)
		p.i++
	}
	return r, true
}

// surrogate returns the character that high makes with a low surrogate that
// follows as another escape, or U+FFFD. Python would keep two halves, which no
// JSON text can hold; those who write such pairs mean the character.
func (p *parser) surrogate(high rune) rune {
	start := p.i
	if strings.HasPrefix(p.s[p.i:], `\u`) && len(p.s)-p.i >= 6 {
		low := rune(0)
		for _, c := range []byte(p.s[p.i+2 : p.i+6]) {
			d := hexDigit(c)
			if d > 15 {
				return utf8.RuneError
			}
			low = low<<4 | rune(d)
		}
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			p.i = start + 6
			return r
		}
	}
	return utf8.RuneError
}
