package pylit

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"assay/qaoa"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"an empty list", "[]", "[]"},
		{"a list with a trailing comma", "[1, 2,]", "[1,2]"},
		{"an empty tuple is an empty array", "( )", "[]"},
		{"parentheses around one value group", "(7)", "7"},
		{"a comma makes a tuple of one", "(7,)", "[7]"},
		{"a tuple is an array", "('a', 2)", `["a",2]`},
		{"an empty dict", "{}", "{}"},
		{"a dict keeps order and repeats", "{'b': 1, 'a': 2, 'b': 3,}", `{"b":1,"a":2,"b":3}`},
		{"a dict in JSON form", `{"a": [true, false, null]}`, `{"a":[true,false,null]}`},
		{"constants of Python", "[True, False, None]", "[true,false,null]"},
		{"blanks of every sort between tokens", "\t[\r\n1\f,\v2 ]\n", "[1,2]"},
		{"a plain integer", "42", "42"},
		{"a negative integer", "-42", "-42"},
		{"a sign with a blank", "- 42", "-42"},
		{"a plus sign goes", "+42", "42"},
		{"underscores go", "1_000_000", "1000000"},
		{"zeros are zero", "000", "0"},
		{"a float keeps its zero", "1.0", "1.0"},
		{"a float without fraction gets one", "1.", "1.0"},
		{"a float without whole part gets one", ".5", "0.5"},
		{"a negative float without whole part", "-.5", "-0.5"},
		{"a float may have leading zeros", "007.5", "7.5"},
		{"an exponent is kept", "1e-07", "1e-07"},
		{"an exponent after a point", "1.E+5", "1.0E+5"},
		{"a big integer is exact", "9007199254740993", "9007199254740993"},
		{"hexadecimal", "0x1F", "31"},
		{"hexadecimal with underscores", "-0x_ff_ff", "-65535"},
		{"octal", "0o17", "15"},
		{"binary", "0B101", "5"},
		{"a string in single quotes", `'it "is"'`, `"it \"is\""`},
		{"a string in double quotes", `"it's"`, `"it's"`},
		{"an escaped quote", `'it\'s'`, `"it's"`},
		{"control escapes", `'\a\b\f\n\r\t\v\\'`, `"\u0007\b\f\n\r\t\u000b\\"`},
		{"hexadecimal escape", `'\x41\xe9'`, `"Aé"`},
		{"octal escapes of one to three digits", `'\0\101\1019'`, `"\u0000AA9"`},
		{"four digit escape", `'\u20ac'`, `"€"`},
		{"eight digit escape", `'\U0001F600'`, `"😀"`},
		{"a pair of surrogates is one character", `'\ud83d\ude00'`, `"😀"`},
		{"a lone surrogate is replaced", `'\ud83dx'`, `"` + "\uFFFD" + `x"`},
		{"a high surrogate before another character", `'\ud83d\u0041'`, `"` + "\uFFFD" + `A"`},
		{"an unknown escape keeps its backslash", `'\d\('`, `"\\d\\("`},
		{"an invalid byte is replaced", "'a\xffb'", `"a` + "\uFFFD" + `b"`},
		{"characters beyond ASCII", "'Käärijä'", `"Käärijä"`},
		{"nested containers", "[{'a': ({'b': [()]},)}]", `[{"a":[{"b":[[]]}]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Parse(tt.in)
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.in, err)
			}
			if got := string(v.JSON()); got != tt.want {
				t.Errorf("Parse(%q) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		name, in string
		offset   int
	}{
		{"nothing", "", 0},
		{"blanks only", "  ", 2},
		{"a name", "abc", 0},
		{"a constant that runs on", "Truex", 0},
		{"text after the value", "1 2", 2},
		{"a list that never ends", "[1, ", 4},
		{"a comma without value", "[,]", 1},
		{"two commas", "[1,,2]", 3},
		{"no comma", "[1 2]", 3},
		{"the wrong bracket", "[1)", 2},
		{"a set", "{1, 2}", 1},
		{"a set of strings", "{'a'}", 4},
		{"a key that is a number", "{1: 2}", 1},
		{"a dict without colon", "{'a' 1}", 5},
		{"a prefix", "r'a'", 0},
		{"adjacent strings", "'a' 'b'", 4},
		{"a string that never ends", "'abc", 4},
		{"a line break in a string", "'a\nb'", 2},
		{"a backslash at the end", `'a\`, 3},
		{"a short hexadecimal escape", `'\x4'`, 4},
		{"a code point out of range", `'\U00110000'`, 2},
		{"a code point with its top bit set", `'\UFFFFFFFF'`, 2},
		{"a named character", `'\N{BULLET}'`, 2},
		{"a leading zero", "012", 0},
		{"two signs", "--1", 0},
		{"a point alone", ".", 0},
		{"two points", "1.2.3", 3},
		{"an underscore at the end", "1_", 2},
		{"two underscores", "1__0", 2},
		{"an exponent without digits", "1e", 2},
		{"a complex number", "1j", 1},
		{"a digit that base 2 has not", "0b12", 3},
		{"no digit after the base", "0x", 2},
		{"a call", "f(1)", 0},
		{"an operator", "1+1", 1},
		{"a NUL", "\x00", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Parse(tt.in)
			se, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("Parse(%q) = %s, %v, want a SyntaxError", tt.in, v.JSON(), err)
			}
			if se.Offset != tt.offset {
				t.Errorf("Parse(%q): %v, want the error at byte %d", tt.in, se, tt.offset)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse("[1, 2")
	if got, want := err.Error(), "not Python at byte 5: want ']' or ',', have the end of the text"; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	_, err = Parse("ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ")
	if got, want := err.Error(), `not Python at byte 0: want a literal, have "ÄÄÄÄÄÄÄÄÄÄ"…`; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
}

func TestDepth(t *testing.T) {
	for _, pair := range []string{"[]", "()"} {
		nest := func(n int) string {
			return strings.Repeat(pair[:1], n) + strings.Repeat(pair[1:], n)
		}
		if _, err := Parse(nest(MaxDepth)); err != nil {
			t.Errorf("%d levels of %s: %v", MaxDepth, pair, err)
		}
		if _, err := Parse(nest(MaxDepth + 1)); err == nil {
			t.Errorf("%d levels of %s: no error", MaxDepth+1, pair)
		}
	}
	deep := strings.Repeat("{'a':", MaxDepth) + "1" + strings.Repeat("}", MaxDepth)
	if _, err := Parse(deep); err != nil {
		t.Errorf("%d dicts: %v", MaxDepth, err)
	}
	if _, err := Parse("[" + deep + "]"); err == nil {
		t.Errorf("%d dicts in a list: no error", MaxDepth)
	}
	if _, err := ParseCall("f(" + strings.Repeat("[", 1_000_000)); err == nil {
		t.Error("a million brackets: no error")
	}
	if _, err := Parse("0x" + strings.Repeat("f", 1_000_000)); err == nil {
		t.Error("a million hexadecimal digits: no error")
	}
}

// show writes a call in a form that tells positional from keyword arguments.
func show(c Call) string {
	return fmt.Sprintf("%s %s %s", c.Name, qaoa.ArrayValue(c.Positional...).JSON(), qaoa.ObjectValue(c.Keywords...).JSON())
}

func TestParseCall(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no arguments", "ls()", "ls [] {}"},
		{"keywords in order", "diff(b='x', a=1,)", `diff [] {"b":"x","a":1}`},
		{"positional first", "sort('f.txt', reverse=True)", `sort ["f.txt"] {"reverse":true}`},
		{"a dotted name", " math.geo.area (w = 3 ) ", `math.geo.area [] {"w":3}`},
		{"a hyphen in the name", "get-weather-2(city='Oslo')", `get-weather-2 [] {"city":"Oslo"}`},
		{"a name beyond ASCII", "größe(länge=1)", `größe [] {"länge":1}`},
		{"constants are no keywords", "f(True, None)", "f [true,null] {}"},
		{"containers as values", "f(a=[1, (2,)], b={'k': -1.5})", `f [] {"a":[1,[2]],"b":{"k":-1.5}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ParseCall(tt.in)
			if err != nil {
				t.Fatalf("ParseCall(%q): %v", tt.in, err)
			}
			if got := show(c); got != tt.want {
				t.Errorf("ParseCall(%q) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
	for _, in := range []string{
		"", "f", "f(", "f(1", "f(1))", "f(a=)", "f(a=1 b=2)", "f(a=1, 2)", "f(a=1, a=2)", "f(x)", "f(*a)",
		"f(g(1))", "(1)", ".f()", "f(,)", "f()()", "f() # end", "f(a=1", "1f()", "f.(1)",
	} {
		if c, err := ParseCall(in); err == nil {
			t.Errorf("ParseCall(%q) = %s, want an error", in, show(c))
		}
	}
}

func TestParseCalls(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a list", "[f(a=1), g()]", `f [] {"a":1}|g [] {}`},
		{"an empty list is no call", " [ ] ", ""},
		{"a list with a trailing comma", "[f(),]", "f [] {}"},
		{"one call", "f(1)", "f [1] {}"},
		{"calls with commas", "f(1), g(2),", "f [1] {}|g [2] {}"},
		{"calls on lines", "f(1)\n  g(2)\n", "f [1] {}|g [2] {}"},
		{"calls with semicolons", "f(); g()", "f [] {}|g [] {}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls, err := ParseCalls(tt.in)
			if err != nil {
				t.Fatalf("ParseCalls(%q): %v", tt.in, err)
			}
			var got []string
			for _, c := range calls {
				got = append(got, show(c))
			}
			if strings.Join(got, "|") != tt.want {
				t.Errorf("ParseCalls(%q) = %s, want %s", tt.in, strings.Join(got, "|"), tt.want)
			}
		})
	}
	for _, in := range []string{"", " ", "[f()", "[f() g()]", "[f()] x", "f() g()", "f(),,g()", "[,]", "[1]", ","} {
		if calls, err := ParseCalls(in); err == nil {
			t.Errorf("ParseCalls(%q) = %v, want an error", in, calls)
		}
	}
}

func TestManyKeywords(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "k%d=%d,", i, i)
	}
	c, err := ParseCall("f(" + b.String() + ")")
	if err != nil || len(c.Keywords) != 2000 {
		t.Fatalf("have %d keywords and %v, want 2000", len(c.Keywords), err)
	}
	for _, again := range []string{"k3", "k1999"} {
		if _, err := ParseCall("f(" + b.String() + again + "=1)"); err == nil {
			t.Errorf("%s twice: no error", again)
		}
	}
}

// values generates JSON values whose numbers are as JSON writes them.
func values(depth int) *rapid.Generator[qaoa.Value] {
	scalar := rapid.OneOf(
		rapid.Map(rapid.String(), qaoa.StringValue),
		rapid.Map(rapid.Int64(), func(n int64) qaoa.Value { return qaoa.NumberValue(strconv.FormatInt(n, 10)) }),
		rapid.Map(rapid.Float64(), func(f float64) qaoa.Value {
			return qaoa.NumberValue(strconv.FormatFloat(f, 'e', -1, 64))
		}),
		rapid.Map(rapid.Bool(), qaoa.BoolValue),
		rapid.Just(qaoa.NullValue()),
	)
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 4), func(items []qaoa.Value) qaoa.Value { return qaoa.ArrayValue(items...) }),
		rapid.Custom(func(t *rapid.T) qaoa.Value {
			v := qaoa.ObjectValue()
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				v.Members = append(v.Members, qaoa.Member{
					Name: rapid.String().Draw(t, "name"), Value: values(depth-1).Draw(t, "value"),
				})
			}
			return v
		}),
	)
}

// python writes v as Python's repr would, with every character beyond ASCII
// and every control character escaped.
func python(v qaoa.Value) string {
	switch v.Kind {
	case qaoa.Null:
		return "None"
	case qaoa.Bool:
		return strings.ToUpper(v.Text[:1]) + v.Text[1:]
	case qaoa.String:
		var b strings.Builder
		for _, r := range v.Text {
			switch {
			case r == '\'' || r == '\\':
				b.WriteString(`\` + string(r))
			case r < ' ' || r > '~':
				fmt.Fprintf(&b, `\U%08x`, r)
			default:
				b.WriteRune(r)
			}
		}
		return "'" + b.String() + "'"
	case qaoa.Array:
		var items []string
		for _, item := range v.Items {
			items = append(items, python(item))
		}
		if len(items) == 1 {
			return "(" + items[0] + ",)"
		}
		return "(" + strings.Join(items, ", ") + ")"
	case qaoa.Object:
		var items []string
		for _, m := range v.Members {
			items = append(items, python(qaoa.StringValue(m.Name))+": "+python(m.Value))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return v.Text
}

func TestParseReadsWhatPythonWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := values(3).Draw(t, "value")
		got, err := Parse(python(want))
		if err != nil {
			t.Fatalf("Parse(%s): %v", python(want), err)
		}
		if got.JSON() != want.JSON() {
			t.Fatalf("Parse(%s) = %s, want %s", python(want), got.JSON(), want.JSON())
		}
	})
}

func TestParseReadsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := values(3).Draw(t, "value").JSON()
		got, err := Parse(string(want))
		if err != nil || got.JSON() != want {
			t.Fatalf("Parse(%s) = %s, %v", want, got.JSON(), err)
		}
	})
}

func TestIntegersAreExactInEveryBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
		for _, form := range []string{"%d", "0x%x", "0o%o", "0b%b"} {
			in := fmt.Sprintf(form, n)
			if v, err := Parse(in); err != nil || v.Text != n.String() {
				t.Fatalf("Parse(%s) = %s, %v, want %s", in, v.Text, err, n)
			}
		}
	})
}

func ExampleParse() {
	v, err := Parse("{'n': 1_000, 'tags': ('a', None), 'ok': True}")
	fmt.Println(v.JSON(), err)
	_, err = Parse("{'n': 1, 2}")
	fmt.Println(err)
	// Output:
	// {"n":1000,"tags":["a",null],"ok":true} <nil>
	// not Python at byte 9: want a key in quotes, have "2}"
}

func ExampleParseCall() {
	c, err := ParseCall("files.sort('b.txt', reverse=True)")
	fmt.Println(c.Name, qaoa.ArrayValue(c.Positional...).JSON(), qaoa.ObjectValue(c.Keywords...).JSON(), err)
	// Output: files.sort ["b.txt"] {"reverse":true} <nil>
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"[1, 'a', (2,)]", "{'a': True}", "f(a=1, b='x')", "[f(1), g()]", `'\ud83d\ude00\x41'`, "0x1F", "1_0.5e-3", "a.b-c(1)\ng()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := Parse(s); err == nil {
			text := v.JSON()
			if again, err := qaoa.Compact(text); err != nil || again != text {
				t.Errorf("Parse(%q) = %s, which is no compact JSON: %v", s, text, err)
			}
		} else if se, ok := errors.AsType[*SyntaxError](err); !ok || se.Offset < 0 || se.Offset > len(s) {
			t.Errorf("Parse(%q): %#v", s, err)
		}
		c, err := ParseCall(s)
		if err != nil {
			return
		}
		calls, err := ParseCalls(s)
		if err != nil || len(calls) != 1 || show(calls[0]) != show(c) {
			t.Errorf("ParseCalls(%q) = %v, %v, want the one call %s", s, calls, err, show(c))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	s := "[" + strings.Repeat("{'name': 'a b c', 'n': [1, 2.5, -3], 'ok': True, 't': 'it\\'s'}, ", 200) + "]"
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(s); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseSignature(t *testing.T) {
	show := func(sig Signature) string {
		s := sig.Name
		for _, p := range sig.Params {
			s += " " + [...]string{"", "/", "=", "*", "**"}[p.Kind] + p.Name
			if p.Optional {
				s += "?" + string(p.Default.JSON())
			}
		}
		return s
	}
	tests := []struct{ name, in, want string }{
		{"no parameters", "def f():\n  pass", "f"},
		{"names, defaults, annotations", "def f(a, b: dict[str, int], c: str = 'x, y', d=[1, (2,)],) -> list:", `f a b c?"x, y" d?[1,[2]]`},
		{"by position and by keyword", "def f(a, /, b, *, c, d=None, **kw)", "f /a b =c =d?null **kw"},
		{"the rest by position", "def f(*args, a=1)", "f *args =a?1"},
		{"a default that is no literal", "def f(a=g(1, b=2), b=1 + 1, c=x == y, d={1, 2})", "f a? b? c? d?"},
		{"an annotation with a string in it", "def f(a: \"List[(\" = 3)", "f a?3"},
		{"over lines, asynchronous", "async def  f (\n  a\n  ,b = 1\n)", "f a b?1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig, err := ParseSignature(tt.in)
			if err != nil || show(sig) != tt.want {
				t.Errorf("ParseSignature(%q) = %s, %v, want %s", tt.in, show(sig), err, tt.want)
			}
		})
	}
	bad := []string{"", "f()", "class A(b)", "def (a)", "def f", "def f(a", "def f(a b)", "def f(1)", "def f(a='x", "def f(a: [)", "def f(,)", "def f(**)"}
	for _, in := range bad {
		if sig, err := ParseSignature(in); err == nil {
			t.Errorf("ParseSignature(%q) = %s, want an error", in, show(sig))
		}
	}
}

func TestParseCallPrefix(t *testing.T) {
	for _, tt := range []struct {
		in string
		n  int
	}{{"f(1)", 4}, {"f(a=1)) # more", 6}, {" f(')').g()", 7}, {"f(", 0}, {"1", 0}, {"f(x)", 0}} {
		c, n, err := ParseCallPrefix(tt.in)
		if n != tt.n || (err == nil) != (n > 0) {
			t.Errorf("ParseCallPrefix(%q) = %+v, %d, %v, want %d bytes", tt.in, c, n, err, tt.n)
		}
	}
}

func TestBind(t *testing.T) {
	sig, err := ParseSignature("def f(a, b=1, *, c=None)")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, call, want string }{
		{"by position", "f(1, 2)", `{"a":1,"b":2}`},
		{"by keyword, in the order of the call", "f(c=3, a=1)", `{"c":3,"a":1}`},
		{"both", "f(1, c=3)", `{"a":1,"c":3}`},
		{"a name that is no parameter", "f(d=3)", `{"d":3}`},
		{"too many", "f(1, 2, 3)", ""},
		{"twice", "f(1, a=1)", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ParseCall(tt.call)
			if err != nil {
				t.Fatal(err)
			}
			args, ok := sig.Bind(c)
			if got := string(args.JSON()); ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("Bind(%s) = %s, %v, want %s", tt.call, got, ok, tt.want)
			}
		})
	}
}

func FuzzParseSignature(f *testing.F) {
	f.Add("def f(a: int = 3, *b, c='x', **d) -> x:")
	f.Fuzz(func(t *testing.T, s string) {
		sig, err := ParseSignature(s)
		if err == nil && sig.Name == "" {
			t.Errorf("ParseSignature(%q) has no name", s)
		}
		for _, p := range sig.Params {
			if p.Name == "" || !p.Optional && p.Default.Kind != qaoa.Invalid {
				t.Errorf("ParseSignature(%q) has the parameter %+v", s, p)
			}
		}
	})
}
