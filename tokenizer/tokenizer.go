package tokenizer

import (
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Tokenizer makes the ids of one model. It is safe for concurrent use.
type Tokenizer struct {
	tokens       []token // by id
	modelSize    int     // tokens of the model, without added ones
	byteIDs      [256]uint32
	words        wordTable
	merges       mergeTable
	ignoreMerges bool
	nfc          bool
	prefixSpace  bool
	pattern      *pattern
	plain        *splitter // added tokens that are found before normalisation
	normalized   *splitter // and after it
	special      []SpecialToken
	pool         chan *encoder
}

// A SpecialToken is an added token: one that text is split at before anything
// else, so that it is one id wherever its text stands.
type SpecialToken struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
	// Control tells that the file calls the token special: decoders for people
	// leave it out. <tool_call> of Qwen is not.
	Control bool `json:"control"`
}

// poolSize is how many encoders are kept for the next call. Each holds a cache
// of 1.4 MB.
func poolSize() int { return runtime.GOMAXPROCS(0) }

func (t *Tokenizer) borrow() *encoder {
	select {
	case e := <-t.pool:
		return e
	default:
		return newEncoder()
	}
}

func (t *Tokenizer) giveBack(e *encoder) {
	e.trim()
	select {
	case t.pool <- e:
	default:
	}
}

// Encode returns the ids of text, without the tokens that some models want
// around it, such as <|begin_of_text|>: a chat template writes these. The text
// of an added token becomes its id; [Tokenizer.SpecialIn] tells where.
//
// Invalid UTF-8 is read as U+FFFD, one for each byte.
func (t *Tokenizer) Encode(text string) []int {
	if text == "" {
		return nil
	}
	return t.AppendIDs(make([]int, 0, Estimate(len(text))), text)
}

// AppendIDs appends the ids of text to dst.
func (t *Tokenizer) AppendIDs(dst []int, text string) []int {
	t.each(text, func(ids []uint32) {
		for _, id := range ids {
			dst = append(dst, int(id))
		}
	})
	return dst
}

// Count returns how many ids text has: len(t.Encode(text)).
func (t *Tokenizer) Count(text string) int {
	n := 0
	t.each(text, func(ids []uint32) { n += len(ids) })
	return n
}

// CountBytes is [Tokenizer.Count] for bytes.
func (t *Tokenizer) CountBytes(text []byte) int { return t.Count(string(text)) }

// each calls emit with the ids of text, piece by piece.
func (t *Tokenizer) each(text string, emit func([]uint32)) {
	e := t.borrow()
	defer t.giveBack(e)
	var one [1]uint32
	token := func(a *addedToken, _, _ int) {
		one[0] = uint32(a.ID)
		emit(one[:])
	}
	words := func(s string) {
		if t.prefixSpace && !strings.HasPrefix(s, " ") {
			s = " " + s
		}
		for i := 0; i < len(s); {
			end := t.pattern.word(s, i)
			emit(e.word(t, s[i:end]))
			i = end
		}
	}
	t.plain.split(validUTF8(text), func(s string) {
		t.normalized.split(t.normalize(s), words, token)
	}, token)
}

// Decode returns the text of ids, added tokens included. Bytes that make no
// character become U+FFFD, and ids that are not known make no text.
func (t *Tokenizer) Decode(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		if id < 0 || id >= len(t.tokens) || !t.tokens[id].known {
			continue
		}
		if tok := &t.tokens[id]; tok.reachable && !tok.added {
			b.WriteString(tok.bytes)
		} else {
			b.WriteString(tok.text)
		}
	}
	return lossy(b.String())
}

// lossy returns s with one U+FFFD for each maximal part of a character, as the
// Unicode Standard recommends (section 3.9) and the library decodes.
func lossy(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && w == 1 {
			w = partial(s[i:])
		}
		b.WriteRune(r)
		i += w
	}
	return b.String()
}

// partial returns how many bytes of s begin a character and do not end it, at
// least 1; s begins with no character.
func partial(s string) int {
	for n := min(3, len(s)); n > 1; n-- {
		// Whatever bytes would make it a character, FullRune does not know yet.
		if !utf8.FullRuneInString(s[:n]) {
			return n
		}
	}
	return 1
}

// Token returns the token with that id as the file writes it (Ġ is a blank), and
// whether there is one.
func (t *Tokenizer) Token(id int) (string, bool) {
	if id < 0 || id >= len(t.tokens) {
		return "", false
	}
	return t.tokens[id].text, t.tokens[id].known
}

// Size returns one more than the highest id.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// Pattern returns how words are cut.
func (t *Tokenizer) Pattern() Pattern { return t.pattern.Pattern }

// SpecialTokens returns the added tokens in the order of their ids.
func (t *Tokenizer) SpecialTokens() []SpecialToken { return slices.Clone(t.special) }

// A Hit is a special token inside of a text, with its place in bytes.
type Hit struct {
	SpecialToken
	Start int `json:"start"`
	End   int `json:"end"`
}

// SpecialIn returns the special tokens that text holds. In text of users, tools
// or models they are a fault to report: they become the ids that a template
// uses for its own marks, so a user could end a message or begin a call.
//
// Places are those of text after its invalid UTF-8 was replaced. Tokens that
// are only found after normalisation are found as they are written.
func (t *Tokenizer) SpecialIn(text string) []Hit {
	var hits []Hit
	text = validUTF8(text)
	for _, s := range []*splitter{t.plain, t.normalized} {
		s.split(text, func(string) {}, func(a *addedToken, start, end int) {
			hits = append(hits, Hit{t.special[t.specialAt(a.ID)], start, end})
		})
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return a.Start - b.Start })
	return hits
}

func (t *Tokenizer) specialAt(id int) int {
	return slices.IndexFunc(t.special, func(s SpecialToken) bool { return s.ID == id })
}

// bytesPerToken is what [Estimate] divides by. Common tokenizers make a token
// of 3 to 4 bytes of English, and of fewer bytes of JSON and other languages.
const bytesPerToken = 3

// Estimate returns about how many tokens n bytes of text make: n/3, rounded up,
// which is rather too many than too few. It is for those who have no
// tokenizer.json, and no count: say so where it is shown.
func Estimate(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }
