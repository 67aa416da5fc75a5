package tokenizer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter finds added tokens in text.
type splitter struct {
	byText  map[string]*addedToken
	lengths [256][]int // of the tokens with that first byte, the longest first
	first   byte       // the one first byte there is, if single
	single  bool
	none    bool
}

func newSplitter(tokens map[string]*addedToken) *splitter {
	s := &splitter{byText: tokens, none: len(tokens) == 0}
	firsts := 0
	for text := range tokens {
		l := &s.lengths[text[0]]
		if len(*l) == 0 {
			firsts++
			s.first = text[0]
		}
		if !slices.Contains(*l, len(text)) {
			*l = append(*l, len(text))
		}
	}
	for i := range s.lengths {
		slices.SortFunc(s.lengths[i], func(a, b int) int { return cmp.Compare(b, a) })
	}
	s.single = firsts == 1
	return s
}

// next returns the first place from i on where a token begins, and the longest
// that begins there; nil if there is none.
func (s *splitter) next(text string, i int) (int, *addedToken) {
	if s.none {
		return len(text), nil
	}
	for ; i < len(text); i++ {
		if s.single {
			n := strings.IndexByte(text[i:], s.first)
			if n < 0 {
				break
			}
			i += n
		}
		for _, l := range s.lengths[text[i]] {
			if i+l <= len(text) {
				if tok, ok := s.byText[text[i:i+l]]; ok {
					return i, tok
				}
			}
		}
	}
	return len(text), nil
}

// split calls between for the texts between tokens and found for each token,
// with its place and the blanks that its flags take.
func (s *splitter) split(text string, between func(string), found func(tok *addedToken, start, end int)) {
	done := 0
	for i := 0; ; {
		at, tok := s.next(text, i)
		if tok == nil {
			break
		}
		start, end := at, at+len(tok.match())
		i = end
		if tok.SingleWord && (wordBefore(text[:start]) || wordAfter(text[end:])) {
			continue
		}
		if tok.LeftStrip {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if tok.RightStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if done < start {
			between(text[done:start])
		}
		found(tok, start, end)
		done = end
	}
	if done < len(text) {
		between(text[done:])
	}
}

// wordBefore reports whether s ends in a character of a word.
func wordBefore(s string) bool {
	r, w := utf8.DecodeLastRuneInString(s)
	return w > 0 && inWord(r)
}

func wordAfter(s string) bool {
	r, w := utf8.DecodeRuneInString(s)
	return w > 0 && inWord(r)
}

// inWord is \w of Unicode's regular expressions (UTS 18, annex C).
func inWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// match returns the text by which the token is found. After addTokens, Content
// is normalised where the token is.
func (a *addedToken) match() string { return a.Content }

// addTokens takes the added tokens of the file. A token of the vocabulary keeps
// its id; others must have the ids that the library gives when it reads the
// file, which looks at their order alone.
func (t *Tokenizer) addTokens(added []addedToken) error {
	added = slices.Clone(added)
	slices.SortStableFunc(added, func(a, b addedToken) int { return cmp.Compare(a.ID, b.ID) })
	byText := make(map[string]int, len(added))
	for id, tok := range t.tokens {
		if tok.known {
			byText[tok.text] = id
		}
	}
	plain, normalized := map[string]*addedToken{}, map[string]*addedToken{}
	next := t.modelSize
	for i := range added {
		a := &added[i]
		if a.Content == "" {
			continue // the library ignores it
		}
		id, ok := byText[a.Content]
		if !ok {
			id = next
			next++
			byText[a.Content] = id
		}
		if id != a.ID || id >= maxTokens {
			return fmt.Errorf("/added_tokens/%d: token %q has id %d, where Hugging Face's library gives %d", i, a.Content, a.ID, id)
		}
		for len(t.tokens) <= id {
			t.tokens = append(t.tokens, token{})
		}
		tok := &t.tokens[id]
		if !tok.known {
			raw, ok := rawBytes(a.Content)
			*tok = token{text: a.Content, bytes: raw, known: true, reachable: ok}
		}
		tok.added = true
		t.special = append(t.special, SpecialToken{ID: id, Text: a.Content, Control: a.Special})
		if a.Normalized {
			a.Content = t.normalize(a.Content)
			normalized[a.Content] = a
		} else {
			plain[a.Content] = a
		}
	}
	t.plain, t.normalized = newSplitter(plain), newSplitter(normalized)
	return nil
}
