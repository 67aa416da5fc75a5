package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokens returns the token sequence of a for ROUGE-L, depth-first. A number,
// bool, date or null is one token, its canonical text. Text is cut into words
// ([Words]); the empty text is one token, and so are [] and {}. A member of an
// object is its key, one token, and the tokens of its value, in the order of
// canonical keys (of keys as written, where those are equal).
func (a Canon) Tokens() []string { return appendTokens(nil, &a) }

func appendTokens(dst []string, a *Canon) []string {
	switch a.Kind {
	case Text:
		return appendWords(dst, fold(prepare(a.raw)))
	case Array:
		if len(a.Items) == 0 {
			return append(dst, "[]")
		}
		for i := range a.Items {
			dst = appendTokens(dst, &a.Items[i])
		}
		return dst
	case Object:
		if len(a.Members) == 0 {
			return append(dst, "{}")
		}
		for i := range a.Members {
			dst = appendTokens(append(dst, a.Members[i].Key), &a.Members[i].Value)
		}
		return dst
	}
	return append(dst, a.Text)
}

// tokens returns the tokens of a under the options.
func (c canoniser) tokens(a *Canon) []string { return c.appendTokens(nil, a) }

func (c canoniser) appendTokens(dst []string, a *Canon) []string {
	if c.opt.Words == WordsBlanks && a.Kind == Text {
		before := len(dst)
		dst = append(dst, strings.Fields(strings.ToLower(strings.Trim(a.raw, ".?! ")))...)
		if len(dst) == before { // so that it is close to itself only
			dst = append(dst, a.raw)
		}
		return dst
	}
	return appendTokens(dst, a)
}

// Words returns the tokens of a text for ROUGE-L. The text is prepared (NFKC,
// without format characters and variation selectors, trimmed) and folded.
// Tokens are then the maximal runs of letters, marks and numbers; every Han,
// Kana or Hangul character is a token of its own. A text without any token is
// one token, itself, and the empty text is the token "".
func Words(s string) []string { return appendWords(nil, fold(prepare(s))) }

func appendWords(dst []string, folded string) []string {
	before := len(dst)
	start := -1 // of the run that is open
	for i, r := range folded {
		alone := isAlone(r)
		if start >= 0 && (alone || !isWordRune(r)) {
			dst = append(dst, folded[start:i])
			start = -1
		}
		switch {
		case alone:
			dst = append(dst, folded[i:i+utf8.RuneLen(r)])
		case start < 0 && isWordRune(r):
			start = i
		}
	}
	if start >= 0 {
		dst = append(dst, folded[start:])
	}
	if len(dst) == before {
		dst = append(dst, folded)
	}
	return dst
}

// isAlone reports whether r is a token of its own: scripts that do not put
// blanks between words.
func isAlone(r rune) bool {
	const firstHangul = 0x1100 // no such script has a character before it
	return r >= firstHangul && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}
