package apibank

import (
	"strings"
	"testing"

	"assay/internal/pylit"
	"assay/qaoa"

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
