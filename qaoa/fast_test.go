package qaoa

import (
	"strings"
	"testing"

	"github.com/goccy/go-json/jsontext"
	"pgregory.net/rapid"
)

// slowCompact and slowParse are the JSON library alone.
func slowCompact(s string) (string, bool) {
	out, err := jsontext.AppendFormat(nil, s, formatOptions...)
	return string(out), err == nil
}

func slowParse(s string) (Value, bool) {
	v, err := parseSlow([]byte(s))
	return v, err == nil
}

var fastTexts = []string{
	``, ` `, `{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , -2.50e+3 , true , false , null ] } `, `"x"`, `"\/\u00e9\u000a\u0001\ud83d\ude00"`,
	`"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\udc00"`, "\"\xff\"", "\"\x01\"", `"\x"`, `"\u12"`, `"abc`, `"abc\`, `"abcdefgh\`, `{"a":1,}`, `[1,]`, `[,1]`,
	`{"a" 1}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `-0`, `1e`, `1e5`, `1E-05`, `0.10`, `123456789012345678901234567890`, `tru`, `truex`, `nul`, `{} {}`, `1 2`, "[1]\x00",
	`{"a":{"b":{"c":[{},[],[[]],""]}},"a":2}`, `[1}`, `{"a":1]`, `]`, `}`, `[`, `{`, `{"a"`, `{"a":`, `{"a":1`, `[1`, `[1,`, strings.Repeat("[", 600) + strings.Repeat("]", 600),
	strings.Repeat("[", 499) + strings.Repeat("]", 499), strings.Repeat(`{"a":`, 501) + "1" + strings.Repeat("}", 501),
	`"plain text of more than eight bytes, then a \"quote\" and \\ more"`, `"é 中文 \u4e2d 😀"`, "\"tab\there\"", `"\u0022\u005c\u002f\u007f\u0000\u001f"`,
}

func checkFast(t interface{ Errorf(string, ...any) }, s string) {
	want, wantOK := slowCompact(s)
	if got, ok := compactFast([]byte("x"), s); ok && (!wantOK || string(got) != "x"+want) {
		t.Errorf("compactFast(%q) = %q, the library says %q, %v", s, got, want, wantOK)
	}
	if v, ok := parseFast(s); ok {
		if !wantOK || string(v.JSON()) != want {
			t.Errorf("parseFast(%q) = %s, the library says %q, %v", s, v.JSON(), want, wantOK)
		}
		if slow, ok := slowParse(s); !ok || string(slow.JSON()) != want {
			t.Errorf("the library reads %q as %s, %v, and formats it as %q", s, slow.JSON(), ok, want)
		}
	}
}

func TestFastPathAgreesWithTheLibrary(t *testing.T) {
	for _, s := range fastTexts {
		checkFast(t, s)
	}
	for _, s := range []string{`{"a":[1,"x\n\u00e9\ud83d\ude00"]}`, ` [ ] `, `{"k\"ey":-1.5e3}`} {
		if _, ok := compactFast(nil, s); !ok {
			t.Errorf("compactFast gives up on %q, which is ordinary", s)
		}
		if _, ok := parseFast(s); !ok {
			t.Errorf("parseFast gives up on %q, which is ordinary", s)
		}
	}
}

func TestQuoteComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		v, ok := parseFast(string(Quote(s)))
		if !ok || v.Kind != String || v.Text != s {
			t.Errorf("Quote(%q) = %s, which reads as %q", s, Quote(s), v.Text)
		}
		checkFast(t, string(Quote(s)))
	})
}

func TestPlainLen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.ByteRange(0, 255)).Draw(t, "bytes"))
		want := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
		if want < 0 {
			want = len(s)
		}
		if got := plainLen(s); got != want {
			t.Errorf("plainLen(%q) = %d, want %d", s, got, want)
		}
	})
}

// TestPlainLenPlaces tries every byte at every place of a text that takes whole
// words and a rest, with another byte that ends it behind.
func TestPlainLenPlaces(t *testing.T) {
	for at := range 45 {
		for c := range 256 {
			text := []byte(strings.Repeat("!#[]~\x7f\x80\xff", 6)) // the neighbours of what is looked for
			text[at] = byte(c)
			want := at
			if c >= ' ' && c != '"' && c != '\\' {
				want = at + 1
			}
			text[at+1] = '"'
			if got := plainLen(string(text)); got != want {
				t.Fatalf("plainLen(%q) = %d, want %d", text, got, want)
			}
		}
	}
}

func FuzzFastPath(f *testing.F) {
	for _, s := range fastTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFast(t, s) })
}

func BenchmarkFastParse(b *testing.B) {
	text := "[" + strings.Repeat(`{"name": "find_lot", "description": "Finds a lot by its \"number\" in the hall.", "parameters": {"no": {"type": "int", "description": "Number of the lot"}}},`, 20) + "1]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseValue(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFastCompact(b *testing.B) {
	text := "[" + strings.Repeat(`{"name": "find_lot", "description": "Finds a lot by its \"number\" in the hall.", "parameters": {"no": {"type": "int", "description": "Number of the lot"}}},`, 20) + "1]"
	var dst []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = AppendCompact(dst[:0], text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestUnescapeAtAllPlaces puts every escape and every end at every place of the
// words that are copied together, into buffers with and without room.
func TestUnescapeAtAllPlaces(t *testing.T) {
	for at := range 40 {
		for _, piece := range []string{`\"`, `\\\\`, `\/\n`, `\u00e9`, `\ud83d\ude00`, `é`, `"`, "\x01", `\x`, `\ud83d`, `\u12`, `\`, ``} {
			text := `"` + strings.Repeat("a", at) + piece + strings.Repeat("b", 20) + `"`
			for _, room := range []int{0, 1, at, at + 17, 200} {
				dst := append(make([]byte, 0, 1+room), 'x')
				got, ok := AppendUnquoted(dst, text)
				want, wantOK := slowParse(text)
				if strings.Contains(want.Text, "\ufffd") {
					wantOK = false // a lone surrogate is for the library
				}
				if ok != wantOK || ok && string(got) != "x"+want.Text {
					t.Fatalf("AppendUnquoted(%q) with room for %d = %q, %v, want %q, %v", text, room, got, ok, want.Text, wantOK)
				}
			}
			checkFast(t, text)
		}
	}
}
