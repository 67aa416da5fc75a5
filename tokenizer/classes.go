package tokenizer

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// The classes of characters that patterns speak of, as bits. Each character has
// exactly one of letter, number, space, mark and other; letters and marks also
// have upper, lower or both.
const (
	letter  uint8 = 1 << iota // \p{L}
	number                    // \p{N}
	space                     // \s
	mark                      // \p{M}
	other                     // none of these
	upper                     // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
	lower                     // \p{Ll}\p{Lm}\p{Lo}\p{M}
	newline                   // \r\n, which are spaces too
)

// classes returns the class of every character, one byte each: the scanner
// looks at every character of a corpus, and a search in the tables of package
// unicode would take most of its time. Only the pages in use are touched.
var classes = sync.OnceValue(func() *[unicode.MaxRune + 1]uint8 {
	t := new([unicode.MaxRune + 1]uint8)
	for _, row := range []struct {
		table *unicode.RangeTable
		bits  uint8
	}{
		{unicode.L, letter},
		{unicode.N, number},
		{unicode.M, mark | upper | lower},
		{unicode.White_Space, space},
		{unicode.Lu, upper},
		{unicode.Lt, upper},
		{unicode.Lm, upper | lower},
		{unicode.Lo, upper | lower},
		{unicode.Ll, lower},
	} {
		each(row.table, func(r rune) { t[r] |= row.bits })
	}
	for _, row := range newer {
		for r := row.lo; r <= row.hi; r++ {
			t[r] = row.class
		}
	}
	t['\r'] |= newline
	t['\n'] |= newline
	for r := range t {
		if t[r] == 0 {
			t[r] = other
		}
	}
	return t
})

func each(table *unicode.RangeTable, f func(rune)) {
	for _, r := range table.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
	for _, r := range table.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			f(c)
		}
	}
}

// at returns the class and the width of the character of s at i, which is below
// len(s).
func (p *pattern) at(s string, i int) (class uint8, width int) {
	if c := s[i]; c < utf8.RuneSelf {
		return p.classes[c], 1
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	return p.classes[r], w
}

// run returns the end of the run of characters of the classes in mask that
// begins at i.
func (p *pattern) run(s string, i int, mask uint8) int {
	t := p.classes
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if t[c]&mask == 0 {
				return i
			}
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		if t[r]&mask == 0 {
			return i
		}
		i += w
	}
	return i
}
