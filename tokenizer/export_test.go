package tokenizer

import "unicode"

// IsNewer reports whether r is of Unicode 16 and unknown to the standard
// library.
func IsNewer(r rune) bool {
	for _, row := range newer {
		if row.lo <= r && r <= row.hi {
			return true
		}
	}
	return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.P, unicode.S, unicode.Z, unicode.C) // not assigned
}

// Words cuts text by the pattern of that name.
func Words(pattern, text string) []string {
	var out []string
	for _, known := range patterns {
		if known.Name != pattern {
			continue
		}
		p, _ := patternOf(known.Regexp)
		text = validUTF8(text)
		for i := 0; i < len(text); {
			end := p.word(text, i)
			out = append(out, text[i:end])
			i = end
		}
	}
	return out
}

// MergeThreeWays merges a word by the definition and by the two ways of the
// package.
func MergeThreeWays(t *Tokenizer, word string) (naive, short, long []uint32) {
	for i := range len(word) {
		naive = append(naive, t.byteIDs[word[i]])
	}
	for {
		best, at := merge{rank: noMerge}, -1
		for i := 0; i+1 < len(naive); i++ {
			if m := t.mergeOf(naive[i], naive[i+1]); m.rank < best.rank {
				best, at = m, i
			}
		}
		if at < 0 {
			break
		}
		naive = append(append(append([]uint32{}, naive[:at]...), best.id), naive[at+2:]...)
	}
	e := &encoder{}
	ids := e.bytes(t, word)
	short = append(short, e.mergeShort(t, ids)...)
	long = append(long, e.mergeLong(t, e.bytes(t, word))...)
	return naive, short, long
}

// ComposeAll is the composition for long runs of marks.
func ComposeAll(s string) string { return composeAll(s) }

// ByteID returns the id of a byte.
func ByteID(t *Tokenizer, b byte) int { return int(t.byteIDs[b]) }
