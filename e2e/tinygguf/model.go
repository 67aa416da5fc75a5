package tinygguf

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// The dimensions of the model. The width is a power of two, as Walsh rows
// are, and bounds the number of tokens that have a successor. All are as small
// as can be, because the server is built without vector instructions and a
// prompt of thousands of tokens should not take longer than a second or two.
const (
	width     = 64
	heads     = 1
	kvHeads   = 1
	feedWidth = 32
)

// gain is the logit of the first alternative of a part. At temperature 1 a
// token outside of the script has a chance of 1 to exp(24), or 4e-11, so a
// script is kept at any temperature in use.
const gain = 24

// decline is how much lower each further alternative is than the one before:
// enough that greedy decoding knows the first, and little enough that
// sampling at temperature 1 draws the second exp(-1/4) = 0.78 times as often.
const decline = 0.25

// A Script is an answer, and the token after which it begins.
type Script struct {
	// After is the last token of the prompt: a single byte such as "\n", or a
	// control token such as "<|answer|>", which is then made for it.
	After string
	// Parts are the tokens of the answer in order, each given as the text it
	// shows, with alternatives; the first is the likeliest.
	Parts [][]string
	// Endless answers begin again instead of ending.
	Endless bool
}

// A Spec is what a model says.
type Spec struct {
	Name    string
	Context int // the longest text in tokens
	Scripts []Script
}

// Weather is the model of the end-to-end tests. Which script is run depends
// on the last token of the prompt, so the prompt template decides:
//
//   - "\n": a call of get_weather for Paris
//   - <|answer|>: a final text
//   - <|dice|>: a call of get_weather for one of four cities
//   - <|broken|>: an attempt at a call that is no JSON
//   - <|endless|>: "la la la" until it is cut off
func Weather() Spec {
	one := func(texts ...string) (parts [][]string) {
		for _, t := range texts {
			parts = append(parts, []string{t})
		}
		return parts
	}
	return Spec{
		Name:    "tiny",
		Context: 32768,
		Scripts: []Script{
			{After: "\n", Parts: one("<tool_call>", "\n{\"name\": \"", "get_weather", "\", \"arguments\": {\"city\": \"", "Paris", "\"}}\n", "</tool_call>")},
			{After: "<|answer|>", Parts: one("<answer>", "It is sunny in Paris.", "</answer>")},
			{After: "<|dice|>", Parts: [][]string{
				{"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \""},
				{"Paris", "Oslo", "Rome", "Lima"},
				{"\"}}\n"},
				{"</tool_call>"},
			}},
			{After: "<|broken|>", Parts: one("<tool_call>\n{\"name\": get_weather, ", "and so on</tool_call>")},
			{After: "<|endless|>", Parts: one("la la "), Endless: true},
		},
	}
}

// Write writes the model as GGUF. The bytes depend on spec alone. It fails
// where a token would need two different sets of successors.
func Write(w io.Writer, spec Spec) error {
	v := newVocab(spec.Scripts)
	next, err := successors(v, spec.Scripts)
	if err != nil {
		return err
	}
	embed, output := weights(len(v.tokens), next)
	tensors := []tensor{
		{"token_embd.weight", len(v.tokens), width, embed},
		{"output_norm.weight", 1, width, ones(width)},
		{"output.weight", len(v.tokens), width, output},
		{"blk.0.attn_norm.weight", 1, width, ones(width)},
		{"blk.0.attn_q.weight", width, width, nil},
		{"blk.0.attn_k.weight", width / heads * kvHeads, width, nil},
		{"blk.0.attn_v.weight", width / heads * kvHeads, width, nil},
		{"blk.0.attn_output.weight", width, width, nil},
		{"blk.0.ffn_norm.weight", 1, width, ones(width)},
		{"blk.0.ffn_gate.weight", feedWidth, width, nil},
		{"blk.0.ffn_up.weight", feedWidth, width, nil},
		{"blk.0.ffn_down.weight", width, feedWidth, nil},
	}
	return writeGGUF(w, metadata(spec, v), tensors)
}

