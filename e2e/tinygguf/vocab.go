package tinygguf

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// corpus is the text from which the merges are learnt: the words of prompts
// about tools. With them a prompt is as many tokens as it would be for a real
// model, about one to four bytes; with bytes alone it would be four times as
// many, and no estimate of a context length would fit.
//
//go:embed corpus.txt
var corpus string

// maxMerges bounds the merges that are learnt. A merge is learnt while its
// pair occurs twice, and the corpus runs out of such pairs before the bound.
const maxMerges = 4000

// The kinds of tokens in GGUF's tokenizer.ggml.token_type.
const (
	kindNormal      = 1 // text in the byte alphabet
	kindControl     = 3 // recognised in a prompt, never shown in an answer
	kindUserDefined = 4 // recognised in a prompt, shown as it is written
)

// endToken ends an answer; padToken fills and begins texts.
const (
	endToken = "<|im_end|>"
	padToken = "<|endoftext|>"
)

// A vocab is the tokens of a model. The first 256 are the bytes in order, so
// that byte b has the ID b.
type vocab struct {
	tokens []string // normal tokens in the byte alphabet
	kinds  []int32
	merges []string       // "left right", the first has precedence
	ids    map[string]int // of tokens
}

// newVocab returns the bytes, the learnt merges, and the tokens of the
// scripts.
func newVocab(scripts []Script) *vocab {
	v := &vocab{ids: map[string]int{}}
	for b := range 256 {
		v.add(string(byteRune(byte(b))), kindNormal)
	}
	for _, t := range []string{padToken, "<|im_start|>", endToken} {
		v.add(t, kindControl)
	}
	for _, t := range []string{"<tool_call>", "</tool_call>"} {
		v.add(t, kindUserDefined)
	}
	for _, m := range learn(corpus, maxMerges) {
		v.merges = append(v.merges, m[0]+" "+m[1])
		v.add(m[0]+m[1], kindNormal)
	}
	for _, s := range scripts {
		if isControl(s.After) {
			v.add(s.After, kindControl)
		}
		for _, part := range s.Parts {
			for _, text := range part {
				if _, ok := v.ids[text]; !ok {
					v.add(byteText(text), kindNormal)
				}
			}
		}
	}
	return v
}

func (v *vocab) add(token string, kind int32) {
	if _, ok := v.ids[token]; ok {
		return
	}
	v.ids[token] = len(v.tokens)
	v.tokens = append(v.tokens, token)
	v.kinds = append(v.kinds, kind)
}

// id returns the ID of the token that shows as text.
func (v *vocab) id(text string) (int, error) {
	if id, ok := v.ids[text]; ok && v.kinds[id] != kindNormal {
		return id, nil
	}
	if id, ok := v.ids[byteText(text)]; ok {
		return id, nil
	}
	return 0, fmt.Errorf("tinygguf: no token %q: a script begins after a single byte or a <|control|> token", text)
}

// isControl reports whether text has the look of a control token.
func isControl(text string) bool {
	return strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>")
}

// byteRune is the letter that stands for byte b in byte-level BPE: itself if
// it is printable and no blank in Latin-1, else the next free one from 256 on.
func byteRune(b byte) rune {
	if printable(b) {
		return rune(b)
	}
	r := rune(256)
	for c := range b {
		if !printable(c) {
			r++
		}
	}
	return r
}

func printable(b byte) bool {
	return '!' <= b && b <= '~' || 0xA1 <= b && b != 0xAD
}

// byteText writes text in the byte alphabet.
func byteText(text string) string {
	var s strings.Builder
	for _, b := range []byte(text) {
		s.WriteRune(byteRune(b))
	}
	return s.String()
}

// pieces splits a text as the pre-tokenizer "qwen2" does, but for blanks
// before a word, where RE2 cannot look ahead. That only changes which merges
// are learnt.
var pieces = regexp.MustCompile(`[^\r\n\pL\pN]?\pL+|\pN| ?[^\s\pL\pN]+[\r\n]*|\s*[\r\n]+|\s`)

// learn returns at most limit merges of byte-pair encoding on text. Of pairs
// that are equally frequent the lesser string comes first, so the result is
// the same everywhere.
func learn(text string, limit int) [][2]string {
	count := map[string]int{}
	for _, p := range pieces.FindAllString(text, -1) {
		count[p]++
	}
	var words [][]string
	var weight []int
	for p, n := range count {
		words = append(words, strings.Split(byteText(p), ""))
		weight = append(weight, n)
	}
	var merges [][2]string
	for len(merges) < limit {
		pairs := map[[2]string]int{}
		for i, w := range words {
			for j := range len(w) - 1 {
				pairs[[2]string{w[j], w[j+1]}] += weight[i]
			}
		}
		var best [2]string
		most := 1
		for p, n := range pairs {
			if n > most || n == most && n > 1 && less(p, best) {
				best, most = p, n
			}
		}
		if most < 2 {
			break
		}
		merges = append(merges, best)
		for i, w := range words {
			words[i] = merge(w, best)
		}
	}
	return merges
}

func less(a, b [2]string) bool { return slices.Compare(a[:], b[:]) < 0 }

// merge joins every occurrence of pair in w, from the left, in place.
func merge(w []string, pair [2]string) []string {
	out := w[:0]
	for i := 0; i < len(w); i++ {
		if i+1 < len(w) && w[i] == pair[0] && w[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
			continue
		}
		out = append(out, w[i])
	}
	return out
}
