package tokenizer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/tokenizer"
)

// tiny returns a tokenizer of testdata/tiny.json, a vocabulary of 418 tokens
// trained on a text of our own, in the form that edit gives the file.
func tiny(t testing.TB, edit func(doc map[string]any)) (*tokenizer.Tokenizer, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	edit(doc)
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	return tokenizer.Load(bytes.NewReader(data))
}

// A variant is a form of tiny.json, as testdata/variants.json lists them.
type variant struct {
	Pattern      string `json:"pattern"`
	NFC          bool   `json:"nfc"`
	IgnoreMerges bool   `json:"ignore_merges"`
	StringMerges bool   `json:"string_merges"`
	PrefixSpace  bool   `json:"prefix_space"`
}

func (v variant) edit(doc map[string]any) {
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": v.PrefixSpace, "use_regex": v.Pattern == "gpt2"}
	doc["pre_tokenizer"] = level
	for _, p := range tokenizer.Patterns() {
		if p.Name == v.Pattern && p.Name != "gpt2" {
			split := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": p.Regexp}, "behavior": "Isolated", "invert": false}
			doc["pre_tokenizer"] = map[string]any{"type": "Sequence", "pretokenizers": []any{split, level}}
		}
	}
	if !v.NFC {
		doc["normalizer"] = nil
	}
	model, _ := doc["model"].(map[string]any)
	model["ignore_merges"] = v.IgnoreMerges
	if v.StringMerges {
		merges, _ := model["merges"].([]any)
		for i := range merges {
			pair, _ := merges[i].([]any)
			merges[i] = pair[0].(string) + " " + pair[1].(string)
		}
	}
}

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func variants(t testing.TB) map[string]variant {
	var vs map[string]variant
	readJSON(t, "variants.json", &vs)
	return vs
}

func mustTiny(t testing.TB, name string) *tokenizer.Tokenizer {
	t.Helper()
	v, ok := variants(t)[name]
	if !ok {
		t.Fatalf("no variant %q", name)
	}
	tok, err := tiny(t, v.edit)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// real returns the tokenizer of a model, which bench/tokens/get.sh fetches.
func real(t testing.TB, name string) *tokenizer.Tokenizer {
	t.Helper()
	dir := os.Getenv("ASSAY_TOKENIZERS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "assay-tokenizers")
	}
	tok, err := tokenizer.LoadFile(filepath.Join(dir, name, "tokenizer.json"))
	if os.IsNotExist(err) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no tokenizer of %s in %s: run bench/tokens/get.sh", name, dir)
		}
		t.Skipf("no tokenizer of %s in %s: bench/tokens/get.sh fetches it", name, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// vectors are the ids that @anush008/tokenizers 0.6.0, which is Hugging Face's
// library for Node, gives for testdata/texts.json. bench/tokens/vectors.mjs
// writes them.
func vectors(t testing.TB) (texts []string, ids map[string][][]int) {
	var v struct{ IDs map[string][][]int }
	readJSON(t, "texts.json", &texts)
	readJSON(t, "vectors.json", &v)
	for name, rows := range v.IDs {
		if len(rows) != len(texts) {
			t.Fatalf("%s: %d rows for %d texts: run bench/tokens/vectors.mjs", name, len(rows), len(texts))
		}
	}
	return texts, v.IDs
}

func checkVectors(t *testing.T, tok *tokenizer.Tokenizer, texts []string, want [][]int) {
	t.Helper()
	for i, text := range texts {
		got := tok.Encode(text)
		if !slices.Equal(got, want[i]) {
			t.Errorf("Encode(%q)\n = %v (%q)\nwant %v (%q)", text, got, names(tok, got), want[i], names(tok, want[i]))
		}
		if n := tok.Count(text); n != len(want[i]) {
			t.Errorf("Count(%q) = %d; want %d", text, n, len(want[i]))
		}
	}
}

func names(tok *tokenizer.Tokenizer, ids []int) []string {
	var out []string
	for _, id := range ids {
		text, _ := tok.Token(id)
		out = append(out, text)
	}
	return out
}

// TestVectors holds the algorithm, for every pattern and flag, on a vocabulary
// that is small enough to be here.
func TestVectors(t *testing.T) {
	texts, want := vectors(t)
	vs := variants(t)
	if len(vs) == 0 {
		t.Fatal("no variants")
	}
	for name := range vs {
		t.Run(name, func(t *testing.T) { checkVectors(t, mustTiny(t, name), texts, want[name]) })
	}
}

// TestModelVectors holds two families on their own files.
func TestModelVectors(t *testing.T) {
	texts, want := vectors(t)
	for _, name := range []string{"qwen3", "llama3_1"} {
		t.Run(name, func(t *testing.T) { checkVectors(t, real(t, name), texts, want[name]) })
	}
}
