package tokenizer

import (
	"slices"
	"strings"
	"unicode"
)

// A Pattern is a way to cut text into words that this package knows.
type Pattern struct {
	Name   string // cl100k-digits-1, …
	Regexp string // as tokenizer.json holds it
	Users  string // the models that are known to use it
}

// contractions is the alternative that nearly all patterns begin or end with.
const contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`

// tail is how the patterns of the cl100k and o200k kind end.
const tail = `|\s*[\r\n]+|\s+(?!\S)|\s+`

// cased is the two alternatives of words of the o200k kind.
const cased = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+CONTRACTION` +
	`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*CONTRACTION`

// gpt2Regexp is what a ByteLevel pre-tokenizer does on its own.
const gpt2Regexp = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// A pattern is a Pattern with what the scanner needs to know. The zero values
// are those of cl100k.
type pattern struct {
	Pattern
	digits  int   // most characters of a number; 0 is no limit
	letters uint8 // classes that words are made of
	others  uint8 // classes that runs of punctuation are made of
	slash   bool  // a run of punctuation may end in slashes as in line breaks
	kind    kind
	bare    bool // o200k kind: no contractions at the end of words

	classes *[unicode.MaxRune + 1]uint8
}

type kind uint8

const (
	cl100k kind = iota // one character that is no letter may precede letters
	o200k              // as cl100k, but words break before capital letters
	gpt2               // only a blank may precede, and line breaks are blanks
)

var patterns = []pattern{
	{
		Pattern: Pattern{"cl100k-digits-1", contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail, "Qwen2, Qwen2.5, Qwen3"},
		digits:  1, letters: letter, others: other | mark,
	},
	{
		Pattern: Pattern{"cl100k-digits-3", contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail, "Llama 3 to 3.3, GPT-4"},
		digits:  3, letters: letter, others: other | mark,
	},
	{
		Pattern: Pattern{"cl100k-marks-digits-1", contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + tail, "Qwen3.5"},
		digits:  1, letters: letter | mark, others: other,
	},
	{
		Pattern: Pattern{"o200k-digits-3", strings.ReplaceAll(cased, "CONTRACTION", contractions+"?") + `|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail, "GPT-4o, gpt-oss, Llama 4"},
		digits:  3, others: other | mark, slash: true, kind: o200k,
	},
	{
		Pattern: Pattern{"o200k-bare-digits-1", strings.ReplaceAll(cased, "CONTRACTION", "") + `|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail, "Mistral models with the Tekken tokenizer"},
		digits:  1, others: other | mark, slash: true, kind: o200k, bare: true,
	},
	{
		Pattern: Pattern{"gpt2", gpt2Regexp, "GPT-2 and its descendants"},
		letters: letter, others: other | mark, kind: gpt2,
	},
}

// Patterns returns the patterns that are known.
func Patterns() []Pattern {
	out := make([]Pattern, len(patterns))
	for i, p := range patterns {
		out[i] = p.Pattern
	}
	return out
}

// patternOf returns the pattern with that regular expression.
func patternOf(regexp string) (*pattern, bool) {
	i := slices.IndexFunc(patterns, func(p pattern) bool { return p.Regexp == regexp })
	if i < 0 {
		return nil, false
	}
	p := patterns[i]
	p.classes = classes()
	return &p, true
}

// word returns the end of the word of s that begins at i, which is below
// len(s). It is what the regular expression would match there: every pattern
// matches at every place, because each character is a letter, a number, a space
// or another.
func (p *pattern) word(s string, i int) int {
	switch p.kind {
	case gpt2:
		return p.gpt2Word(s, i)
	case o200k:
		if end := p.casedWord(s, i); end > 0 {
			return end
		}
	case cl100k:
		if s[i] == '\'' {
			if n := contraction(s[i:], true); n > 0 {
				return i + n
			}
		}
	}
	c := s[i]
	class, w := p.at(s, i)
	next := i + w
	if class&p.letters != 0 {
		return p.run(s, next, p.letters)
	}
	if class&number != 0 {
		return p.number(s, next)
	}
	if next < len(s) && class&newline == 0 {
		following, fw := p.at(s, next)
		if following&p.letters != 0 {
			return p.run(s, next+fw, p.letters)
		}
		if c == ' ' && following&p.others != 0 {
			return p.punctuation(s, next+fw)
		}
	}
	if class&p.others != 0 {
		return p.punctuation(s, next)
	}
	return p.spaces(s, i)
}

