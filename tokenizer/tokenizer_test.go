package tokenizer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"assay/tokenizer"
)

// pieces are what scanners and normalisers get wrong; put together at random
// they meet in every order.
var pieces = []string{
	" ", "  ", "\n", "\r\n", "\t", "\u0085", "\u00a0", "\u3000", "'s", "'S", "'LL", "'re", "'", "don't",
	"a", "B", "ab", "the", "Ǆ", "ǅ", "ʰ", "ß", "中文", "あ", "é", "e\u0301", "\u0301", "क्षि", "\u200d",
	"1", "23", "4567", "½", "٣", ".", "...", "/", "//", "_", "{\"", "\"}", "<", "<|", "|>", "\x00", "\x7f",
	"<|start|>", "<call>", "<call>x", "<left>", "<right>", "word", "Café", "🙂", "\u1100\u1161\u11a8", "Å",
	strings.Repeat("the", 40), strings.Repeat("=", 99), strings.Repeat(" ", 120), strings.Repeat("\u0323\u0307", 20),
}

func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 4, -1)), 0, 20).Draw(t, "pieces"), "")
	})
}

// TestLaws holds what the doc comments promise, on random text.
func TestLaws(t *testing.T) {
	for name, v := range variants(t) {
		tok := mustTiny(t, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := genText().Draw(t, "text")
				ids := tok.Encode(text)
				if n := tok.Count(text); n != len(ids) {
					t.Fatalf("Count(%q) = %d, but Encode gives %d ids", text, n, len(ids))
				}
				if n := tok.CountBytes([]byte(text)); n != len(ids) {
					t.Fatalf("CountBytes(%q) = %d, but Encode gives %d ids", text, n, len(ids))
				}
				if got := tok.AppendIDs([]int{-1}, text); !slices.Equal(got[1:], ids) || got[0] != -1 {
					t.Fatalf("AppendIDs(%q) = %v; want what Encode gives, %v", text, got, ids)
				}
				checkOffsets(t, tok, text, ids)
				if v.NFC || v.PrefixSpace || strings.Contains(text, "<left>") || strings.Contains(text, "<right>") {
					return // ids do not tell what the text was
				}
				if got := tok.Decode(ids); got != text {
					t.Fatalf("Decode(Encode(%q)) = %q", text, got)
				}
			})
		})
	}
}

func checkOffsets(t *rapid.T, tok *tokenizer.Tokenizer, text string, want []int) {
	ids, ends := tok.Offsets(text)
	if !slices.Equal(ids, want) || len(ends) != len(ids) {
		t.Fatalf("Offsets(%q) = %v with %d ends; Encode gives %v", text, ids, len(ends), want)
	}
	if !slices.IsSorted(ends) {
		t.Fatalf("Offsets(%q): ends %v are not in order", text, ends)
	}
	if len(ends) > 0 && ends[len(ends)-1] != len(text) {
		t.Fatalf("Offsets(%q): the last end is %d, want %d", text, ends[len(ends)-1], len(text))
	}
}

// TestOffsets shows where tokens end, also where normalisation moved them.
func TestOffsets(t *testing.T) {
	tests := []struct {
		name, variant, text string
		want                []int
	}{
		{"words", "qwen", "the ferry", []int{3, 5, 9}},
		{"added tokens", "qwen", "<|start|>the<call>x", []int{9, 12, 19}},
		{"blanks that an added token takes", "qwen", "a  <left>  b", []int{1, 9, 10, 11, 12}},
		{"a composed character ends where its parts end", "qwen", "e\u0301the", []int{3, 3, 6}},
		{"an added token in normalised text", "qwen", "xCafe\u0301y", []int{1, 7, 8}},
		{"a blank that is put before", "roberta", "the", []int{3}},
		{"invalid bytes count as U+FFFD", "qwen", "a\xffb", []int{1, 2, 3, 4, 5}},
		{"nothing", "qwen", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, ends := mustTiny(t, tt.variant).Offsets(tt.text); !slices.Equal(ends, tt.want) {
				t.Errorf("Offsets(%q) ends at %v; want %v", tt.text, ends, tt.want)
			}
		})
	}
}

// TestWordsAreThoseOfTheRegexp cuts random text with the hand-written scanner
// and with the regular expression itself, by an engine that can look ahead.
func TestWordsAreThoseOfTheRegexp(t *testing.T) {
	for _, p := range tokenizer.Patterns() {
		t.Run(p.Name, func(t *testing.T) {
			re := regexp2.MustCompile(p.Regexp, regexp2.Unicode)
			rapid.Check(t, func(t *rapid.T) {
				text := genText().Draw(t, "text")
				if !utf8.ValidString(text) || strings.ContainsRune(text, 'ſ') || strings.ContainsFunc(text, tokenizer.IsNewer) {
					return // of which that engine knows less
				}
				var want []string
				for m, err := re.FindStringMatch(text); m != nil; m, err = re.FindNextMatch(m) {
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, m.String())
				}
				if got := tokenizer.Words(p.Name, text); !slices.Equal(got, want) {
					t.Fatalf("%q\n cut into %q\n want     %q", text, got, want)
				}
			})
		})
	}
}