func metadata(spec Spec, v *vocab) []kv {
	end, pad := uint32(v.ids[endToken]), uint32(v.ids[padToken])
	return []kv{
		{"general.architecture", "llama"},
		{"general.name", spec.Name},
		{"general.file_type", uint32(0)}, // all F32
		{"general.quantization_version", uint32(2)},
		{"general.alignment", uint32(Alignment)},
		{"llama.context_length", uint32(spec.Context)},
		{"llama.embedding_length", uint32(width)},
		{"llama.block_count", uint32(1)},
		{"llama.feed_forward_length", uint32(feedWidth)},
		{"llama.attention.head_count", uint32(heads)},
		{"llama.attention.head_count_kv", uint32(kvHeads)},
		// The mean square of an embedding is 1, so this changes no logit by
		// more than 1 in 2e5.
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.dimension_count", uint32(width / heads)},
		{"llama.rope.freq_base", float32(10000)},
		{"llama.vocab_size", uint32(len(v.tokens))},
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.pre", "qwen2"},
		{"tokenizer.ggml.tokens", v.tokens},
		{"tokenizer.ggml.token_type", v.kinds},
		{"tokenizer.ggml.merges", v.merges},
		{"tokenizer.ggml.bos_token_id", pad},
		{"tokenizer.ggml.eos_token_id", end},
		{"tokenizer.ggml.eot_token_id", end},
		{"tokenizer.ggml.padding_token_id", pad},
		{"tokenizer.ggml.add_bos_token", false},
		{"tokenizer.chat_template", ChatTemplate},
	}
}

// ChatTemplate is for servers that render prompts by the template in the file,
// such as llama.cpp, and for trainers; Ollama takes that of the Modelfile.
//
//go:embed chat_template.jinja
var ChatTemplate string

// successors returns for each token that has any the tokens that may follow
// it, the likeliest first.
func successors(v *vocab, scripts []Script) (map[int][]int, error) {
	next := map[int][]int{}
	for _, s := range scripts {
		if len(s.Parts) == 0 {
			return nil, fmt.Errorf("tinygguf: the script after %q is empty", s.After)
		}
		steps := [][]string{{s.After}}
		steps = append(steps, s.Parts...)
		if s.Endless {
			steps = append(steps, s.Parts[0])
		} else {
			steps = append(steps, []string{endToken})
		}
		for i, from := range steps[:len(steps)-1] {
			to, err := v.all(steps[i+1])
			if err != nil {
				return nil, err
			}
			ids, err := v.all(from)
			if err != nil {
				return nil, err
			}
			for j, id := range ids {
				if old, ok := next[id]; ok && fmt.Sprint(old) != fmt.Sprint(to) {
					return nil, fmt.Errorf("tinygguf: %q is followed by %q after %q and by something else before: write it as another token", from[j], steps[i+1], s.After)
				}
				next[id] = to
			}
		}
	}
	if len(next) >= width {
		return nil, errors.New("tinygguf: more scripted tokens than the width of the model")
	}
	return next, nil
}

func (v *vocab) all(texts []string) ([]int, error) {
	ids := make([]int, len(texts))
	for i, t := range texts {
		id, err := v.id(t)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// weights returns the embedding and the output matrix. Tokens without a
// successor share the first Walsh row, which no output row has, so that all
// logits after them are 0.
func weights(tokens int, next map[int][]int) (embed, output []float32) {
	embed = make([]float32, tokens*width)
	output = make([]float32, tokens*width)
	row := 0
	for id := range tokens {
		r := 0
		if next[id] != nil {
			row++
			r = row
		}
		for i := range width {
			embed[id*width+i] = walsh(r, i)
			for j, to := range next[id] {
				logit := gain - decline*float32(j)
				output[to*width+i] += walsh(r, i) * logit / width
			}
		}
	}
	return embed, output
}

// walsh is the entry at column i of row r of the Walsh-Hadamard matrix:
// 1 or -1. Two rows are orthogonal.
func walsh(r, i int) float32 {
	return 1 - 2*float32(bits.OnesCount(uint(r&i))%2)
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
