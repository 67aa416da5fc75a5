package qaoa

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// The fast path reads what nearly all JSON texts are: valid UTF-8, sound, and
// nested less than fastDepth. At anything else it gives up, and the JSON library
// reads the text again from the start: that one decides what is wrong, and what
// becomes of lone surrogates and invalid bytes. So the fast path never has an
// opinion of its own, only the same result in a fraction of the time.

// fastDepth is how deep the fast path nests, which it does by recursion.
const fastDepth = 500

// A fast reads s from byte i on. Its methods return false to give up.
type fast struct {
	s string
	i int
	// Children of the containers that are being read. Each container takes
	// its own off the end, so that one slice of the right length is made.
	items   []Value
	members []Member
}

// parseFast returns the one value in s.
func parseFast(s string) (Value, bool) {
	if !utf8.ValidString(s) {
		return Value{}, false
	}
	p := fast{s: s}
	v, ok := p.value(0)
	if !ok {
		return Value{}, false
	}
	p.blanks()
	return v, p.i == len(s)
}

// view returns b as a string without a copy. Nobody may write to b any more.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// blanks skips blanks.
func (p *fast) blanks() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\n', '\r', '\t':
			p.i++
		default:
			return
		}
	}
}

// next skips blanks and returns the byte that follows, 0 at the end. A NUL in
// the text is no token either.
func (p *fast) next() byte {
	p.blanks()
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// value reads one value inside of depth containers.
func (p *fast) value(depth int) (Value, bool) {
	switch c := p.next(); c {
	case '"':
		s, ok := p.str()
		return Value{Kind: String, Text: s}, ok
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case 't':
		return Value{Kind: Bool, Text: "true"}, p.word("true")
	case 'f':
		return Value{Kind: Bool, Text: "false"}, p.word("false")
	case 'n':
		return Value{Kind: Null, Text: "null"}, p.word("null")
	}
	start := p.i
	n := numberLen(p.s[start:])
	p.i += n
	return Value{Kind: Number, Text: p.s[start:p.i]}, n > 0
}

// word reads w.
func (p *fast) word(w string) bool {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return false
	}
	p.i += len(w)
	return true
}

// array reads an array; the next byte is its bracket.
func (p *fast) array(depth int) (Value, bool) {
	if depth >= fastDepth {
		return Value{}, false
	}
	p.i++
	v := Value{Kind: Array}
	if p.next() == ']' {
		p.i++
		return v, true
	}
	base := len(p.items)
	for {
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		p.items = append(p.items, item)
		c := p.next()
		p.i++
		if c == ',' {
			continue
		}
		if c != ']' {
			return v, false
		}
		v.Items = append([]Value(nil), p.items[base:]...)
		p.items = p.items[:base]
		return v, true
	}
}

// object reads an object; the next byte is its brace.
func (p *fast) object(depth int) (Value, bool) {
	if depth >= fastDepth {
		return Value{}, false
	}
	p.i++
	v := Value{Kind: Object}
	if p.next() == '}' {
		p.i++
		return v, true
	}
	base := len(p.members)
	for {
		if p.next() != '"' {
			return v, false
		}
		name, ok := p.str()
		if !ok || p.next() != ':' {
			return v, false
		}
		p.i++
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		p.members = append(p.members, Member{Name: name, Value: item})
		c := p.next()
		p.i++
		if c == ',' {
			continue
		}
		if c != '}' {
			return v, false
		}
		v.Members = append([]Member(nil), p.members[base:]...)
		p.members = p.members[:base]
		return v, true
	}
}

// str reads a string; the next byte is its quote. A string without escapes is
// a piece of the text.
func (p *fast) str() (string, bool) {
	start := p.i + 1
	n := plainLen(p.s[start:])
	end := start + n
	if end >= len(p.s) {
		return "", false
	}
	if p.s[end] == '"' {
		p.i = end + 1
		return p.s[start:end], true
	}
	// A string that is all of the text, as Unquote has it, fits; another one
	// is mostly short.
	size := len(p.s) - start
	if size > 4*n+64 && start > 1 {
		size = n + n/2 + 32
	}
	out, used, ok := appendUnescaped(append(make([]byte, 0, size+8), p.s[start:end]...), p.s[end:])
	p.i = end + used
	return view(out), ok
}

