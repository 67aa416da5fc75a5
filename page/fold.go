package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Search ignores case as a regular expression with the flags "iu" does in a
// browser: two characters are equal if simple case folding makes them so. That
// is one character against one ("ß" is not "ss"), so that the report, which
// searches in the browser, and the server find the same.

// appendFold appends s with each character as the one that stands for all that
// are equal to it but for case.
func appendFold(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, foldRune(r))
		i += size
	}
	return dst
}

// foldRune returns the least of the characters that differ from r in case only,
// and a small letter where those of ASCII are among them: the Kelvin sign is a k.
func foldRune(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// needles are the words of a query, folded. Words stand between what a browser
// holds for white space.
func needles(query string) [][]byte {
	var out [][]byte
	for _, w := range strings.FieldsFunc(query, isSpace) {
		out = append(out, appendFold(nil, w))
	}
	return out
}

// isSpace reports what \s matches in a browser: not U+0085, but U+FEFF.
func isSpace(r rune) bool { return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r) }