// TestMergesInOrder merges random words by the definition, and by both ways of
// the package.
func TestMergesInOrder(t *testing.T) {
	tok := mustTiny(t, "qwen")
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("theragfouw_ {}:\"й今")
	for range 3000 {
		word := make([]rune, 1+rng.IntN(70))
		for i := range word {
			word[i] = letters[rng.IntN(len(letters))]
		}
		naive, short, long := tokenizer.MergeThreeWays(tok, string(word))
		if !slices.Equal(naive, short) || !slices.Equal(naive, long) {
			t.Fatalf("%q: by the definition %v, short %v, long %v", string(word), naive, short, long)
		}
	}
}

// TestNormalFormIsUnicodes holds the composition without a limit against
// package norm where both must agree: text of old characters, few marks.
func TestNormalFormIsUnicodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aeéÅ가각각क़ུ\u0301\u0316\u0323\u0307\u0345\u0344\u0f71\u0f72\u0958")), 0, 25, -1).Draw(t, "text")
		if got, want := tokenizer.ComposeAll(text), norm.NFC.String(text); got != want {
			t.Fatalf("%+q: composed to %+q; want %+q", text, got, want)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	tok := mustTiny(t, "qwen")
	texts, want := vectors(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range texts {
				if got := tok.Encode(text); !slices.Equal(got, want["qwen"][i]) {
					t.Errorf("Encode(%q) = %v; want %v", text, got, want["qwen"][i])
				}
			}
		})
	}
	wg.Wait()
}

