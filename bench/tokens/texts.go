package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// makeTexts returns texts of a kind, the same ones each time, of about size
// bytes in all (all there are for code and chars).
func makeTexts(kind string, size int) ([]string, error) {
	rng := rand.New(rand.NewPCG(1, uint64(len(kind))))
	switch kind {
	case "prose":
		return fill(size, func() string { return prose(rng) }), nil
	case "tools":
		return fill(size, func() string { return tools(rng) }), nil
	case "random":
		return fill(size, func() string { return mixture(rng) }), nil
	case "chars":
		return everyChar(), nil
	case "code":
		return sourceFiles(".", size)
	}
	return nil, fmt.Errorf("kind %q: want prose, code, tools, chars or random", kind)
}

func fill(size int, f func() string) []string {
	var out []string
	for n := 0; n < size; {
		text := f()
		n += len(text)
		out = append(out, text)
	}
	return out
}

// stems are the parts that words are put together from, so that a text has
// common, rare and unheard-of words as real text has.
var stems = [][]string{
	strings.Fields("the of a weather station reports that rain will reach harbour before noon and ferry crossing is late because wind has turned north east since morning people who've booked can't leave until tide comes back we're told it'll be calm by Friday's market"),
	strings.Fields("der die das Wetterbericht sagt dass Züge zwischen Köln und Zürich größtenteils pünktlich fahren während Straßenbahnen übermäßig verspätet ankommen weil Schneefälle Gleise blockieren Reisende müssen umsteigen"),
	strings.Fields("le la les prévision météorologique annonce qu'il pleuvra aujourd'hui près de l'île où habitent mes élèves après déjeuner ça s'améliorera peut-être dès que naïveté cœur garçon"),
	strings.Fields("погода сегодня обещает быть ясной однако ветер усилится к вечеру поезд отправляется из Москвы в девять часов утра билеты проданы"),
	strings.Fields("今日 天気 は 晴れ です 東京 から 大阪 まで 新幹線 で 行きます 予約 を 確認 して ください レストラン の 電話番号"),
	strings.Fields("今天 天气 很好 我们 去 北京 看 长城 请 帮 我 查询 航班 信息 并且 预订 酒店 谢谢"),
	strings.Fields("الطقس اليوم مشمس والرياح خفيفة يصل القطار إلى المحطة في الساعة التاسعة صباحا"),
	strings.Fields("मौसम आज साफ़ है और हवा धीमी चल रही है ट्रेन सुबह नौ बजे स्टेशन पहुँचेगी"),
	strings.Fields("อากาศ วันนี้ แจ่มใส รถไฟ ออก จาก สถานี เวลา เก้า โมงเช้า"),
	strings.Fields("🙂 👩‍👩‍👧 🇩🇪 ½ № ™ … — “quoted” 12:30 3.1415 2026-11-30 1,234,567 €99.90 50% C++ e.g. www.example.org"),
}

func prose(rng *rand.Rand) string {
	var b strings.Builder
	words := stems[rng.IntN(len(stems))]
	if rng.IntN(3) > 0 {
		words = stems[0]
	}
	for range 20 + rng.IntN(200) {
		if rng.IntN(25) == 0 {
			words = stems[rng.IntN(len(stems))]
		}
		word := words[rng.IntN(len(words))]
		switch rng.IntN(30) {
		case 0:
			word += words[rng.IntN(len(words))]
		case 1:
			word = strings.ToUpper(word)
		case 2:
			r, w := utf8.DecodeRuneInString(word)
			word = string(unicode.ToUpper(r)) + word[w:]
		}
		b.WriteString(word)
		b.WriteString([]string{" ", " ", " ", " ", " ", " ", ", ", ". ", ".\n", "\n\n"}[rng.IntN(10)])
	}
	return b.String()
}

// syllables make names of tools such as gis_deartlin_2951.
var syllables = strings.Fields("get set find gis list user flight weather order deart lin book quo ta ven pay ro mi sal track er price map info by id")