// appendUnescaped appends the content of a string, whose text behind the opening
// quote is s, to dst. It returns how many bytes it read, the closing quote
// included.
//
// Escaped text has an escape every few bytes. So words are copied before it is
// known how much of them is plain, and what was too much is overwritten.
func appendUnescaped(dst []byte, s string) (out []byte, used int, ok bool) {
	buf, i, j := dst[:cap(dst)], 0, len(dst)
	for i < len(s) {
		if j+16 > len(buf) {
			buf = widen(buf, j)
		}
		if i+16 <= len(s) {
			n := copy16(buf[j:], s[i:])
			i += n
			j += n
			if n == 16 {
				continue
			}
		}
		switch c := s[i]; {
		case c == '"':
			return buf[:j], i + 1, true
		case c < ' ':
			return buf[:j], i, false
		case c != '\\':
			buf[j] = c
			i++
			j++
		case i+1 >= len(s):
			return buf[:j], i, false
		default:
			if c := unescape[s[i+1]]; c != 0 {
				buf[j] = c
				i += 2
				j++
				continue
			}
			r, n := unicodeEscape(s[i:])
			if n == 0 {
				return buf[:j], i, false
			}
			buf = utf8.AppendRune(buf[:j], r)
			i += n
			j = len(buf)
			buf = buf[:cap(buf)]
		}
	}
	return buf[:j], i, false
}

// copy16 copies 16 bytes and returns how many of them are plain, as [plainLen]
// has it. Both words are looked at without a jump between them, since where the
// first special byte is cannot be foretold.
func copy16(dst []byte, s string) int {
	_, _ = dst[15], s[15]
	first, second := load(s), load(s[8:])
	binary.LittleEndian.PutUint64(dst, first)
	binary.LittleEndian.PutUint64(dst[8:], second)
	n := bits.TrailingZeros64(special(first)) >> 3 // 8 if there is none
	return n + bits.TrailingZeros64(special(second))>>3&-(n>>3)
}

// widen returns buf, of which the first n bytes matter, with room for at least
// 64 more behind them.
func widen(buf []byte, n int) []byte {
	buf = slices.Grow(buf[:n], 64)
	return buf[:cap(buf)]
}

