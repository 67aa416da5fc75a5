package match

import "math/bits"

// RougeL returns the ROUGE-L F1 of two token sequences,
//
//	F1 = 2·LCS / (len(got) + len(want))
//
// where LCS is the length of their longest common subsequence. It lies in
// [0,1] and is symmetric; two empty sequences score 1.
func RougeL(got, want []string) float64 {
	if len(got)+len(want) == 0 {
		return 1
	}
	var v vocabulary
	a, b := v.intern(want), v.intern(got)
	var s lcsScratch
	return 2 * float64(s.length(a, b, len(v.ids), 0)) / float64(len(got)+len(want))
}

// A vocabulary numbers tokens from 0.
type vocabulary struct{ ids map[string]int32 }

// intern returns the numbers of tokens, new ones for new tokens.
func (v *vocabulary) intern(tokens []string) []int32 {
	if v.ids == nil {
		v.ids = make(map[string]int32, len(tokens))
	}
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		id, ok := v.ids[t]
		if !ok {
			id = int32(len(v.ids))
			v.ids[t] = id
		}
		out[i] = id
	}
	return out
}

// unknown is the number of every token that is not in a vocabulary. It equals
// no token of the other side, so one number does for all.
const unknown = -1

// look returns the numbers of tokens, unknown for new ones.
func (v *vocabulary) look(tokens []string) []int32 {
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		if id, ok := v.ids[t]; ok {
			out[i] = id
		} else {
			out[i] = unknown
		}
	}
	return out
}

// need returns the least LCS with which the F1 of m and n tokens is at least
// num/den: the smallest L with 2·L·den >= num·(m+n). For 7/10 that is the test
// 20·L >= 7·(m+n).
func need(m, n, num, den int) int {
	return (num*(m+n) + 2*den - 1) / (2 * den)
}

// An lcsScratch holds the buffers of a longest common subsequence, to be used
// again for the next pair. Its zero value is ready.
type lcsScratch struct {
	counts []int32 // per token: how often; zero between uses
	starts []int32 // per token: first entry in cells
	cells  []cell
	rows   []uint64
	masks  []uint64 // per token, for short patterns; zero between uses
}

// A cell is a word of a token's bit vector that is not zero: bit i of word w
// is set if the token stands at position 64·w+i of the pattern.
type cell struct {
	word int32
	bits uint64
}

// reaches reports whether the LCS of a and b is at least want. Tokens of a are
// in [0,vocab), those of b may also be unknown.
func (s *lcsScratch) reaches(a, b []int32, vocab, want int) bool {
	if min(len(a), len(b)) < want {
		return false
	}
	if want <= 0 {
		return true
	}
	return s.overlap(a, b, vocab, want) && s.length(a, b, vocab, want) >= want
}

// overlap reports whether a and b share at least want tokens, order aside: a
// bound that spares most unlike pairs the LCS.
func (s *lcsScratch) overlap(a, b []int32, vocab, want int) bool {
	s.counts = grow(s.counts, vocab)
	for _, t := range a {
		s.counts[t]++
	}
	shared := 0
	for _, t := range b {
		if t != unknown && s.counts[t] > 0 {
			s.counts[t]--
			shared++
		}
	}
	for _, t := range a {
		s.counts[t] = 0
	}
	return shared >= want
}

// length returns the LCS of a and b. If want is positive it may stop early, on
// the same side of want as the LCS.
//
// It is the bit-parallel form of the dynamic program: one row as a bit vector,
// in which a zero bit is a step up, and one addition per 64 cells and token of
// b (Crochemore, Iliopoulos, Pinzon and Reid, 2001; Hyyrö, 2004). Memory is
// O(len(a) + vocab).
func (s *lcsScratch) length(a, b []int32, vocab, want int) int {
	same := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
		same++
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		same++
	}
	switch {
	case len(a) == 0 || len(b) == 0 || want > 0 && same >= want:
		return same
	case len(a) <= 64:
		return same + s.short(a, b, vocab)
	}
	return same + s.long(a, b, vocab, want-same)
}

