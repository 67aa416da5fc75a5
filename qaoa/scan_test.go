package qaoa

import (
	"strings"
	"testing"

	json "github.com/goccy/go-json"
	"pgregory.net/rapid"
)

// What a Scanner reads to the end is valid JSON, and its texts are those of the
// tree.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"a":"x","b":[1,-2.5e+3,true,false,null,{"c":""}]}`, `"é\u00e9\ud83d\ude00\n\"\\\/"`, ` [ "a" , "b" ] `,
		`"\ud800"`, `"\x"`, "\"\x01\"", "\"\xff\"", `"cut`, `"12345678\`, `"1234567\"`, `{"a" 1}`, `[1,]`, `01`, `{"\u0061":1}`,
		strings.Repeat("[", 600) + strings.Repeat("]", 600),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := NewScanner(text)
		raw, ok := s.Skip()
		if ok && s.End() {
			if !json.Valid([]byte(text)) {
				t.Errorf("%q is passed as valid", text)
			}
			if raw != strings.Trim(text, " \t\r\n") {
				t.Errorf("%q: skipped %q", text, raw)
			}
		}
		// Something before and behind it, so that words straddle its ends.
		for _, pad := range []string{"", "1", "12345"} {
			whole := "[" + pad + "," + text + "," + pad + "]"
			s := NewScanner(whole)
			s.p.i = len(pad) + 2
			dst := append(make([]byte, 0, 3), "abc"...)
			got, ok := s.AppendText(dst)
			if !ok {
				continue
			}
			used := strings.TrimLeft(whole[len(pad)+2:s.p.i], " \t\r\n")
			if want, sound := Unquote(used); sound && string(got) != "abc"+want {
				t.Errorf("%q: %q, want abc%q", used, got, want)
			} else if !sound && json.Valid([]byte(used)) && strings.ToValidUTF8(used, "") == used {
				t.Errorf("%q is no string that Unquote can read, but %q was read", used, got)
			}
		}
	})
}

func TestScannerReadsMembersAndItems(t *testing.T) {
	s := NewScanner(` { "a" : "x\ny" , "b" : null, "c":[ "p", "q" ], "d":{} } `)
	arena := make([]byte, 0, s.Left()+8)
	first := &arena[:1][0]
	var got []string
	text := func() bool {
		v, ok := s.Text(&arena)
		got = append(got, v)
		return ok
	}
	ok := s.Members(func(name string) bool {
		got = append(got, name+"=")
		switch name {
		case "a":
			return text()
		case "b":
			return s.Null()
		case "c":
			return s.Items(text)
		}
		return s.Members(func(string) bool { return false })
	})
	if want := "a= x\ny b= c= p q d="; !ok || !s.End() || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %q to the end", got, ok, want)
	}
	if first != &arena[0] {
		t.Error("the arena had room for all texts, and was moved")
	}
}

func TestScannerGivesUp(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a":1]`, `{"\u0061":1}`, `{"a":tru}`,
		`{"a":"\ud800"}`, "{\"a\":\"\t\"}", "{\"a\":\"\xff\"}", "{\"\xff\":1}", `{"a":1} x`, `{"a":"\`, `{"a":"\u12`, `{"a":01}`, `{"a":-}`,
	} {
		s := NewScanner(text)
		if _, ok := s.Skip(); ok && s.End() {
			t.Errorf("%q is read to the end", text)
		}
	}
}

// AppendQuote writes what a walk over the characters writes, whatever is before
// it and whatever room there is.
func TestAppendQuoteByWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("abc \"\\\n\x00\x1f\x7fé世😀"))).Draw(t, "s")
		before := rapid.StringN(0, 5, -1).Draw(t, "before")
		want := []byte(before + `"`)
		for _, c := range []byte(s) {
			if c >= ' ' && c != '"' && c != '\\' {
				want = append(want, c)
			} else {
				want = appendEscape(want, c)
			}
		}
		dst := append(make([]byte, 0, len(before)+rapid.IntRange(0, 100).Draw(t, "room")), before...)
		if got := AppendQuote(dst, s); string(got) != string(want)+`"` {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
		if back, ok := Unquote(string(Quote(s))); !ok || back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}