// number returns the end of the number whose first digit ends at i.
func (p *pattern) number(s string, i int) int {
	for n := 1; i < len(s) && (p.digits == 0 || n < p.digits); n++ {
		class, w := p.at(s, i)
		if class&number == 0 {
			break
		}
		i += w
	}
	return i
}

// punctuation returns the end of the run of punctuation that goes on at i, with
// the line breaks after it.
func (p *pattern) punctuation(s string, i int) int {
	i = p.run(s, i, p.others)
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || p.slash && s[i] == '/') {
		i++
	}
	return i
}

// spaces returns the end of the word of spaces that begins at i. It goes up to
// the last line break of the run, if there is one. Else it is the run without
// its last character, which belongs to what follows, unless nothing follows or
// the run has one character only.
func (p *pattern) spaces(s string, i int) int {
	end, last, lineEnd := i, i, -1
	for end < len(s) {
		class, w := p.at(s, end)
		if class&space == 0 {
			break
		}
		last, end = end, end+w
		if class&newline != 0 {
			lineEnd = end
		}
	}
	switch {
	case lineEnd >= 0 && p.kind != gpt2:
		return lineEnd
	case end < len(s) && last > i:
		return last
	}
	return end
}

func (p *pattern) gpt2Word(s string, i int) int {
	if s[i] == '\'' {
		if n := contraction(s[i:], false); n > 0 {
			return i + n
		}
	}
	start := i
	class, w := p.at(s, i)
	if s[i] == ' ' && i+1 < len(s) {
		if following, fw := p.at(s, i+1); following&space == 0 {
			class, w, start = following, fw, i+1
		}
	}
	switch {
	case class&letter != 0:
		return p.run(s, start+w, letter)
	case class&number != 0:
		return p.run(s, start+w, number)
	case class&p.others != 0:
		return p.run(s, start+w, p.others)
	}
	return p.spaces(s, i)
}

// casedWord returns the end of the word at i in the sense of o200k, 0 if there
// is none. A backtracking matcher tries, in this order: capitals then small
// letters, with a character before them and without; capitals alone, likewise.
func (p *pattern) casedWord(s string, i int) int {
	starts := [2]int{i, -1}
	if class, w := p.at(s, i); class&(letter|number|newline) == 0 {
		starts = [2]int{i + w, -1}
		if class&mark != 0 {
			starts[1] = i
		}
	}
	for _, form := range []func(string, int) int{p.endsLower, p.endsUpper} {
		for _, start := range starts {
			if start < 0 {
				continue
			}
			if end := form(s, start); end > 0 {
				if !p.bare && end < len(s) && s[end] == '\'' {
					end += contraction(s[end:], true)
				}
				return end
			}
		}
	}
	return 0
}

// endsLower matches upper* lower+ at i and returns the end, 0 if it does not
// match. Letters without case are both upper and lower.
func (p *pattern) endsLower(s string, i int) int {
	both, end := 0, i // both: end of the last character of the run that is lower too
	for end < len(s) {
		class, w := p.at(s, end)
		if class&upper == 0 {
			break
		}
		end += w
		if class&lower != 0 {
			both = end
		}
	}
	if end < len(s) {
		if class, w := p.at(s, end); class&lower != 0 {
			return p.run(s, end+w, lower)
		}
	}
	// Nothing small follows: the matcher goes back to the last letter that can
	// stand for a small one. Only capitals come after that.
	return both
}

// endsUpper matches upper+ lower* at i where endsLower does not match, so that
// no small letter can follow.
func (p *pattern) endsUpper(s string, i int) int {
	if end := p.run(s, i, upper); end > i {
		return end
	}
	return 0
}

// contraction returns the length of the English contraction that s begins with,
// 0 if there is none; s begins with an apostrophe. Without case, the long s
// (U+017F) is an s too.
func contraction(s string, fold bool) int {
	if len(s) < 2 {
		return 0
	}
	a, b := s[1], byte(0)
	if len(s) > 2 {
		b = s[2]
	}
	if fold {
		if a == 0xC5 && b == 0xBF { // U+017F
			return 3
		}
		a, b = foldASCII(a), foldASCII(b)
	}
	switch {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

func foldASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
