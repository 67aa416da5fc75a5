package tokenizer

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"unicode/utf8"
)

// byteRunes are the characters by which tokenizer.json writes bytes: those that
// are printable in Latin-1 stand for themselves, the others are moved to U+0100
// and following.
var byteRunes = func() (table [256]rune) {
	next := rune(0x100)
	for b := range table {
		switch {
		case '!' <= b && b <= '~', 0xA1 <= b && b <= 0xAC, 0xAE <= b && b <= 0xFF:
			table[b] = rune(b)
		default:
			table[b] = next
			next++
		}
	}
	return table
}()

// runeBytes is the inverse of byteRunes, -1 for other characters.
var runeBytes = func() (table [0x144]int16) {
	for r := range table {
		table[r] = -1
	}
	for b, r := range byteRunes {
		table[r] = int16(b)
	}
	return table
}()

// rawBytes returns the bytes that a token of the file stands for, and whether
// it stands for any.
func rawBytes(token string) (string, bool) {
	out := make([]byte, 0, len(token))
	for _, r := range token {
		if int(r) >= len(runeBytes) || runeBytes[r] < 0 {
			return "", false
		}
		out = append(out, byte(runeBytes[r]))
	}
	return string(out), true
}

// setVocab fills the tables of tokens.
func (t *Tokenizer) setVocab(vocab map[string]int) error {
	if len(vocab) == 0 {
		return fmt.Errorf("/model/vocab: want tokens, have none")
	}
	last := 0
	for token, id := range vocab {
		if id < 0 || id >= maxTokens {
			return fmt.Errorf("/model/vocab: token %q has id %d, want 0 to %d", token, id, maxTokens-1)
		}
		last = max(last, id)
	}
	t.tokens = make([]token, last+1)
	for text, id := range vocab {
		if tok := &t.tokens[id]; tok.known {
			return fmt.Errorf("/model/vocab: id %d stands for %q and %q", id, min(tok.text, text), max(tok.text, text))
		}
		raw, ok := rawBytes(text)
		t.tokens[id] = token{text: text, bytes: raw, known: true, reachable: ok}
	}
	t.modelSize = len(vocab)
	t.words = newWordTable(t.tokens)
	for b, r := range byteRunes {
		id, ok := vocab[string(r)]
		if !ok {
			return fmt.Errorf("/model/vocab: no token for the byte 0x%02x: want a byte-level vocabulary, which has all 256", b)
		}
		t.byteIDs[b] = uint32(id)
	}
	return nil
}

// A token is what an id stands for.
type token struct {
	text      string // as the file writes it
	bytes     string // of text that it makes
	known     bool   // false in gaps between ids
	reachable bool   // text has characters that stand for bytes only
	added     bool
}

// A wordTable finds the token that a word as a whole is. Most words are one
// token, so most need nothing else.
type wordTable struct {
	seed  maphash.Seed
	slots []wordSlot // a power of two, at most half full
	mask  uint64
	// whole tells of each id whether merging its bytes makes that one token: a
	// token can be out of reach of the merges. It is found out when the word is
	// first met, and always comes out the same.
	whole []atomic.Uint32
}

const (
	wholeUnknown uint32 = iota
	wholeYes
	wholeNo
)

type wordSlot struct{ tag, id1 uint32 } // id1 is the id plus 1, 0 for empty

func newWordTable(tokens []token) wordTable {
	size := 1 << bits.Len(uint(2*len(tokens)))
	w := wordTable{
		seed:  maphash.MakeSeed(),
		slots: make([]wordSlot, size),
		mask:  uint64(size - 1),
		whole: make([]atomic.Uint32, len(tokens)),
	}
	for id, tok := range tokens {
		if !tok.reachable || tok.bytes == "" {
			continue
		}
		h := maphash.String(w.seed, tok.bytes)
		i := h & w.mask
		for w.slots[i].id1 != 0 {
			i = (i + 1) & w.mask
		}
		w.slots[i] = wordSlot{tag: uint32(h >> 32), id1: uint32(id) + 1}
	}
	return w
}

// find returns the token that word is; h is its hash.
func (t *Tokenizer) find(word string, h uint64) (id uint32, ok bool) {
	w := &t.words
	for i := h & w.mask; ; i = (i + 1) & w.mask {
		s := w.slots[i]
		if s.id1 == 0 {
			return 0, false
		}
		if s.tag == uint32(h>>32) && t.tokens[s.id1-1].bytes == word {
			return s.id1 - 1, true
		}
	}
}

// A merge is what two neighbouring tokens become, and how early.
type merge struct{ rank, id uint32 }

// A mergeTable maps pairs of ids to merges.
type mergeTable struct {
	slots []mergeSlot // a power of two, at most half full
	shift uint
}

type mergeSlot struct {
	key uint64 // the pair, plus 1; 0 for empty
	merge
}

func newMergeTable(n int) mergeTable {
	width := bits.Len(uint(2*n + 1))
	return mergeTable{slots: make([]mergeSlot, 1<<width), shift: uint(64 - width)}
}

func pairKey(a, b uint32) uint64 { return uint64(a)<<32 + uint64(b) + 1 }

// slot is Fibonacci hashing.
func (m *mergeTable) slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> m.shift }

// put adds a merge. Of two for one pair the later one holds, as in the library.
func (m *mergeTable) put(a, b uint32, v merge) {
	key, mask := pairKey(a, b), uint64(len(m.slots)-1)
	i := m.slot(key)
	for m.slots[i].key != 0 && m.slots[i].key != key {
		i = (i + 1) & mask
	}
	m.slots[i] = mergeSlot{key, v}
}

// get returns what a and b become.
func (m *mergeTable) get(a, b uint32) (merge, bool) {
	key, mask := pairKey(a, b), uint64(len(m.slots)-1)
	for i := m.slot(key); ; i = (i + 1) & mask {
		s := &m.slots[i]
		if s.key == key {
			return s.merge, true
		}
		if s.key == 0 {
			return merge{}, false
		}
	}
}

// validUTF8 returns s with U+FFFD for every byte that belongs to no character.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
