package apibank

import (
	"strings"
	"testing"
	"testing/fstest"

	"assay/convert"
	"assay/internal/pylit"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRequest(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"values in quotes", " [Meet(who='Al', n='2')]\n", `Meet {"who":"Al","n":"2"}`},
		{"no arguments", "[Meet()]", `Meet {}`},
		{"an apostrophe in the other quotes", `[Meet(who="Al's")]`, `Meet {"who":"Al's"}`},
		{"a bare number is text", "[Meet(n=2)]", `Meet {"n":"2"}`},
		{"a list in quotes that are not escaped", "[Meet(who='['Al', 'Bo']', n='2')]", `Meet {"who":"['Al', 'Bo']","n":"2"}`},
		{"an apostrophe that is not escaped", "[Meet(who='Al's', n='2')]", `Meet {"who":"Al's","n":"2"}`},
		{"a comma that no key follows", "[Meet(who='Al's, or Bo', n='2')]", `Meet {"who":"Al's, or Bo","n":"2"}`},
		{"names with digits and blanks around them", "[Meet(a_1='it's' , b2 = '2',C='3')]", `Meet {"a_1":"it's","b2":"2","C":"3"}`},
		{"an equals sign in a value", "[Meet(who='it's a=b')]", `Meet {"who":"it's a=b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, args, err := parseRequest(tt.in)
			if got := name + " " + string(args.JSON()); err != nil || got != tt.want {
				t.Errorf("parseRequest(%q) = %s, %v, want %s", tt.in, got, err, tt.want)
			}
		})
	}
	for _, in := range []string{"", "[]", "[Meet who]", "[(who='Al')]", "[a b(x='1's')]", "[Meet('Al')]"} {
		if name, args, err := parseRequest(in); err == nil {
			t.Errorf("parseRequest(%q) = %s %s, want an error", in, name, args.JSON())
		}
	}
	// Time is linear: this would take minutes by the square.
	if _, _, err := parseRequest("[f(a='''" + strings.Repeat(", a", 1<<18) + ")]"); err != nil {
		t.Error(err)
	}
}

func TestReprIsPython(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := qaoa.ArrayValue()
		for _, s := range rapid.SliceOf(rapid.String()).Draw(t, "strings") {
			list.Items = append(list.Items, qaoa.StringValue(s), qaoa.NullValue(), qaoa.BoolValue(s == ""))
		}
		want := qaoa.ObjectValue(qaoa.Member{Name: "it's", Value: list})
		got, err := pylit.Parse(string(appendRepr(nil, want)))
		if err != nil || got.JSON() != want.JSON() {
			t.Fatalf("%s is read as %s, %v", appendRepr(nil, want), got.JSON(), err)
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	f.Add("[Meet(who='['Al', 'Bo']', n='2')]")
	f.Fuzz(func(t *testing.T, s string) {
		if name, args, err := parseRequest(s); err == nil && (name == "" || args.Kind != qaoa.Object) {
			t.Errorf("parseRequest(%q) = %q, %s", s, name, args.JSON())
		}
	})
}

func TestParseTyped(t *testing.T) {
	tests := []struct {
		name, in, want string
		strictly       bool
	}{
		{"literals keep their types", "Meet(who='Al', n=2, all=True, at=None)", `Meet {"who":"Al","n":2,"all":true,"at":null}`, true},
		{"a text without quotes", "Meet(place=New York, n=2)", `Meet {"place":"New York","n":2}`, false},
		{"a time without quotes", `Meet(at=2034-01-01 10:00:00, who="Al's")`, `Meet {"at":"2034-01-01 10:00:00","who":"Al's"}`, false},
		{"a comma and a keyword inside of quotes", "Meet(who=Al, note='a, b=c', n='2')", `Meet {"who":"Al","note":"a, b=c","n":"2"}`, false},
		{"an apostrophe inside of quotes", "Meet(note='it's, b=c', n='2')", `Meet {"note":"it's, b=c","n":"2"}`, false},
		{"quotes that do not close", "Meet(note='a, b=c)", `Meet {"note":"'a, b=c"}`, false},
		{"a list that is no Python", "Meet(who=[Al, n=2], b=1)", `Meet {"who":"[Al, n=2]","b":1}`, false},
		{"a reference to a result", "Meet(id=<id of A>)", `Meet {"id":"<id of A>"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name, args, strictly, err := parseTyped(tt.in)
			if got := name + " " + string(args.JSON()); err != nil || got != tt.want || strictly != tt.strictly {
				t.Errorf("parseTyped(%q) = %s, %v, %v, want %s, %v", tt.in, got, strictly, err, tt.want, tt.strictly)
			}
		})
	}
}

func TestCutTime(t *testing.T) {
	tests := []struct{ name, in, query, time string }{
		{"glued on", " Find it.TIME: 2034-04-15 10:00:00\n", "Find it.", "2034-04-15 10:00:00"},
		{"in brackets", "Find it. [TIME: 2034-04-15 10:00:00]", "Find it.", "2034-04-15 10:00:00"},
		{"half a bracket", "Find it. [TIME: 2034-04-15 10:00:00", "Find it. [TIME: 2034-04-15 10:00:00", ""},
		{"no time", "What does TIME: mean", "What does TIME: mean", ""},
		{"a time with a letter", "TIME: 2034-04-15T10:00:00", "TIME: 2034-04-15T10:00:00", ""},
		{"text behind it", "TIME: 2034-04-15 10:00:00 sharp", "TIME: 2034-04-15 10:00:00 sharp", ""},
		{"none", "Find it.", "Find it.", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if query, time := cutTime(tt.in); query != tt.query || time != tt.time {
				t.Errorf("cutTime(%q) = %q, %q, want %q, %q", tt.in, query, time, tt.query, tt.time)
			}
		})
	}
}

func TestLastRows(t *testing.T) {
	const cut = `{"input":"tool\nUser: %\nGenerate API Request: ","output":"API-Request: [f()]"}`
	a := strings.ReplaceAll(cut, "%", "a")
	longer := `{"input":"tool\nUser: a\nAPI-Request: [f()]->{}\nGenerate API Request: ","output":"API-Request: [g()]"}`
	b := strings.ReplaceAll(cut, "%", "b")
	const whole = `{"input":"tool\nUser: b\nAPI-Request: [f()]->{}\nGenerate AI Response: ","output":"AI: x"}`
	tests := []struct {
		name, file string
		want       map[int]bool
	}{
		{"two dialogues", a + "\n" + longer + "\n" + b, map[int]bool{1: true, 2: true}},
		{"a broken row between", a + "\n{}\n" + longer, map[int]bool{2: true}},
		{"whole dialogues as well", a + "\n" + longer + "\n" + whole, nil},
		{"nothing", "", map[int]bool{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := convert.Input{FS: fstest.MapFS{"x.json": &fstest.MapFile{Data: []byte(tt.file)}}}
			got, err := lastRows(t.Context(), in, "x.json")
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