func toolName(rng *rand.Rand) string {
	var parts []string
	for range 1 + rng.IntN(3) {
		parts = append(parts, syllables[rng.IntN(len(syllables))]+strings.Repeat(syllables[rng.IntN(len(syllables))], rng.IntN(2)))
	}
	name := strings.Join(parts, "_")
	if rng.IntN(3) == 0 {
		name += fmt.Sprintf("_%d", rng.IntN(10000))
	}
	return name
}

func tools(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range 1 + rng.IntN(8) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"type": "function", "function": {"name": %q, "description": %q, "parameters": {"type": "object", "properties": {`, toolName(rng), strings.TrimSpace(prose(rng)[:12]))
		for k := range 1 + rng.IntN(5) {
			if k > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, `%q: {"type": "string", "description": "The %s of the %s. Default is '%s'.", "default": "%x"}`, toolName(rng), toolName(rng), toolName(rng), toolName(rng), rng.Uint32())
		}
		b.WriteString(`}, "required": []}}}`)
	}
	b.WriteString("]\n<tool_call>\n")
	fmt.Fprintf(&b, `{"name": %q, "arguments": {"q": %q, "n": %d, "x": %.3f}}`, toolName(rng), toolName(rng), rng.IntN(1e9), rng.Float64()*1000)
	b.WriteString("\n</tool_call>")
	return b.String()
}

// bits are what a scanner can get wrong: put together at random they meet in
// every order.
var bits = []string{
	" ", "  ", "   ", "\n", "\r\n", "\r", "\t", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000",
	"'s", "'S", "'ſ", "'t", "'LL", "'re", "'Ve", "'d", "'M", "'", "’s", "ſ", "K", "don't", "I'LL", "x'",
	"a", "B", "Ǆ", "ǅ", "ʰ", "ß", "中", "文字", "あ", "한국", "Ж", "é", "e\u0301", "\u0301", "\u0301\u0316", "क्षि", "ำ", "ﷺ", "\u200d", "\ufeff", "\u00ad", "\u0345", "\U0001d400", "𠀀",
	"1", "23", "456", "7890123", "½", "Ⅷ", "٣", "௧", "²",
	".", "...", "!?", "/", "//", "://", "_", "-", "{\"", "\"}", "<", ">", "<|", "|>", "\\n", "\x00", "\x7f", "\u0378",
	"<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "<|eot_id|>", "<|begin_of_text|>", "<|im_start|", "<|im_end|>x",
	"🙂", "👩‍👩‍👧", "🇩🇪", "\ufffd", "\u1100\u1161\u11a8", "Å", "\u212b", "ﬁ", "\u0f71\u0f72", "\U0001d15e",
	"e" + strings.Repeat("\u0301", 35), strings.Repeat("a", 150), strings.Repeat("=", 130), strings.Repeat(" ", 140), strings.Repeat("\u0323\u0307", 20),
}

func mixture(rng *rand.Rand) string {
	var b strings.Builder
	for range 1 + rng.IntN(40) {
		if rng.IntN(12) == 0 {
			r := rune(rng.IntN(0x3000))
			if rng.IntN(4) == 0 {
				r = rune(rng.IntN(unicode.MaxRune + 1))
			}
			if !utf8.ValidRune(r) {
				r = unicode.ReplacementChar
			}
			b.WriteRune(r)
			continue
		}
		b.WriteString(bits[rng.IntN(len(bits))])
	}
	return b.String()
}

// everyChar returns each character in the neighbourhoods that tell its class.
func everyChar() []string {
	var out []string
	for r := rune(0); r <= unicode.MaxRune; r += 64 {
		var b strings.Builder
		for c := r; c < r+64; c++ {
			if utf8.ValidRune(c) {
				fmt.Fprintf(&b, "a%cb%c1 %c %c%c\n", c, c, c, c, c)
			}
		}
		if b.Len() > 0 {
			out = append(out, b.String())
		}
	}
	return out
}

func sourceFiles(root string, size int) ([]string, error) {
	var out []string
	total := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || total > size {
			return nil
		}
		data, err := os.ReadFile(path)
		out, total = append(out, string(data)), total+len(data)
		return err
	})
	return out, err
}
