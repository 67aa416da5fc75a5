package tinygguf

import (
	"encoding/json"
	"io"
	"strings"
)

// qwen2Words is how the pre-tokenizer "qwen2", which the model names, cuts text
// into words.
const qwen2Words = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

type object = map[string]any

// WriteTokenizer writes the tokenizer.json of the model: the ids that servers
// make of a prompt by its GGUF file.
func WriteTokenizer(w io.Writer, spec Spec) error {
	v := newVocab(spec.Scripts)
	vocab, added := map[string]int{}, []object{}
	for id, token := range v.tokens {
		vocab[token] = id // added tokens too: outside of it they would be counted on behind the rest
		if v.kinds[id] == kindNormal {
			continue
		}
		added = append(added, object{
			"id": id, "content": token, "special": v.kinds[id] == kindControl,
			"single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
		})
	}
	merges := make([][]string, len(v.merges))
	for i, m := range v.merges {
		merges[i] = strings.SplitN(m, " ", 2)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added, "normalizer": nil,
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": qwen2Words}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
		}},
		"post_processor": nil,
		"decoder":        object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
		"model": object{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": vocab, "merges": merges,
		},
	})
}
