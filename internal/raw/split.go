package raw

import "bytes"

// A splitter finds where a JSON value ends. It counts brackets outside of
// strings, whatever their kind, and checks nothing else, so text that is no
// JSON ends somewhere too. It holds a counter instead of a stack: no depth of
// nesting is a danger.
//
// The zero splitter waits for the first byte of an object, array or string.
type splitter struct {
	depth int
	inStr bool
	// odd is set if the scanned text ends inside a string with a backslash
	// that escapes the next byte.
	odd bool
	// oneLine is set while the value, were it sound, would stand on one line:
	// a line break inside a string, which JSON forbids, then means that the
	// value is broken and ends with its line.
	oneLine bool
	broken  bool
}

// structural marks the bytes outside of strings that a splitter acts on.
var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true, '\n': true}

// scan reads p and returns how many of its bytes belong to the value, and
// whether the value ends there. If it does not, the value goes on in the next
// piece of text. Once s.broken is set, the value ends before a line break.
func (s *splitter) scan(p []byte) (n int, done bool) {
	i := 0
	for i < len(p) {
		if s.inStr {
			end, closed := s.scanString(p[i:])
			i += end
			if s.broken || closed && s.depth == 0 {
				return i, true
			}
			continue
		}
		for i < len(p) && !structural[p[i]] {
			i++
		}
		if i == len(p) {
			break
		}
		c := p[i]
		i++
		switch c {
		case '"':
			s.inStr = true
		case '{', '[':
			s.depth++
		case '}', ']':
			s.depth--
			if s.depth <= 0 {
				return i, true
			}
		case '\n':
			s.oneLine = false
		}
	}
	return i, false
}

// scanString reads p, which begins inside a string, to the end of the string.
func (s *splitter) scanString(p []byte) (n int, closed bool) {
	i := 0
	if s.odd && len(p) > 0 {
		s.odd = false
		if p[0] != '\n' || !s.oneLine {
			i = 1
		}
	}
	for i < len(p) {
		// Escaped text has a backslash every few bytes and is walked; a long
		// way without any is jumped over.
		for near := min(i+32, len(p)); i < near; {
			switch c := p[i]; {
			case c == '"':
				s.inStr = false
				return i + 1, true
			case c == '\n' && s.oneLine:
				s.broken = true
				return i, false
			case c == '\\':
				if i+1 == len(p) {
					s.odd = true
					return len(p), false
				}
				if p[i+1] == '\n' && s.oneLine {
					i++
					continue
				}
				i += 2
				near = min(i+32, len(p))
			default:
				i++
			}
		}
		if i < len(p) {
			i += s.plain(p[i:])
		}
	}
	return len(p), false
}

// plain returns how many bytes at the beginning of p can be jumped over inside
// a string: none of them ends, escapes or breaks it.
func (s *splitter) plain(p []byte) int {
	n := len(p)
	if quote := bytes.IndexByte(p, '"'); quote >= 0 {
		n = quote
	}
	if slash := bytes.IndexByte(p[:n], '\\'); slash >= 0 {
		n = slash
	}
	if s.oneLine {
		if br := bytes.IndexByte(p[:n], '\n'); br >= 0 {
			n = br
		}
	}
	return n
}

// whole reports whether text is one object or array with blanks around it, as
// far as brackets tell.
func whole(text []byte) bool {
	text = trimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	var s splitter
	n, done := s.scan(text)
	return done && n == len(text)
}

// isSpace reports whether c is a blank of JSON.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// trimSpace returns text without blanks of JSON at its ends.
func trimSpace(text []byte) []byte {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}
