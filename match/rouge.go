package match

import (
	"bytes"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// A Rouge computes ROUGE-L of texts with buffers that it keeps, so that texts
// in ASCII cost no allocation once they have grown. Its zero value is ready. It
// is not for several goroutines at once.
type Rouge struct {
	text      []byte // of both sides, prepared and folded
	spans     []span // of each number, its token in text
	slots     []int32
	got, want []int32
	lcs       lcsScratch
}

type span struct{ start, end int32 }

// F1 returns the ROUGE-L F1 of the tokens ([Words]) of two texts, in [0,1]; see
// [RougeL].
func (r *Rouge) F1(got, want string) float64 {
	r.text, r.spans = r.text[:0], r.spans[:0]
	clear(r.slots)
	r.want = r.words(r.want[:0], want)
	r.got = r.words(r.got[:0], got)
	return 2 * float64(r.lcs.length(r.want, r.got, len(r.spans), 0)) / float64(len(r.got)+len(r.want))
}

// words appends the numbers of the tokens of s.
func (r *Rouge) words(dst []int32, s string) []int32 {
	from, before := len(r.text), len(dst)
	if isASCII(s) {
		dst = r.asciiWords(dst, s)
	} else {
		r.text = append(r.text, fold(prepare(s))...)
		dst = r.unicodeWords(dst, from)
	}
	if len(dst) == before { // a text without words is one token
		text := bytes.TrimSpace(r.text[from:])
		at := len(r.text)
		r.text = append(r.text, text...)
		dst = append(dst, r.number(at, len(r.text)))
	}
	return dst
}

// asciiLower holds the lower-case form of letters and digits, 0 for others.
var asciiLower = func() (table [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		if isWordRune(rune(c)) {
			table[c] = c
			if 'A' <= c && c <= 'Z' {
				table[c] = c + 'a' - 'A'
			}
		}
	}
	return table
}()

// asciiWords copies s, in lower case, and appends the numbers of its tokens.
func (r *Rouge) asciiWords(dst []int32, s string) []int32 {
	from := len(r.text)
	r.text = append(r.text, s...)
	text := r.text[from:]
	start := -1
	for i, c := range text {
		lower := asciiLower[c&(utf8.RuneSelf-1)]
		switch {
		case lower != 0:
			text[i] = lower
			if start < 0 {
				start = i
			}
		case start >= 0:
			dst = append(dst, r.number(from+start, from+i))
			start = -1
		}
	}
	if start >= 0 {
		dst = append(dst, r.number(from+start, from+len(text)))
	}
	return dst
}

// unicodeWords appends the numbers of the tokens of the text from there on.
func (r *Rouge) unicodeWords(dst []int32, from int) []int32 {
	start := -1
	for i := from; i < len(r.text); {
		c, n := utf8.DecodeRune(r.text[i:])
		alone, word := isAlone(c), isWordRune(c)
		if start >= 0 && (alone || !word) {
			dst = append(dst, r.number(start, i))
			start = -1
		}
		switch {
		case alone:
			dst = append(dst, r.number(i, i+n))
		case start < 0 && word:
			start = i
		}
		i += n
	}
	if start >= 0 {
		dst = append(dst, r.number(start, len(r.text)))
	}
	return dst
}

// number returns the number of a token, a new one if it is new. The table has
// linear probing and is at most half full; a slot holds a number plus 1.
func (r *Rouge) number(start, end int) int32 {
	if 2*len(r.spans) >= len(r.slots) {
		r.growTable()
	}
	token, mask := r.text[start:end], uint64(len(r.slots)-1)
	for at := xxh3.Hash(token); ; at++ {
		slot := &r.slots[at&mask]
		if *slot == 0 {
			r.spans = append(r.spans, span{int32(start), int32(end)})
			*slot = int32(len(r.spans))
			return *slot - 1
		}
		if s := r.spans[*slot-1]; bytes.Equal(r.text[s.start:s.end], token) {
			return *slot - 1
		}
	}
}

func (r *Rouge) growTable() {
	r.slots = make([]int32, max(64, 2*len(r.slots)))
	for id, s := range r.spans {
		at := xxh3.Hash(r.text[s.start:s.end])
		for r.slots[at&uint64(len(r.slots)-1)] != 0 {
			at++
		}
		r.slots[at&uint64(len(r.slots)-1)] = int32(id) + 1
	}
}
