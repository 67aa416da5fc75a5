package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalize returns s in the form of the tokenizer.
func (t *Tokenizer) normalize(s string) string {
	if !t.nfc || below0300(s) || norm.NFC.IsNormalString(s) {
		return s
	}
	// Text that x/text finds composed is composed by older tables too: they
	// move and join fewer characters. Text that is not may come out otherwise.
	if longestMarks(s) > 30 || strings.ContainsFunc(s, late) {
		return composeAll(s)
	}
	return norm.NFC.String(s)
}

// late reports whether r is newer than the tables of the library.
func late(r rune) bool {
	return r == lateVowel || r == lateVowel-3 || unicode.Is(lateMarks, r)
}

// below0300 reports whether all characters of s are below U+0300, where text is
// always in form NFC.
func below0300(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xCC {
			return false
		}
	}
	return true
}

// longestMarks returns the length of the longest run of combining characters of
// s after decomposition. Package norm keeps to the Stream-Safe Text Format: it
// puts a joiner (U+034F) after 30 of them, which others do not.
func longestMarks(s string) int {
	longest, n := 0, 0
	for i := 0; i < len(s); {
		p := norm.NFD.PropertiesString(s[i:])
		parts := 1
		starts := p.CCC() == 0
		if d := p.Decomposition(); d != nil {
			parts = utf8.RuneCount(d)
			starts = norm.NFD.Properties(d).CCC() == 0
		}
		if starts {
			n = parts - 1
		} else {
			n += parts
		}
		longest = max(longest, n)
		i += max(p.Size(), 1)
	}
	return longest
}

// composeAll is form NFC without a limit, by the tables of the library:
// decompose, order the marks, compose (The Unicode Standard, section 3.11).
func composeAll(s string) string {
	type char struct {
		r   rune
		ccc uint8
	}
	var chars []char
	for _, r := range s {
		if late(r) {
			chars = append(chars, char{r, 0})
			continue
		}
		for _, d := range norm.NFD.String(string(r)) {
			chars = append(chars, char{d, norm.NFD.PropertiesString(string(d)).CCC()})
		}
	}
	for i := 0; i < len(chars); {
		if chars[i].ccc == 0 {
			i++
			continue
		}
		end := i
		for end < len(chars) && chars[end].ccc != 0 {
			end++
		}
		slices.SortStableFunc(chars[i:end], func(a, b char) int { return int(a.ccc) - int(b.ccc) })
		i = end
	}
	out := make([]rune, 0, len(chars))
	starter, last := -1, uint8(0) // place of the last starter in out, class of the last character after it
	for _, c := range chars {
		if starter >= 0 && (last < c.ccc || len(out) == starter+1) {
			if r, ok := compose(out[starter], c.r); ok {
				out[starter] = r
				continue
			}
		}
		if c.ccc == 0 {
			starter, last = len(out), 0
		} else {
			last = c.ccc
		}
		out = append(out, c.r)
	}
	return string(out)
}

// compose returns the one character that a and b make.
func compose(a, b rune) (rune, bool) {
	s := norm.NFC.String(string([]rune{a, b}))
	r, w := utf8.DecodeRuneInString(s)
	return r, w == len(s) && r != lateVowel
}
