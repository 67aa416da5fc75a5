package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Name returns the form in which tool names are compared: NFKC, full case
// folding, letters and marks only, so that uber.ride, uber_ride and UberRide2
// are one name (UniToolCall, section B.2). A name without letters is its
// NFKC, folded self. The form is not normalised again after folding.
//
// Names that differ in digits only become equal; [NameCollisions] finds them.
func Name(s string) string {
	s = fold(nfkc(s))
	letters := false
	kept := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			letters = true
			return r
		}
		if unicode.IsMark(r) {
			return r
		}
		return -1
	}, s)
	if !letters {
		return s
	}
	return kept
}

// form returns the form of a tool name under the rule.
func (r NameRule) form(name string) string {
	switch r {
	case NameDots:
		return strings.ReplaceAll(name, ".", "_")
	case NameExact:
		return name
	}
	return Name(name)
}

// form returns the form of an argument key under the rule.
func (r KeyRule) form(key string) string {
	if r == KeyExact {
		return key
	}
	return textForm(refold(prepare(key)), false)
}

// form returns the form of a string that is nothing but text.
func (r TextRule) form(s string) string {
	switch r {
	case TextTrimmed:
		return strings.TrimSpace(norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD")))
	case TextMarks:
		return withoutMarks(s)
	case TextExact:
		return s
	}
	return textForm(refold(prepare(s)), true)
}

// withoutMarks returns s in lower case, without blanks (U+0020 only) and the
// characters , . / - _ * ^, and with double quotes for single ones.
func withoutMarks(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', ',', '.', '/', '-', '_', '*', '^':
			return -1
		}
		return r
	}, s)
	return strings.ReplaceAll(strings.ToLower(s), "'", `"`)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nfkc returns s in NFKC, with invalid UTF-8 as U+FFFD.
func nfkc(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD"))
}

// fold returns s with full case folding: ß becomes ss.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		// The library swaps the two cases of Cherokee letters, which fold to
		// their capitals.
		if r >= firstCherokee && unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(s))
}

const firstCherokee = '\u13a0'

// refold returns the folded form of a prepared string that text and keys
// start from. Folding can undo NFKC, so it is applied again.
func refold(prepared string) string { return nfkc(fold(prepared)) }

// prepare returns s as every rule about strings sees it: NFKC, the minus sign
// U+2212 as a hyphen-minus, without format characters (category Cf) and
// variation selectors, trimmed of white space.
func prepare(s string) string {
	if !isASCII(s) {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == '\u2212':
				return '-'
			case r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Variation_Selector):
				return -1
			}
			return r
		}, nfkc(s))
	}
	return strings.TrimSpace(s) // its notion of space is White_Space
}

// textForm returns the canonical text of a folded string (UniToolCall,
// section B.2, sharpened so that signs and decimals survive): in each word
// every character of the categories P and S is deleted, except
//
//   - a full stop, slash or colon between two digits,
//   - a leading hyphen-minus directly before a digit,
//   - < > = + # % anywhere,
//
// where digits are of category Nd, and what stands around a character is the
// word as written. Then, if articles is set, a word that is now a, an or the
// is dropped if the next word, as written, begins with a letter or a digit.
// The words are joined without blanks. If no letter, number or mark is left,
// the result is the whole folded string instead, so that "-", "+" and ""
// differ.
func textForm(folded string, articles bool) string {
	out := make([]byte, 0, len(folded))
	for start, end := nextWord(folded, 0); start < end; {
		word := len(out)
		out = appendWord(out, folded[start:end])
		start, end = nextWord(folded, end)
		if articles && start < end && isArticle(out[word:]) {
			if r, _ := utf8.DecodeRuneInString(folded[start:]); unicode.IsLetter(r) || unicode.IsDigit(r) {
				out = out[:word]
			}
		}
	}
	if !hasSubstance(out) {
		return folded
	}
	return string(out)
}

// nextWord returns where the first word of s at or after i starts and ends;
// the two are equal if there is none.
func nextWord(s string, i int) (start, end int) {
	start = len(s)
	for j, r := range s[i:] {
		if !unicode.IsSpace(r) {
			start = i + j
			break
		}
	}
	for j, r := range s[start:] {
		if unicode.IsSpace(r) {
			return start, start + j
		}
	}
	return start, len(s)
}

// appendWord appends what textForm leaves of one word.
func appendWord(dst []byte, word string) []byte {
	afterDigit := false
	for i, r := range word {
		if keeps(word, i, r, afterDigit) {
			dst = utf8.AppendRune(dst, r)
		}
		afterDigit = unicode.IsDigit(r)
	}
	return dst
}

func keeps(word string, i int, r rune, afterDigit bool) bool {
	if !unicode.IsPunct(r) && !unicode.IsSymbol(r) {
		return true
	}
	switch r {
	case '<', '>', '=', '+', '#', '%':
		return true
	case '.', '/', ':':
		return afterDigit && digitAt(word, i+1)
	case '-':
		return i == 0 && digitAt(word, 1)
	}
	return false
}

func digitAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsDigit(r)
}

func isArticle(word []byte) bool {
	switch string(word) {
	case "a", "an", "the":
		return true
	}
	return false
}

// hasSubstance reports whether s has a character of category L, M or N.
func hasSubstance(s []byte) bool {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if isWordRune(r) {
			return true
		}
		i += n
	}
	return false
}
