package lexical

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Factors of the kinds of features, before IDF. A word yields about fifteen
// n-grams, so an n-gram has to weigh a good deal less for a whole word in
// common to count more than a common ending.
const (
	wordFactor  = 1.0
	stopFactor  = 0.1
	ngramFactor = 0.25
)

// The lengths of character n-grams, in characters. The marks for the beginning
// and the end of a word count as characters.
const (
	minGram = 3
	maxGram = 5
)

// A feature is a hashed word or n-gram of a text.
type feature struct {
	hash   uint64 // the lowest bit tells n-grams (1) from words (0)
	factor float32
}

// stopWords are words that say little about what a tool does.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about all also an and any are as at be been being both but by can could
		do does each either for from had has have how i if in into is it its just may me might more most must my
		no nor not of on or other our out over please shall she he should so some such than that the their them
		then there these they this those through to too up us very via was we were what when where which while who
		whose why will with within without would you your`) {
		m[w] = true
	}
	return m
}()

// Words yields the words of text, lower-cased and stemmed, in order. Letters
// make words: identifiers are cut at case changes (getUserID, HTTPServer), and
// at everything that is no letter, digits included. Scripts that put no blanks
// between words yield each pair of neighbouring characters.
func Words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range split(text) {
			if !yield(Stem(w)) {
				return
			}
		}
	}
}

// split yields the words of text in lower case, not stemmed.
func split(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			r, size := utf8.DecodeRuneInString(text)
			if !unicode.IsLetter(r) {
				text = text[size:]
				continue
			}
			var end int
			if unspaced(r) {
				end = runEnd(text, size, func(_, r rune) bool { return unspaced(r) })
				if !pairs(text[:end], yield) {
					return
				}
			} else {
				end = wordEnd(text, r, size)
				if !yield(strings.ToLower(text[:end])) {
					return
				}
			}
			text = text[end:]
		}
	}
}

// wordEnd returns where the word at the start of text ends. A word is capitals
// and then small letters (Server), small letters (get), or capitals up to the
// one that starts the next word (HTTP of HTTPServer).
func wordEnd(text string, first rune, size int) int {
	lower := func(_, r rune) bool { return wordRune(r) && !unicode.IsUpper(r) }
	if !unicode.IsUpper(first) {
		return runEnd(text, size, lower)
	}
	upper := runEnd(text, size, func(_, r rune) bool { return unicode.IsUpper(r) })
	end := runEnd(text, upper, lower)
	if end == upper || upper == size {
		return end
	}
	// Several capitals, then a small letter: the last capital belongs to what
	// follows. A plural s does not start a word (IDs, URLs).
	if tail := text[upper:end]; tail == "s" {
		return end
	}
	_, last := utf8.DecodeLastRuneInString(text[:upper])
	return upper - last
}

// runEnd returns the end of the run of runes from i on that ok accepts, given
// the rune before and the rune.
func runEnd(text string, i int, ok func(prev, r rune) bool) int {
	prev := rune(0)
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !ok(prev, r) {
			break
		}
		prev = r
		i += size
	}
	return i
}

func wordRune(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !unspaced(r)
}

// unspaced reports whether r is of a script without blanks between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs yields each pair of neighbouring characters of s, or s itself if it is
// one character.
func pairs(s string, yield func(string) bool) bool {
	_, n := utf8.DecodeRuneInString(s)
	if n == len(s) {
		return yield(s)
	}
	for i := 0; i+n < len(s); {
		_, m := utf8.DecodeRuneInString(s[i+n:])
		if !yield(s[i : i+n+m]) {
			return false
		}
		i, n = i+n, m
	}
	return true
}

// Stem cuts the commonest English endings off a lower-case word: plural s, ed,
// ing, and a final e, so that create, creates, created and creating agree. It
// is light on purpose; the n-grams do the rest.
func Stem(w string) string {
	w = stemPlural(w)
	for _, end := range [...]string{"ing", "ed"} {
		stem, ok := strings.CutSuffix(w, end)
		if !ok || len(stem) < 3 || !strings.ContainsAny(stem, "aeiouy") {
			continue
		}
		if n := len(stem); stem[n-1] == stem[n-2] && !strings.ContainsRune("aeiouslz", rune(stem[n-1])) {
			stem = stem[:n-1] // planned, running
		}
		w = stem
		break
	}
	if stem, ok := strings.CutSuffix(w, "e"); ok && len(stem) >= 3 {
		return stem
	}
	return w
}

func stemPlural(w string) string {
	switch {
	case len(w) < 4 || !strings.HasSuffix(w, "s"):
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "xes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	}
	return w[:len(w)-1]
}

// wordFeatures calls add for every feature of a word as split yields it,
// repeated ones included. The buffer is scratch space, returned for the next
// call.
func wordFeatures(w string, buf []byte, add func(feature)) []byte {
	f := wordFeature(w)
	add(f)
	if f.factor == stopFactor {
		return buf
	}
	return ngrams(Stem(w), buf, add)
}

// wordFeature returns the whole word, stemmed unless it is a stop word, as a
// feature.
func wordFeature(w string) feature {
	if stopWords[w] {
		return feature{xxh3.HashStringSeed(w, 1) &^ 1, stopFactor}
	}
	return feature{xxh3.HashStringSeed(Stem(w), 1) &^ 1, wordFactor}
}

// ngrams calls add for every n-gram of w between its two marks.
func ngrams(w string, buf []byte, add func(feature)) []byte {
	buf = append(buf[:0], 0x02)
	buf = append(buf, w...)
	buf = append(buf, 0x03)
	for i := 0; i < len(buf); i++ {
		if !utf8.RuneStart(buf[i]) {
			continue
		}
		n := 0
		for j := i + 1; j <= len(buf) && n <= maxGram; j++ {
			if j < len(buf) && !utf8.RuneStart(buf[j]) {
				continue
			}
			if n++; n >= minGram && n <= maxGram {
				add(feature{xxh3.Hash(buf[i:j]) | 1, ngramFactor})
			}
		}
	}
	return buf
}

// counted is a feature with how often it occurs.
type counted struct {
	feature
	n int
}

// count returns the distinct features of text in order of their hashes.
func count(text string) []counted {
	var all []feature
	var buf []byte
	for w := range split(text) {
		buf = wordFeatures(w, buf, func(f feature) { all = append(all, f) })
	}
	slices.SortFunc(all, func(a, b feature) int { return cmp.Compare(a.hash, b.hash) })
	out := make([]counted, 0, len(all))
	for _, f := range all {
		if n := len(out); n > 0 && out[n-1].hash == f.hash {
			out[n-1].n++
			continue
		}
		out = append(out, counted{f, 1})
	}
	return out
}
