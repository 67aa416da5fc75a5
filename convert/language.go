package convert

import (
	"unicode"
	"unicode/utf8"
)

// LanguageL1 reports whether text breaks the language rule L1: it holds a
// letter that is not of the Latin script. Letters are those of the Unicode
// categories L*, so the micro sign (a letter of no script) and Greek count,
// and digits, symbols, dashes and emoji do not.
//
// The rule is applied to everything that a record shows: queries, tools and
// gold calls. It gives the 3,065 conversions of BFCL in the paper's Table 5.
func LanguageL1(text string) bool {
	return containsWide(text, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	})
}

// LanguageL2 reports whether text breaks the language rule L2: it holds a
// letter outside of ASCII, accents included. The rule is meant for the user's
// text only.
func LanguageL2(text string) bool {
	return containsWide(text, unicode.IsLetter)
}

// LanguageCJK reports whether text holds a character of the blocks of Chinese,
// Japanese and Korean writing and punctuation that the published clean-up of
// the training data looks for: U+3000 to U+30FF, U+3130 to U+318F, U+3400 to
// U+4DBF, U+4E00 to U+9FFF, U+AC00 to U+D7AF and U+F900 to U+FAFF.
func LanguageCJK(text string) bool {
	return containsWide(text, func(r rune) bool {
		switch {
		case r < 0x3000 || r > 0xFAFF:
			return false
		case r <= 0x30FF, r >= 0xF900:
			return true
		}
		return 0x3130 <= r && r <= 0x318F ||
			0x3400 <= r && r <= 0x4DBF ||
			0x4E00 <= r && r <= 0x9FFF ||
			0xAC00 <= r && r <= 0xD7AF
	})
}

// containsWide reports whether bad holds for a character of text outside of
// ASCII. Invalid UTF-8 is no character.
func containsWide(text string, bad func(rune) bool) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if (r != utf8.RuneError || n > 1) && bad(r) {
			return true
		}
		i += n
	}
	return false
}
