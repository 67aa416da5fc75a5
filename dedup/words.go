package dedup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The classes of ASCII bytes besides those of words, which are their own
// lower case.
const (
	separator  = 0
	apostrophe = 1
)

// ascii maps a byte to its lower case if it is part of a word.
var ascii = func() (t [128]byte) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		case c == '\'':
			t[c] = apostrophe
		}
	}
	return t
}()

// Normalize returns the words of text with one blank between them.
// Normalize(Normalize(s)) == Normalize(s).
func Normalize(text string) string {
	return string(AppendNormal(make([]byte, 0, len(text)), text))
}

// AppendNormal appends Normalize(text) to dst.
func AppendNormal(dst []byte, text string) []byte {
	text = folded(text)
	start, gap := len(dst), false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch low := ascii[c]; low {
			case separator:
				gap = true
			case apostrophe:
			default:
				dst = appendGap(dst, start, &gap)
				dst = append(dst, low)
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch kind := kindOf(r); kind {
		case inWord, ownWord:
			gap = gap || kind == ownWord
			dst = appendGap(dst, start, &gap)
			dst = utf8.AppendRune(dst, r)
			gap = kind == ownWord
		case notWord:
			gap = true
		}
	}
	return dst
}

// appendGap appends the blank before a word, unless it is the first one.
func appendGap(dst []byte, start int, gap *bool) []byte {
	if *gap && len(dst) > start {
		dst = append(dst, ' ')
	}
	*gap = false
	return dst
}

// folded returns text in form NFKC and in lower case, without the characters
// that are passed over. One of these may undo another: an apostrophe parted a
// letter from its accent, and h with a macron below has a composed form that H
// has not. So they are repeated until nothing changes, which is mostly at once.
// ASCII is left to the table above.
func folded(text string) string {
	if isASCII(text) {
		return text
	}
	for range maxFolds {
		next := strings.Map(fold, norm.NFKC.String(text))
		if next == text {
			break
		}
		text = next
	}
	return text
}

// maxFolds bounds the repetitions of folded. Two are the most that any
// letter with a mark needs.
const maxFolds = 8

func fold(r rune) rune {
	switch r {
	case '\'', '’', 'ʼ', '\u00ad', '\u200b', '\ufeff':
		return -1 // neither part of a word nor the end of one
	}
	return unicode.ToLower(r)
}

func isASCII(text string) bool {
	i := 0
	for ; i+8 <= len(text); i += 8 { // eight bytes for one jump
		if s := text[i : i+8]; (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
	}
	for ; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

type kind uint8

const (
	notWord kind = iota
	inWord
	ownWord // a word by itself
)

func kindOf(r rune) kind {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ownWord
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return inWord
	}
	return notWord
}

// FNV-1a, whose one multiplication a byte is as fast as the bytes are told
// apart.
const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

// AppendWords appends a hash of each word of text to dst. Equal words have
// equal hashes.
func AppendWords(dst []uint64, text string) []uint64 {
	text = folded(text)
	h, open := uint64(fnvStart), false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			if low := ascii[c]; low > apostrophe {
				h, open = (h^uint64(low))*fnvPrime, true
			} else if low == separator && open {
				dst = append(dst, h)
				h, open = fnvStart, false
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		kind := kindOf(r)
		if open && kind != inWord {
			dst = append(dst, h)
			h, open = fnvStart, false
		}
		if kind == notWord {
			continue
		}
		h, open = (h^uint64(r))*fnvPrime, true
		if kind == ownWord {
			dst = append(dst, h)
			h, open = fnvStart, false
		}
	}
	if open {
		dst = append(dst, h)
	}
	return dst
}

// mix spreads the bits of h (the finaliser of SplitMix64).
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

// rollBase is the base of the polynomial that n-grams are hashed by; odd, so
// that no power of it is 0.
const rollBase = 0x9e3779b97f4a7c15

// AppendGrams appends a hash of each n words in a row to dst, none if there are
// fewer words. Equal grams of one length have equal hashes. It panics if n < 1.
func AppendGrams(dst, words []uint64, n int) []uint64 {
	if n < 1 {
		panic("dedup: grams of no words")
	}
	if len(words) < n {
		return dst
	}
	h, top := uint64(0), uint64(1)
	for _, w := range words[:n] {
		h = h*rollBase + w
		top *= rollBase
	}
	dst = append(dst, mix(h))
	for i := n; i < len(words); i++ {
		h = h*rollBase + words[i] - words[i-n]*top
		dst = append(dst, mix(h))
	}
	return dst
}
