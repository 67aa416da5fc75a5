package tokenizer

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Offsets returns the ids of text, as Encode does, and for each where it ends in
// text, in bytes: token i is text[ends[i-1]:ends[i]].
//
// A token can end in the middle of a character. Where normalisation changed the
// text, a token ends at the next place at which both texts can be compared.
// Places are those of text after its invalid UTF-8 was replaced; for text that
// is valid they are those of text.
func (t *Tokenizer) Offsets(text string) (ids, ends []int) {
	e := t.borrow()
	defer t.giveBack(e)
	text = validUTF8(text)
	done := 0 // bytes of text that are behind us
	t.plain.split(text, func(s string) {
		from := done
		done += len(s)
		whole := t.normalize(s)
		place := alignment(s, whole, t)
		at := 0 // in whole
		t.normalized.split(whole, func(words string) {
			added := 0
			if t.prefixSpace && !strings.HasPrefix(words, " ") {
				words, added = " "+words, 1
			}
			for i := 0; i < len(words); {
				end := t.pattern.word(words, i)
				for _, id := range e.word(t, words[i:end]) {
					i += len(t.tokens[id].bytes)
					ids = append(ids, int(id))
					ends = append(ends, from+place(at+max(i-added, 0)))
				}
			}
			at += len(words) - added
		}, func(a *addedToken, _, end int) {
			at = end
			ids, ends = append(ids, a.ID), append(ends, from+place(end))
		})
	}, func(a *addedToken, _, end int) {
		done = end
		ids, ends = append(ids, a.ID), append(ends, end)
	})
	return ids, ends
}

// alignment returns a function from places of whole, the normal form of s, to
// places of s.
func alignment(s, whole string, t *Tokenizer) func(int) int {
	if s == whole {
		return func(i int) int { return i }
	}
	var from, to []int // places that correspond, ascending
	n := 0
	for i := 0; i < len(s); {
		size := max(norm.NFC.NextBoundaryInString(s[i:], true), 1)
		n += len(t.normalize(s[i : i+size]))
		i += size
		from, to = append(from, n), append(to, i)
	}
	if n != len(whole) {
		return func(i int) int { // no boundary can be trusted
			if i == 0 {
				return 0
			}
			return len(s)
		}
	}
	k := 0
	return func(i int) int {
		for k > 0 && from[k-1] >= i {
			k--
		}
		for k < len(from)-1 && from[k] < i {
			k++
		}
		if i == 0 {
			return 0
		}
		return to[k]
	}
}
