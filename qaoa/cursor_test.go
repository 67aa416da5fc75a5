package qaoa_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/qaoa"
)

func ExampleCursor() {
	c := qaoa.CursorOf(`[{"name": "f", "arguments": {"a" : [1, 2]}}, {"name": "g\u0068"}]`)
	for c.Open('['); c.More(']'); {
		for c.Open('{'); c.More('}'); {
			switch c.Key() {
			case "name":
				fmt.Println(c.Text())
			default:
				fmt.Println(string(c.AppendValue(nil)))
			}
		}
	}
	fmt.Println(c.Done())
	// Output:
	// f
	// {"a":[1,2]}
	// gh
	// true
}

// walk copies the value at the cursor in the project's form, by all that a
// cursor can do.
func walk(c *qaoa.Cursor, dst []byte) []byte {
	sep := func() {
		if last := dst[len(dst)-1]; last != '{' && last != '[' {
			dst = append(dst, ',')
		}
	}
	switch c.Peek() {
	case '{':
		dst = append(dst, '{')
		for c.Open('{'); c.More('}'); {
			sep()
			dst, _ = c.AppendKey(dst)
			dst = walk(c, dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for c.Open('['); c.More(']'); {
			sep()
			dst = walk(c, dst)
		}
		return append(dst, ']')
	case '"':
		return qaoa.AppendQuote(dst, string(c.AppendText([]byte("x"))[1:]))
	case 't':
		c.Word("true")
		return append(dst, "true"...)
	}
	return c.AppendValue(dst)
}

var cursorTexts = []string{
	` { "a" : [ 1 , -2.50e+3 , true , false , null , "" ] , "b\u00e9\"" : {} , "c":[] } `, `"x"`, `[1,]`, `[,1]`, `{"a":1,}`, `{,"a":1}`, `{"a" 1}`, `{"a"}`, `[1 2]`, `[1}`, `{"a":1]`,
	`[`, `{`, `[1`, `{"a":`, `{"a":1`, ``, ` `, `1 2`, `[]]`, `tru`, `[truefalse]`, "[1]\x00", "\x00", `["\ud83d"]`, `"abcdefgh\"ijklmnop\\\u4e2d\/\b\f\n\r\tqrstuvwxyz0123456789"`,
	`"` + strings.Repeat(`\u00e9`, 50) + `"`, `"` + strings.Repeat("x", 7) + `\`, `"` + strings.Repeat("x", 100), "\"\x01\"", "[\"abcdefgh\x1fijkl\"]",
}

func checkCursor(t interface{ Errorf(string, ...any) }, text string) {
	if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > 400 {
		return
	}
	want, err := qaoa.Compact(text)
	c := qaoa.CursorOf([]byte(text))
	got := walk(&c, []byte("x"))
	switch done := c.Done(); {
	case done && (err != nil || string(got[1:]) != string(want)):
		t.Errorf("the cursor reads %q as %s, want %s, %v", text, got[1:], want, err)
	case !done && err == nil && !strings.Contains(strings.ToLower(text), `\ud`): // maybe a lone surrogate
		t.Errorf("the cursor gives up on %q, which is %s", text, want)
	}
	// A value that was passed over is the one that was read.
	c = qaoa.CursorOf(text)
	if raw := c.Raw(); err == nil && (!c.Done() || strings.Trim(text, " \t\r\n") != raw) {
		t.Errorf("the cursor passes over %q as %q", text, raw)
	}
}

func TestCursorAgreesWithCompact(t *testing.T) {
	for _, text := range cursorTexts {
		checkCursor(t, text)
	}
}

func TestCursorGoesBack(t *testing.T) {
	c := qaoa.CursorOf(` [ "a", 1 ]`)
	mark := c.Mark()
	c.Open('[')
	c.More(']')
	if c.Open('{'); c.OK() || c.More('}') || c.Text() != "" || c.Since(mark) != "" || c.Peek() != 0 || c.Done() {
		t.Error("a cursor that gave up goes on")
	}
	c.Reset(mark)
	if !c.HasPrefix(mark, `[ "a"`) || c.HasPrefix(mark, `"a"`) {
		t.Error("the mark is not where the value begins")
	}
	if got := string(c.AppendValue(nil)); got != `["a",1]` || c.Since(mark) != `[ "a", 1 ]` || !c.Done() {
		t.Errorf("after going back: %s", got)
	}
	if c.Fail(); c.Done() || c.Raw() != "" || c.Key() != "" {
		t.Error("a cursor that was made to fail goes on")
	}
}

func FuzzCursor(f *testing.F) {
	for _, text := range cursorTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCursor(t, text) })
}