// unescape maps the letter of a short escape to what it stands for.
var unescape = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicodeEscape returns the character that the escape \uXXXX at the start of s
// stands for, or the pair of surrogates there, and its length; 0 if there is
// none.
func unicodeEscape(s string) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(s[6:])
	if !ok {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	r := rune(0)
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainLen returns how many bytes at the beginning of s are neither a quote, a
// backslash nor a control character.
func plainLen(s string) int {
	i := 0
	for ; i+16 <= len(s); i += 16 { // two words for one jump
		q := s[i : i+16]
		first, second := special(load(q)), special(load(q[8:]))
		if first|second != 0 {
			if first != 0 {
				return i + bits.TrailingZeros64(first)/8
			}
			return i + 8 + bits.TrailingZeros64(second)/8
		}
	}
	if i+8 <= len(s) {
		if m := special(load(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// load returns the first eight bytes of s, the first one lowest.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// special sets the high bit of each byte of w that is a quote, a backslash or a
// control character. Bytes after the first of these may be marked too.
//
// With its second bit turned over, a byte is below '!' only if it was a control
// character or the quote. A subtraction sets the high bit of a byte that is too
// small, and borrows only then, which marks nothing before that byte. Bytes
// that are not ASCII had the high bit before.
func special(w uint64) uint64 {
	low := (w ^ ones*2) - ones*'!'
	slash := (w ^ ones*'\\') - ones
	return (low | slash) &^ w & highs
}

// numberLen returns the length of the number at the beginning of s, 0 if there
// is none.
func numberLen(s string) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// compactFast appends the one value in s in the project's form to dst.
func compactFast(dst []byte, s string) ([]byte, bool) {
	if !utf8.ValidString(s) {
		return dst, false
	}
	p := fast{s: s}
	dst, ok := p.compact(dst)
	return dst, ok && p.next() == 0 && p.i == len(s)
}

// compact appends the value that comes next in the project's form to dst.
func (p *fast) compact(dst []byte) ([]byte, bool) {
	switch c := p.next(); c {
	case '{', '[':
		return p.compactContainer(dst)
	default:
		return p.compactScalar(dst, c)
	}
}

// compactScalar appends a string, number or word, which begins with c.
func (p *fast) compactScalar(dst []byte, c byte) ([]byte, bool) {
	switch c {
	case '"':
		return p.copyString(dst)
	case 't':
		return append(dst, "true"...), p.word("true")
	case 'f':
		return append(dst, "false"...), p.word("false")
	case 'n':
		return append(dst, "null"...), p.word("null")
	}
	start := p.i
	n := numberLen(p.s[start:])
	p.i += n
	return append(dst, p.s[start:p.i]...), n > 0
}

// compactContainer appends an object or array. It is a parser without
// recursion: its state are the open containers, and what may come next.
func (p *fast) compactContainer(dst []byte) ([]byte, bool) {
	var stack [fastDepth]byte
	depth := 0
	var ok bool
	for {
		// A value, or the end of an empty container.
		c := p.next()
		if c == '{' || c == '[' {
			if depth == fastDepth {
				return dst, false
			}
			dst = append(dst, c)
			p.i++
			if end := p.next(); end != c+2 { // '}' and ']' stand two behind
				stack[depth] = c
				depth++
				if c == '{' {
					if dst, ok = p.key(dst); !ok {
						return dst, false
					}
				}
				continue
			}
			dst = append(dst, c+2)
			p.i++
		} else if dst, ok = p.compactScalar(dst, c); !ok {
			return dst, false
		}
		// What follows a value.
		for {
			if depth == 0 {
				return dst, true
			}
			open := stack[depth-1]
			c = p.next()
			if c == open+2 {
				p.i++
				depth--
				dst = append(dst, c)
				continue
			}
			if c != ',' {
				return dst, false
			}
			p.i++
			dst = append(dst, ',')
			if open == '{' {
				if dst, ok = p.key(dst); !ok {
					return dst, false
				}
			}
			break
		}
	}
}

// key copies the name of a member and its colon to dst.
func (p *fast) key(dst []byte) ([]byte, bool) {
	if p.next() != '"' {
		return dst, false
	}
	dst, ok := p.copyString(dst)
	if !ok || p.next() != ':' {
		return dst, false
	}
	p.i++
	return append(dst, ':'), true
}

// copyString copies a string to dst in the project's form; the next byte is its
// quote. See [appendUnescaped] for how it copies.
func (p *fast) copyString(dst []byte) ([]byte, bool) {
	s := p.s
	buf, i, j := dst[:cap(dst)], p.i+1, len(dst)
	if j+8 > len(buf) {
		buf = widen(buf, j)
	}
	buf[j] = '"'
	j++
	for i < len(s) {
		if j+16 > len(buf) {
			buf = widen(buf, j)
		}
		if i+16 <= len(s) {
			n := copy16(buf[j:], s[i:])
			i += n
			j += n
			if n == 16 {
				continue
			}
		}
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			buf[j] = c
			i++
			j++
			continue
		}
		if c == '"' {
			p.i = i + 1
			return append(buf[:j], '"'), true
		}
		if c != '\\' || i+1 >= len(s) {
			return buf[:j], false
		}
		buf = buf[:j]
		switch e := s[i+1]; e {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			buf = append(buf, '\\', e)
			i += 2
		case '/':
			buf = append(buf, '/')
			i += 2
		default:
			r, n := unicodeEscape(s[i:])
			if n == 0 {
				return buf, false
			}
			if r < ' ' || r == '"' || r == '\\' {
				buf = appendEscape(buf, byte(r))
			} else {
				buf = utf8.AppendRune(buf, r)
			}
			i += n
		}
		j = len(buf)
		buf = buf[:cap(buf)]
	}
	return buf[:j], false
}
