package qaoa

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// A Scanner reads one JSON text from front to back in a single pass, for
// readers that know what members they want. Its methods return false to give
// up: at what is no JSON, and at what is rare in it, as lone surrogates,
// invalid UTF-8, and more than 500 levels of nesting. What it gave up is to be
// read again by [ParseValue], which says what is wrong, if anything is. Where
// everything returned true up to [Scanner.End], the text is valid JSON.
//
// [EachMember] and [EachItem] are simpler, but look at a text once for each
// level of nesting, and leave the checks to others.
type Scanner struct{ p fast }

// NewScanner returns a Scanner at the start of text.
func NewScanner(text string) Scanner { return Scanner{p: fast{s: text}} }

// End reports whether there is nothing left, and all that was passed is valid.
func (s *Scanner) End() bool {
	s.p.blanks()
	return s.p.i == len(s.p.s) && utf8.ValidString(s.p.s)
}

// Members reads an object. It calls f behind the name of each member, and f
// must take the value. A name with an escape in it is given up.
func (s *Scanner) Members(f func(name string) bool) bool {
	return s.children('{', func() bool {
		if s.p.next() != '"' {
			return false
		}
		start := s.p.i + 1
		end := start + plainLen(s.p.s[start:])
		if end >= len(s.p.s) || s.p.s[end] != '"' {
			return false
		}
		name := s.p.s[start:end]
		s.p.i = end + 1
		if s.p.next() != ':' {
			return false
		}
		s.p.i++
		return f(name)
	})
}

// Items reads an array. It calls f before each item, and f must take it.
func (s *Scanner) Items(f func() bool) bool { return s.children('[', f) }

// children reads an object or array; child takes what is between the commas.
func (s *Scanner) children(open byte, child func() bool) bool {
	if s.p.next() != open {
		return false
	}
	s.p.i++
	if s.p.next() == open+2 { // '}' and ']' stand two behind
		s.p.i++
		return true
	}
	for child() {
		c := s.p.next()
		s.p.i++
		if c != ',' {
			return c == open+2
		}
	}
	return false
}

// Skip reads a value of any kind and returns its text.
func (s *Scanner) Skip() (raw string, ok bool) {
	s.p.blanks()
	start := s.p.i
	ok = s.skip(0)
	return s.p.s[start:min(s.p.i, len(s.p.s))], ok
}

func (s *Scanner) skip(depth int) bool {
	if depth >= fastDepth {
		return false
	}
	switch s.p.next() {
	case '"':
		return s.skipString()
	case '{':
		return s.Members(func(string) bool { return s.skip(depth + 1) })
	case '[':
		return s.Items(func() bool { return s.skip(depth + 1) })
	case 't':
		return s.p.word("true")
	case 'f':
		return s.p.word("false")
	case 'n':
		return s.p.word("null")
	}
	n := numberLen(s.p.s[s.p.i:])
	s.p.i += n
	return n > 0
}

// Null takes the value null if it is next, and reports whether it was.
func (s *Scanner) Null() bool { return s.p.next() == 'n' && s.p.word("null") }

// skipString reads a string; the next byte is its quote.
func (s *Scanner) skipString() bool {
	text, i := s.p.s, s.p.i+1
	for {
		i += plainLen(text[i:])
		if i >= len(text) {
			return false
		}
		if text[i] == '"' {
			s.p.i = i + 1
			return true
		}
		n := escapeLen(text[i:])
		if n == 0 {
			return false
		}
		i += n
	}
}

// escapeLen returns the length of the escape at the beginning of s, 0 if there
// is none.
func escapeLen(s string) int {
	if len(s) < 2 || s[0] != '\\' {
		return 0
	}
	if unescape[s[1]] != 0 {
		return 2
	}
	_, n := unicodeEscape(s)
	return n
}

// AppendText reads a string and appends its content to dst.
func (s *Scanner) AppendText(dst []byte) ([]byte, bool) {
	if s.p.next() != '"' {
		return dst, false
	}
	text, i := s.p.s, s.p.i+1
	n := len(dst)
	// A content is never longer than its text, so this is room enough.
	if room := s.Left() + wordSize; cap(dst)-n < room {
		dst = slices.Grow(dst, room)
	}
	out := dst[:cap(dst)]
	for i+wordSize <= len(text) {
		w := load(text[i:])
		m := specials(w)
		if m == 0 {
			k := wordSize + plainLen(text[i+wordSize:])
			copy(out[n:], text[i:i+k])
			n += k
			i += k
			continue
		}
		// All of the word is written, then over each escape what it stands for,
		// and what is behind that once more.
		binary.LittleEndian.PutUint64(out[n:], w)
		done := 0
		for ; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m) / 8
			if k < done { // an escaped quote or backslash
				continue
			}
			n += k - done
			if text[i+k] == '"' {
				s.p.i = i + k + 1
				return out[:n], true
			}
			used := 2
			if c := unescape[text[min(i+k+1, len(text)-1)]]; c != 0 && text[i+k] == '\\' {
				out[n] = c
				n++
			} else if n, used = unescapeTo(out, n, text[i+k:]); used == 0 {
				return dst, false
			}
			if done = k + used; done >= wordSize {
				break
			}
			binary.LittleEndian.PutUint64(out[n:], w>>(8*done))
		}
		n += max(wordSize-done, 0)
		i += max(wordSize, done)
	}
	for i < len(text) {
		c := text[i]
		if c == '"' {
			s.p.i = i + 1
			return out[:n], true
		}
		if plain(c) {
			out[n] = c
			n++
			i++
			continue
		}
		var used int
		if n, used = unescapeTo(out, n, text[i:]); used == 0 {
			return dst, false
		}
		i += used
	}
	return dst, false
}

// unescapeTo writes what the escape at the beginning of s stands for to out[n:]
// and returns the end of that, and the length of the escape, 0 if there is none.
func unescapeTo(out []byte, n int, s string) (end, used int) {
	if len(s) < 2 || s[0] != '\\' {
		return n, 0
	}
	if c := unescape[s[1]]; c != 0 {
		out[n] = c
		return n + 1, 2
	}
	r, used := unicodeEscape(s)
	return len(utf8.AppendRune(out[:n], r)), used
}

// Text reads a string and returns its content, which it appends to arena: many
// texts share one piece of memory.
func (s *Scanner) Text(arena *[]byte) (string, bool) {
	start := len(*arena)
	out, ok := s.AppendText(*arena)
	*arena = out
	return view(out[start:]), ok
}

// Left returns how many bytes of the text are left. An arena with room for
// eight more than that is never moved by [Scanner.Text].
func (s *Scanner) Left() int { return len(s.p.s) - s.p.i }
