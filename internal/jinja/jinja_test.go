package jinja_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/jinja"
)

// value makes a value of a template of JSON, with the order of its members.
func value(t testing.TB, dec *json.Decoder) jinja.Value {
	tok, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch tok := tok.(type) {
	case json.Number:
		text := tok.String()
		if f, err := tok.Float64(); err == nil && strings.ContainsAny(text, ".eE") {
			return f
		}
		if i, err := tok.Int64(); err == nil {
			return i
		}
		return jinja.BigInt(text)
	case json.Delim:
		if tok == '[' {
			out := jinja.NewList()
			for dec.More() {
				out.Items = append(out.Items, value(t, dec))
			}
			_, _ = dec.Token()
			return out
		}
		out := jinja.NewDict()
		for dec.More() {
			key, _ := value(t, dec).(string)
			out.Set(key, value(t, dec))
		}
		_, _ = dec.Token()
		return out
	}
	return tok
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func vars(t testing.TB) *jinja.Dict {
	dec := json.NewDecoder(strings.NewReader(string(read(t, "vars.json"))))
	dec.UseNumber()
	d, ok := value(t, dec).(*jinja.Dict)
	if !ok {
		t.Fatal("vars.json: want an object")
	}
	return d
}

func render(source string, vars *jinja.Dict, opt jinja.Options) (string, error) {
	tpl, err := jinja.Parse(source)
	if err != nil {
		return "", err
	}
	return tpl.Render(vars, opt)
}

// TestAsJinja holds every case against what Jinja 3.1.2 made of it
// (testdata/oracle.py): the same text, or an error where it raises one.
func TestAsJinja(t *testing.T) {
	var cases []string
	var want struct {
		Oracle string
		Want   []struct {
			Text  *string
			Error string
		}
	}
	if err := errors.Join(json.Unmarshal(read(t, "cases.json"), &cases), json.Unmarshal(read(t, "want.json"), &want)); err != nil {
		t.Fatal(err)
	}
	if len(cases) != len(want.Want) || len(cases) < 50 {
		t.Fatalf("%d cases, %d results: run testdata/oracle.py", len(cases), len(want.Want))
	}
	vars := vars(t)
	for i, source := range cases {
		got, err := render(source, vars, jinja.Options{})
		w := want.Want[i]
		switch {
		case w.Text == nil && err == nil:
			t.Errorf("%q\n gives %q; %s raises %s", source, got, want.Oracle, w.Error)
		case w.Text != nil && err != nil:
			t.Errorf("%q\n fails: %v; %s gives %q", source, err, want.Oracle, *w.Text)
		case w.Text != nil && got != *w.Text:
			t.Errorf("%q\n gives %q\n %s  %q", source, got, want.Oracle, *w.Text)
		}
	}
}

// TestBounds holds templates that would not end, or fill the memory.
func TestBounds(t *testing.T) {
	small := jinja.Limits{Steps: 200_000, Output: 1 << 20, Memory: 8 << 20}
	tests := []struct{ name, source, want string }{
		{"nested loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "steps"},
		{"a text that doubles", "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}", "bytes"},
		{"a list that doubles", "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", "bytes"},
		{"a text times a number", "{{ 'ab' * 99999999999 }}", "bytes"},
		{"a list times a number", "{{ [1] * 99999999999 }}", "bytes"},
		{"replace that multiplies", "{% set x = 'a' * 4000 %}{{ x.replace('a', x) }}", "bytes"},
		{"joining that multiplies", "{% set x = 'a' * 4000 %}{{ x.join(x) }}", "bytes"},
		{"indenting", "{% set x = '\\na' * 400000 %}{{ x|indent(100) }}", "bytes"},
		{"format", "{% set x = 'a' * 999999 %}{{ '%s%s%s%s%s%s%s%s%s' % (x,x,x,x,x,x,x,x,x) }}", "bytes"},
		{"a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deep"},
		{"a loop that calls itself", "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}", "deep"},
		{"output", "{% for i in range(99999) %}{{ '                    ' }}{% endfor %}", "writes more"},
		{"range", "{% for i in range(99999999) %}{% endfor %}", "100000 numbers"},
		{"power", "{{ 2 ** 999999999 }}", "beyond 64 bits"},
		{"power of one", "{{ 1 ** 999999999 }}", "steps"},
		{"parentheses", "{{ " + strings.Repeat("(", 9999) + "1" + strings.Repeat(")", 9999) + " }}", "nested more"},
		{"blocks", strings.Repeat("{% if t %}", 9999), "nested more"},
		{"signs", "{{ " + strings.Repeat("-", 9999) + "1 }}", "nested more"},
		{"nots", "{{ " + strings.Repeat("not ", 9999) + "1 }}", "nested more"},
		{"a large template", strings.Repeat("x", 2<<20), "at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := render(tt.source, vars(t), jinja.Options{Limits: small})
			if e, ok := errors.AsType[*jinja.Error](err); !ok || !strings.Contains(e.Msg, tt.want) {
				t.Errorf("error %.200v; want an *Error with %q", err, tt.want)
			}
		})
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	tests := []struct {
		source, want string
		raised       bool
	}{
		{"a\n\n{{ missing.x }}", `line 3: "missing" is not set, so it has no "x"`, false},
		{"{% if t %}\n{{ raise_exception('no system') }}{% endif %}", "line 2: no system", true},
		{"\n{% bogus %}", `line 2: tag "bogus" is not known`, false},
		{"{{ s|bogus }}", `line 1: filter "bogus" is not known`, false},
		{"{{ s is bogus }}", `line 1: test "bogus" is not known`, false},
		{"{% import 'x' as y %}", `line 1: tag "import" is refused: a chat template is one file`, false},
		{"{{ l.append(1) }}", "line 1: append() changes a value, which the sandbox of chat templates refuses", false},
		{"{% for x in l %}\nx", "line 2: want {% endfor %}, have the end of the template", false},
	}
	for _, tt := range tests {
		_, err := render(tt.source, vars(t), jinja.Options{})
		if e, ok := errors.AsType[*jinja.Error](err); !ok || e.Error() != tt.want || e.Raised != tt.raised {
			t.Errorf("%q: error %v; want %s (raised %t)", tt.source, err, tt.want, tt.raised)
		}
	}
}

// TestMarks shows how a caller finds values in the output.
func TestMarks(t *testing.T) {
	inner, outer := jinja.NewDict(), jinja.NewDict()
	inner.Set("k", int64(1))
	inner.Before, inner.After = "«", "»"
	outer.Set("d", inner)
	text, err := render("{{ d|tojson }} {{ d }} {{ d|length }}{% generation %}x{% endgeneration %}", outer, jinja.Options{
		Generation: func(n int) (string, string) { return fmt.Sprintf("<%d>", n), "</>" },
	})
	if want := `«{"k": 1}» «{'k': 1}» 1<0>x</>`; text != want || err != nil {
		t.Errorf("rendered %q, %v; want %q", text, err, want)
	}
}

func TestFunctions(t *testing.T) {
	text, err := render("{{ now('%d') + '!' }}", jinja.NewDict(), jinja.Options{
		Functions: map[string]func([]string) string{"now": func(args []string) string { return "(" + strings.Join(args, ",") + ")" }},
	})
	if text != "(%d)!" || err != nil {
		t.Errorf("rendered %q, %v", text, err)
	}
}

func TestToJSON(t *testing.T) {
	d := jinja.NewDict()
	d.Set("b", jinja.NewList(1.0, nil, jinja.BigInt("123456789012345678901")))
	d.Set("a", jinja.NewDict())
	text, err := jinja.ToJSON(d, "", 0)
	if want := `{"b": [1.0, null, 123456789012345678901], "a": {}}`; text != want || err != nil {
		t.Errorf("ToJSON = %s, %v; want %s", text, err, want)
	}
	text, err = jinja.ToJSON(d, "  ", 1)
	if want := "{\n    \"b\": [\n      1.0,\n      null,\n      123456789012345678901\n    ],\n    \"a\": {}\n  }"; text != want || err != nil {
		t.Errorf("ToJSON with an indent = %s, %v; want %s", text, err, want)
	}
	if _, err := jinja.ToJSON(struct{}{}, "", 0); err == nil {
		t.Error("ToJSON of what is no value gives no error")
	}
}

// FuzzRender: whatever the template, an answer or an *Error comes soon.
func FuzzRender(f *testing.F) {
	var cases []string
	if err := json.Unmarshal(read(f, "cases.json"), &cases); err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(c)
	}
	v := vars(f)
	f.Fuzz(func(t *testing.T, source string) {
		_, err := render(source, v, jinja.Options{Limits: jinja.Limits{Steps: 20_000, Output: 1 << 16, Memory: 1 << 20}})
		if err == nil {
			return
		}
		e, ok := errors.AsType[*jinja.Error](err)
		if !ok || strings.Contains(e.Msg, "internal error") {
			t.Errorf("%q: %v", source, err)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	tpl, err := jinja.Parse("{% for m in messages %}{% if m.role == 'user' %}<|u|>{{ m.content|trim }}{% else %}<|a|>{{ m.content }}{% for c in m.tool_calls or [] %}{{ c|tojson }}{% endfor %}{% endif %}\n{% endfor %}")
	if err != nil {
		b.Fatal(err)
	}
	v := vars(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tpl.Render(v, jinja.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
