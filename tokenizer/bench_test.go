package tokenizer_test

import (
	"strings"
	"testing"

	"assay/tokenizer"
)

// benchText is 64 kB of prose, code and tool calls.
func benchText() string {
	const part = `The ferry to Köln leaves at 9:30, if the weather holds; they've said it won't. ` +
		`{"name": "get_weather", "arguments": {"city": "Hamburg", "user_id": 104729, "units": "metric"}}` + "\n" +
		"for i := range words {\n\tif n := count(words[i]); n > 3 {\n\t\ttotal += n\n\t}\n}\n" +
		"погода сегодня ясная 今日は天気がいい\n"
	return strings.Repeat(part, 64<<10/len(part))
}

func BenchmarkCount(b *testing.B) {
	text := benchText()
	run := func(name string, load func(testing.TB) *tokenizer.Tokenizer) {
		b.Run(name, func(b *testing.B) {
			tok := load(b)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Count(text)
			}
		})
	}
	run("tiny", func(t testing.TB) *tokenizer.Tokenizer { return mustTiny(t, "qwen") })
	run("qwen3", func(t testing.TB) *tokenizer.Tokenizer { return real(t, "qwen3") })
	run("llama3_1", func(t testing.TB) *tokenizer.Tokenizer { return real(t, "llama3_1") })
}

// BenchmarkLongWord is a word that no pattern cuts: the time must not grow with
// the square of its length.
func BenchmarkLongWord(b *testing.B) {
	tok := mustTiny(b, "qwen")
	for _, size := range []struct {
		name string
		n    int
	}{{"1kB", 1 << 10}, {"16kB", 1 << 14}, {"256kB", 1 << 18}} {
		text := strings.Repeat("the", size.n/3)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tok.Count(text)
			}
		})
	}
}