// short is the LCS for a pattern a of at most 64 tokens.
func (s *lcsScratch) short(a, b []int32, vocab int) int {
	s.masks = grow(s.masks, vocab)
	for i, t := range a {
		s.masks[t] |= 1 << i
	}
	row := ^uint64(0)
	for _, t := range b {
		if t == unknown {
			continue
		}
		m := s.masks[t]
		row = (row + row&m) | row&^m
	}
	for _, t := range a {
		s.masks[t] = 0
	}
	return bits.OnesCount64(^row << (64 - len(a)))
}

// long is the LCS for any pattern a.
func (s *lcsScratch) long(a, b []int32, vocab, want int) int {
	s.index(a, vocab)
	words := (len(a) + 63) / 64
	s.rows = s.rows[:0]
	for range words {
		s.rows = append(s.rows, ^uint64(0))
	}
	// What is found so far costs a pass over the row, so it is asked for only
	// every so many tokens.
	every := max(256, words)
	for j, t := range b {
		if want > 0 && j > 0 && j%every == 0 && s.found()+len(b)-j < want {
			break
		}
		if t != unknown {
			s.step(s.cells[s.starts[t]:s.starts[t+1]])
		}
	}
	return s.found()
}

// step adds one token of b to the row. Words in which the token does not occur
// change only by a carry, so they are visited only while there is one.
func (s *lcsScratch) step(cells []cell) {
	var carry uint64
	next := 0 // first word not visited yet
	for _, c := range cells {
		next = s.ripple(next, int(c.word), &carry)
		row := s.rows[c.word]
		var sum uint64
		sum, carry = bits.Add64(row, row&c.bits, carry)
		s.rows[c.word] = sum | row&^c.bits
		next++
	}
	s.ripple(next, len(s.rows), &carry)
}

// ripple carries into the words from next on, up to end, and returns end.
func (s *lcsScratch) ripple(next, end int, carry *uint64) int {
	for ; *carry != 0 && next < end; next++ {
		row := s.rows[next]
		var sum uint64
		sum, *carry = bits.Add64(row, 0, *carry)
		s.rows[next] = sum | row
	}
	return end
}

// found returns the number of zero bits of the row. Bits past the pattern are
// in no cell, so they stay one.
func (s *lcsScratch) found() int {
	zeros := 0
	for _, row := range s.rows {
		zeros += bits.OnesCount64(^row)
	}
	return zeros
}

// index fills starts and cells with the words of each token of a.
func (s *lcsScratch) index(a []int32, vocab int) {
	s.starts = grow(s.starts, vocab+2)
	clear(s.starts[:vocab+2])
	s.counts = grow(s.counts, vocab) // here: the last word of a token, plus 1
	for i, t := range a {
		if w := int32(i/64) + 1; s.counts[t] != w {
			s.counts[t] = w
			s.starts[t+2]++
		}
	}
	for t := 2; t < vocab+2; t++ {
		s.starts[t] += s.starts[t-1]
	}
	total := int(s.starts[vocab+1])
	if cap(s.cells) < total {
		s.cells = make([]cell, total)
	}
	s.cells = s.cells[:total]
	for _, t := range a {
		s.counts[t] = 0
	}
	for i, t := range a {
		w := int32(i/64) + 1
		if s.counts[t] != w {
			s.counts[t] = w
			s.cells[s.starts[t+1]] = cell{word: w - 1}
			s.starts[t+1]++
		}
		s.cells[s.starts[t+1]-1].bits |= 1 << (i % 64)
	}
	for _, t := range a {
		s.counts[t] = 0
	}
}

// grow returns buf with room for n values; new ones are zero.
func grow[T any](buf []T, n int) []T {
	if len(buf) >= n {
		return buf
	}
	return append(buf, make([]T, n-len(buf))...)
}
