package qaoa_test

import (
	"fmt"
	"testing"

	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

func ExampleEachMember() {
	ok := qaoa.EachMember(`{"a": [1, {"b": "]"}], "c\u0064": "x\ny"}`, func(name, value string) bool {
		fmt.Println(name, value)
		return true
	})
	fmt.Println(ok)
	// Output:
	// a [1, {"b": "]"}]
	// cd "x\ny"
	// true
}

func TestEachItem(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		ok       bool
	}{
		{"no item", " [ ] ", nil, true},
		{"all kinds", ` [1, "a,]" ,{"x":[2]},[],null ] `, []string{"1", `"a,]"`, `{"x":[2]}`, "[]", "null"}, true},
		{"an escaped quote", `["a\"],b"]`, []string{`"a\"],b"`}, true},
		{"a comma too many", `[1,]`, []string{"1"}, false},
		{"a comma too few", `[1 2]`, []string{"1"}, false},
		{"text behind it", `[1]x`, []string{"1"}, false},
		{"cut off", `[1,[2`, []string{"1"}, false},
		{"cut off in an escape", `["\`, nil, false},
		{"no value", `[:]`, nil, false},
		{"an object", `{}`, nil, false},
		{"nothing", ``, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			ok := qaoa.EachItem(tt.in, func(item string) bool { got = append(got, item); return true })
			if ok != tt.ok || !cmp.Equal(got, tt.want) {
				t.Errorf("EachItem(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestUnquote(t *testing.T) {
	tests := []struct {
		name, in, want string
		ok             bool
	}{
		{"plain", `"abc"`, "abc", true},
		{"escapes", `"a\"\\\/\n\u00e9\ud83d\ude00"`, "a\"\\/\né😀", true},
		{"no string", `1`, "", false},
		{"blanks around it", ` "a"`, "", false},
		{"text behind it", `"a"b`, "a", false},
		{"not closed", `"a`, "", false},
		{"a lone surrogate", `"\ud83d"`, "", false},
		{"a control character", "\"a\nb\"", "a", false},
		{"one quote", `"`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := qaoa.Unquote(tt.in); ok != tt.ok || ok && got != tt.want {
				t.Errorf("Unquote(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
			}
			if got, ok := qaoa.AppendUnquoted([]byte("x"), tt.in); ok != tt.ok || ok && string(got) != "x"+tt.want {
				t.Errorf("AppendUnquoted(x, %q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
			}
		})
	}
}

// Whatever the text is, the pieces of a sound array or object are the values
// that the tree has.
func FuzzSpans(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x"],"b":{"c":null}}`, `[[],{},"",-1e5,true]`, `[1,]`, `{"a" 1}`, `["\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var pieces []string
		add := func(piece string) bool { pieces = append(pieces, piece); return true }
		ok := qaoa.EachItem(s, add) || qaoa.EachMember(s, func(_, v string) bool { return add(v) })
		v, err := qaoa.ParseValue(s)
		if err != nil || v.Kind != qaoa.Array && v.Kind != qaoa.Object {
			return
		}
		if n := len(v.Items) + len(v.Members); !ok || n != len(pieces) {
			t.Fatalf("%q: %d pieces (%v), the tree has %d", s, len(pieces), ok, n)
		}
		for i, piece := range pieces {
			want := v.Items
			if v.Kind == qaoa.Object {
				want = []qaoa.Value{v.Members[i].Value}
			} else {
				want = want[i : i+1]
			}
			if got, err := qaoa.Compact(piece); err != nil || got != want[0].JSON() {
				t.Errorf("%q: piece %d is %q (%v), the tree has %s", s, i, piece, err, want[0].JSON())
			}
		}
	})
}
