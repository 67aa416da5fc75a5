package baseline

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"assay/internal/lexical"
)

// A kind is what a piece of a query may stand for.
type kind int

const (
	number kind = iota
	quoted
	date
	clock
	email
	link
	code       // letters and digits mixed: AB123
	properName // capitalised words: New York
	kinds
)

// Patterns of pieces. Go's regular expressions take linear time. They are made
// when they are first asked for: other commands need not wait for them.
var patterns = sync.OnceValue(func() [kinds]*regexp.Regexp {
	return [kinds]*regexp.Regexp{
		number: regexp.MustCompile(`[-−]?\d+(?:,\d{3})*(?:\.\d+)?`),
		quoted: regexp.MustCompile(`"([^"\n]+)"|“([^”\n]+)”|(?:^|[\s(])'([^'\n]+)'(?:$|[\s).,?!;:])`),
		date: regexp.MustCompile(`\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|` +
			`(?i:(?:\d{1,2}(?:st|nd|rd|th)? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?)`),
		clock:      regexp.MustCompile(`(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]m\b`),
		email:      regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`),
		link:       regexp.MustCompile(`https?://[^\s"'<>]+`),
		code:       regexp.MustCompile(`\b(?:[A-Za-z]+[-_]?\d|\d+[-_]?[A-Za-z])[\w-]*\b`),
		properName: regexp.MustCompile(`\p{Lu}[\p{L}\p{N}'’&.-]*(?: (?:of |the |de |la )?\p{Lu}[\p{L}\p{N}'’&-]*)*`),
	}
})

// A fact is one piece of a text.
type fact struct {
	text string
	at   int // byte offset
	used bool
}

// facts are the pieces of one text that may be arguments.
type facts struct {
	text  string
	lower string
	found [kinds][]*fact
}

// maxFacts bounds the pieces of each kind, since they are compared pairwise.
const maxFacts = 256

func newFacts(text string) *facts {
	f := &facts{text: text, lower: strings.ToLower(text)}
	if len(f.lower) != len(text) { // offsets must agree
		f.lower = text
	}
	for k, re := range patterns() {
		for _, m := range re.FindAllStringSubmatchIndex(text, maxFacts) {
			from, to := m[0], m[1]
			for g := 2; g+1 < len(m); g += 2 { // the group without the quotes
				if m[g] >= 0 {
					from, to = m[g], m[g+1]
				}
			}
			s := strings.TrimRight(text[from:to], ".,-&'’")
			if kind(k) == properName && plainWord(text, from, s) {
				continue
			}
			if s != "" {
				f.found[k] = append(f.found[k], &fact{text: s, at: from})
			}
		}
	}
	return f
}

// plainWord reports whether a capitalised piece is capital for another reason
// than being a name: "I", or one word that begins a sentence.
func plainWord(text string, at int, s string) bool {
	if s == "I" || strings.HasPrefix(s, "I'") {
		return true
	}
	if strings.Contains(s, " ") || len(s) > 1 && strings.ToUpper(s) == s {
		return false
	}
	before := strings.TrimRight(text[:at], " \t\"'“(")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".?!:\n", r)
}

// near returns the place of the first word of a parameter's name in the text,
// -1 if there is none. Words of one letter count for nothing.
func (f *facts) near(param string) int {
	best := -1
	for w := range lexical.Words(param) {
		if len(w) < 2 {
			continue
		}
		if at := wordIndex(f.lower, w); at >= 0 && (best < 0 || at < best) {
			best = at
		}
	}
	return best
}

// wordIndex returns the place of w in s where a word begins, or -1.
func wordIndex(s, w string) int {
	for from := 0; ; {
		at := strings.Index(s[from:], w)
		if at < 0 {
			return -1
		}
		at += from
		r, _ := utf8.DecodeLastRuneInString(s[:at])
		if at == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return at
		}
		from = at + len(w)
	}
}

// wordAt is wordIndex for a w that must end with a word, too.
func wordAt(s, w string) int {
	for from := 0; ; {
		at := wordIndex(s[from:], w)
		if at < 0 {
			return -1
		}
		at += from
		r, _ := utf8.DecodeRuneInString(s[at+len(w):])
		if at+len(w) == len(s) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return at
		}
		from = at + len(w)
	}
}

// take returns a piece of one of the kinds, the first kind that has any, and
// marks what overlaps it as used. With the place of a parameter's name it is
// the piece that follows most closely, and pieces before it come last.
func (f *facts) take(near int, of ...kind) (*fact, bool) {
	const penalty = 1 << 20
	for _, k := range of {
		var best *fact
		cost := 0
		for _, p := range f.found[k] {
			if p.used {
				continue
			}
			c := p.at
			if near >= 0 {
				if c = p.at - near; c < 0 {
					c = penalty - c
				}
			}
			if best == nil || c < cost {
				best, cost = p, c
			}
		}
		if best != nil {
			f.use(best)
			return best, true
		}
	}
	return nil, false
}

// use marks all pieces that share text with p.
func (f *facts) use(p *fact) {
	for _, list := range f.found {
		for _, q := range list {
			if q.at < p.at+len(p.text) && p.at < q.at+len(q.text) {
				q.used = true
			}
		}
	}
}

// filler are words that carry nothing in a search phrase.
const filler = " a an the i me my we us our you your it is are was were be to of for in on at by with from and or please can could would will want need like find get show tell give know what which who how do does that this there some any let have has im id looking help "

// phrase returns the content words of the text in order, at most n, "" if
// there are none.
func (f *facts) phrase(n int) string {
	var words []string
	for _, w := range strings.FieldsFunc(f.text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_'.@/", r)
	}) {
		w = strings.Trim(w, ".'-/")
		if w == "" || strings.Contains(filler, " "+strings.ReplaceAll(strings.ToLower(w), "'", "")+" ") {
			continue
		}
		if words = append(words, w); len(words) == n {
			break
		}
	}
	return strings.Join(words, " ")
}

// boundary is where one request of a query ends and another begins: the end of
// a sentence, or a conjunction before a new command or question.
var boundary = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[.?!;]\s+|\n+|(?i:,? and (?:then|also)\s|,? then\s|,? also\s|,? and (?:tell|show|find|get|give|calculate|compute|check|book|send|search|list|convert|create|what|how|where|when|who|can|could|please|let|play|add|set|turn)\b)`)
})

// maxParts bounds the calls for one query.
const maxParts = 16

// parts returns the parts of a query that may ask for a call each, in order;
// what follows part maxParts belongs to that one.
func parts(query string) []string {
	var out []string
	start := 0
	for _, m := range boundary().FindAllStringIndex(query, maxParts-1) {
		// The verb after "and" belongs to the next part.
		cut := m[1]
		if i := strings.LastIndex(strings.ToLower(query[m[0]:m[1]]), "and "); i >= 0 {
			cut = m[0] + i
		}
		if s := strings.TrimSpace(query[start:cut]); s != "" {
			out = append(out, s)
		}
		start = cut
	}
	if s := strings.TrimSpace(query[start:]); s != "" {
		out = append(out, s)
	}
	return out
}
