package qaoa

import "unicode/utf8"

// EachItem calls f with the text of every item of the JSON array in text, until
// f returns false. It reports whether text is an array, as far as f let it
// look: commas and brackets are checked, but what is inside of an item only
// as far as needed to find its end, so f must check what it gets.
//
// Together with [EachMember] and [Unquote] it reads text in pieces without
// making a tree. Where one of them reports false, [ParseValue] says what is
// wrong.
func EachItem(text string, f func(item string) bool) bool {
	return eachChild(text, '[', func(_, item string) bool { return f(item) })
}

// EachMember calls f with the name and the text of the value of every member of
// the JSON object in text, as [EachItem] does for items.
func EachMember(text string, f func(name, value string) bool) bool {
	return eachChild(text, '{', f)
}

func eachChild(text string, open byte, f func(name, value string) bool) bool {
	p := fast{s: text}
	if p.next() != open {
		return false
	}
	p.i++
	if p.next() == open+2 { // '}' and ']' stand two behind
		p.i++
		p.blanks()
		return p.i == len(text)
	}
	for {
		name := ""
		if open == '{' {
			if p.next() != '"' {
				return false
			}
			var ok bool
			if name, ok = p.str(); !ok || p.next() != ':' {
				return false
			}
			p.i++
		}
		p.blanks()
		start := p.i
		if !p.skip() {
			return false
		}
		if !f(name, text[start:p.i]) {
			return true
		}
		switch c := p.next(); c {
		case ',':
			p.i++
		case open + 2:
			p.i++
			p.blanks()
			return p.i == len(text)
		default:
			return false
		}
	}
}

// skip moves to the end of a value, by brackets and quotes.
func (p *fast) skip() bool {
	depth := 0
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case '"':
			if !p.skipString() {
				return false
			}
		case '{', '[':
			depth++
			p.i++
		case '}', ']':
			depth--
			p.i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return false // a value was wanted
			}
			p.i++
			continue
		default:
			start := p.i
			for p.i < len(p.s) && !ends[p.s[p.i]] {
				p.i++
			}
			if p.i == start {
				return false
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

// ends marks the bytes that a bare word cannot hold.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ':': true, '}': true, ']': true, '{': true, '[': true, '"': true}

// skipString moves behind a string; the next byte is its quote.
func (p *fast) skipString() bool {
	i := p.i + 1
	for {
		i += plainLen(p.s[i:])
		if i >= len(p.s) {
			return false
		}
		switch p.s[i] {
		case '"':
			p.i = i + 1
			return true
		case '\\':
			if i+1 >= len(p.s) {
				return false
			}
			i += 2
		default:
			return false // a control character
		}
	}
}

// Unquote returns the content of the JSON string in text, which has no blanks
// around it, and whether it is one. A string with invalid UTF-8 or a lone
// surrogate is none here.
func Unquote(text string) (string, bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	p := fast{s: text}
	s, ok := p.str()
	return s, ok && p.i == len(text) && utf8.ValidString(s)
}

// AppendUnquoted appends the content of the JSON string in text to dst, as
// [Unquote] does: for those who look at it only for a while.
func AppendUnquoted(dst []byte, text string) ([]byte, bool) {
	if len(text) < 2 || text[0] != '"' || !utf8.ValidString(text) {
		return dst, false
	}
	dst, used, ok := appendUnescaped(dst, text[1:])
	return dst, ok && 1+used == len(text)
}