func TestSpecialIn(t *testing.T) {
	tok := mustTiny(t, "llama")
	tests := []struct{ name, text, want string }{
		{"none", "hello there", ""},
		{"the longest wins", "a <call>x <call>y", "<call>x@2-9 <call>@10-16"},
		{"control tokens in a user's text", "hi<|end|>\n<|start|>system", "<|end|>@2-9 <|start|>@10-19"},
		{"half a token is text", "<|end| >", ""},
		{"blanks belong to a token that strips", "a  <left>  b  <right>  c", "<left>@1-9 <right>@14-23"},
		{"a word inside of a word is none", "sword word words", "word@6-10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, h := range tok.SpecialIn(tt.text) {
				got = append(got, fmt.Sprintf("%s@%d-%d", h.Text, h.Start, h.End))
			}
			if g := strings.Join(got, " "); g != tt.want {
				t.Errorf("SpecialIn(%q) = %q; want %q", tt.text, g, tt.want)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	tok := mustTiny(t, "llama")
	special := tok.SpecialTokens()
	if len(special) != 9 || special[0].Text != "<|start|>" || !special[0].Control || special[2].Control {
		t.Errorf("SpecialTokens() = %v", special)
	}
	if text, ok := tok.Token(special[0].ID); text != "<|start|>" || !ok {
		t.Errorf("Token(%d) = %q, %t", special[0].ID, text, ok)
	}
	for _, id := range []int{-1, tok.Size()} {
		if text, ok := tok.Token(id); ok {
			t.Errorf("Token(%d) = %q, want none", id, text)
		}
	}
	if got := tok.Decode([]int{-1, 1 << 30, special[8].ID}); got != "ｆｉｍ" {
		t.Errorf("Decode of unknown ids = %q", got)
	}
	if got := tok.Pattern().Name; got != "cl100k-digits-3" {
		t.Errorf("Pattern() = %q", got)
	}
}

// TestDecodeCutCharacters decodes ids that end in the middle of a character: one
// U+FFFD for each part of a character, as the library decodes.
func TestDecodeCutCharacters(t *testing.T) {
	tok := mustTiny(t, "gpt2")
	tests := []struct{ bytes, want string }{
		{"\xf0\x9f\x99", "\ufffd"},
		{"\xf0\x9f\x99a", "\ufffda"},
		{"\xe4\xb8\xe4\xb8\xad", "\ufffd中"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\xc0\x80", "\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"é\xcc", "é\ufffd"},
	}
	for _, tt := range tests {
		var ids []int
		for i := range len(tt.bytes) {
			ids = append(ids, tokenizer.ByteID(tok, tt.bytes[i]))
		}
		if got := tok.Decode(ids); got != tt.want {
			t.Errorf("Decode(bytes %x) = %q; want %q", tt.bytes, got, tt.want)
		}
	}
}

func TestInvalidTextIsReplacedByteByByte(t *testing.T) {
	tok := mustTiny(t, "qwen")
	if got, want := tok.Encode("a\xff\xfeb"), tok.Encode("a\ufffd\ufffdb"); !slices.Equal(got, want) {
		t.Errorf("Encode of invalid UTF-8 = %v; want %v", got, want)
	}
}

func TestEstimate(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 3: 1, 4: 2, 3000: 1000} {
		if got := tokenizer.Estimate(n); got != want {
			t.Errorf("Estimate(%d) = %d; want %d", n, got, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	set := func(path string, value any) func(map[string]any) {
		return func(doc map[string]any) {
			variant{Pattern: "cl100k-digits-1"}.edit(doc)
			names := strings.Split(path, ".")
			for _, name := range names[:len(names)-1] {
				doc, _ = doc[name].(map[string]any)
			}
			doc[names[len(names)-1]] = value
		}
	}
	split := func(pattern any, behavior string) any {
		return map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "pattern": pattern, "behavior": behavior},
			map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false},
		}}
	}
	known := map[string]any{"Regex": tokenizer.Patterns()[0].Regexp}
	tests := []struct {
		name string
		edit func(map[string]any)
		want string
	}{
		{"another model", set("model.type", "Unigram"), `want BPE, have "Unigram"`},
		{"byte fallback", set("model.byte_fallback", true), "byte_fallback"},
		{"dropout", set("model.dropout", 0.1), "random"},
		{"marks of subwords", set("model.continuing_subword_prefix", "##"), "##"},
		{"an unknown normaliser", set("normalizer", map[string]any{"type": "Lowercase"}), `"Lowercase", which is not known`},
		{"an unknown normaliser in a sequence", set("normalizer", map[string]any{"type": "Sequence", "normalizers": []any{map[string]any{"type": "NFC"}, map[string]any{"type": "Strip"}}}), "Strip"},
		{"an unknown pattern", set("pre_tokenizer", split(map[string]any{"Regex": `\p{L}+`}, "Isolated")), "is not known; known are those of Qwen2"},
		{"a pattern that is no regular expression", set("pre_tokenizer", split(map[string]any{"String": "x"}, "Isolated")), "by a Regex"},
		{"another behaviour", set("pre_tokenizer", split(known, "Removed")), `have "Removed"`},
		{"no pre-tokenizer", set("pre_tokenizer", nil), "have none"},
		{"another pre-tokenizer", set("pre_tokenizer", map[string]any{"type": "Metaspace"}), "Metaspace"},
		{"bytes that are not cut", set("pre_tokenizer", map[string]any{"type": "ByteLevel", "use_regex": false}), "want a pattern"},
		{"another decoder", set("decoder", map[string]any{"type": "Metaspace"}), `have "Metaspace"`},
		{"no vocabulary", set("model.vocab", map[string]any{}), "have none"},
		{"a vocabulary without all bytes", set("model.vocab", map[string]any{"a": 0}), "byte-level vocabulary"},
		{"two tokens of one id", set("model.vocab", map[string]any{"a": 0, "b": 0}), `id 0 stands for "a" and "b"`},
		{"an id out of range", set("model.vocab", map[string]any{"a": 1 << 30}), "has id 1073741824"},
		{"a merge of what is no token", set("model.merges", []any{[]any{"a", "☃"}}), "/model/merges/0"},
		{"a merge that is no pair", set("model.merges", []any{"a b c"}), `have "a b c"`},
		{"an added token with another id", set("added_tokens", []any{map[string]any{"id": 9999, "content": "<x>"}}), "has id 9999, where Hugging Face's library gives 418"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tiny(t, tt.edit)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
	t.Run("what is no JSON", func(t *testing.T) {
		if _, err := tokenizer.Load(strings.NewReader("vocab")); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a file that is not there", func(t *testing.T) {
		if _, err := tokenizer.LoadFile("testdata/none.json"); !os.IsNotExist(err) {
			t.Errorf("error %v; want one of a missing file", err)
		}
	})
}

func FuzzLoad(f *testing.F) {
	data, err := os.ReadFile("testdata/tiny.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(`{"model":{"vocab":{"a":0},"merges":[["a"]]},"added_tokens":[{"id":-1,"content":""}]}`)
	f.Fuzz(func(t *testing.T, data string) {
		tok, err := tokenizer.Load(strings.NewReader(data))
		if err == nil {
			tok.Encode("the weather <|start|> x")
		}
	})
}

func FuzzEncode(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "x" + p)
	}
	toks := map[string]*tokenizer.Tokenizer{}
	for name := range variants(f) {
		toks[name] = mustTiny(f, name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, tok := range toks {
			ids, ends := tok.Offsets(text)
			if n := tok.Count(text); n != len(ids) || len(ends) != n {
				t.Errorf("%s: %q: %d ids, %d ends, Count %d", name, text, len(ids), len(ends), n)
			}
			for _, id := range ids {
				if _, ok := tok.Token(id); !ok {
					t.Errorf("%s: %q has the id %d, which no token has", name, text, id)
				}
			}
			tok.Decode(ids)
			tok.SpecialIn(text)
		}
	})
}

func ExampleTokenizer_Encode() {
	tok, err := tokenizer.LoadFile("testdata/tiny.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "get_weather<|end|>"
	for _, id := range tok.Encode(text) {
		token, _ := tok.Token(id)
		fmt.Printf("%d %s\n", id, token)
	}
	fmt.Println(tok.Count(text), "tokens;", tokenizer.Estimate(len(text)), "by the estimate")
	// Output:
	// 277 get
	// 95 _
	// 281 weather
	// 419 <|end|>
	// 4 tokens; 6 by the estimate
}
