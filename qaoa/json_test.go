package qaoa_test

import (
	"strings"
	"testing"

	"assay/qaoa"
)

func TestCompact(t *testing.T) {
	tests := []struct{ name, in, want, err string }{
		{"blanks go", " { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`, ""},
		{"order, repeats and number text stay", `{"b":1.0,"a":1e-07,"b":9007199254740993}`, `{"b":1.0,"a":1e-07,"b":9007199254740993}`, ""},
		{"escapes become UTF-8", `"\u00e9\u4e2d\/\ud83d\ude00"`, `"é中/😀"`, ""},
		{"no HTML escapes", `"\u003ctool_call\u003e & </x>"`, `"<tool_call> & </x>"`, ""},
		{"control characters are escaped", `"\u0000\u001f\b\f\n\r\t\"\\"`, `"\u0000\u001f\b\f\n\r\t\"\\"`, ""},
		{"lone surrogate", `"a\ud800b"`, "\"a\uFFFDb\"", ""},
		{"invalid UTF-8", "\"a\xffb\"", "\"a\uFFFDb\"", ""},
		{"huge exponent", `1e500`, `1e500`, ""},
		{"minus zero", `-0`, `-0`, ""},
		{"leading zero", `01`, "", "not valid JSON"},
		{"raw control character", "\"a\nb\"", "", "not valid JSON"},
		{"two values", `1 2`, "", "not valid JSON"},
		{"cut off", `{"a":`, "", "the text ends before the value does"},
		{"nothing", ``, "", "the text ends before the value does"},
		{"too deep", strings.Repeat("[", qaoa.MaxDepth+1) + strings.Repeat("]", qaoa.MaxDepth+1), "", "not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := qaoa.Compact(tt.in)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Compact(%.40q) = %.40q, %v; want an error with %q", tt.in, got, err, tt.err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Fatalf("Compact(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
			}
			v, err := qaoa.ParseValue(tt.in)
			if err != nil || string(v.JSON()) != tt.want {
				t.Errorf("ParseValue(%q).JSON() = %q, %v; want %q", tt.in, v.JSON(), err, tt.want)
			}
		})
	}
}

func TestParseValueDeep(t *testing.T) {
	deep := strings.Repeat("[", qaoa.MaxDepth) + strings.Repeat("]", qaoa.MaxDepth)
	v, err := qaoa.ParseValue(deep)
	if err != nil || string(v.JSON()) != deep {
		t.Fatalf("ParseValue of %d levels: %v", qaoa.MaxDepth, err)
	}
	if _, err := qaoa.ParseValue("[" + deep + "]"); err == nil {
		t.Error("ParseValue of one level more succeeded")
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,"é\ud800",null,true]}`, "\"\xff\"", `[1.0,-0,1e400]`, `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := qaoa.Compact(s)
		v, verr := qaoa.ParseValue(s)
		if (err == nil) != (verr == nil) {
			t.Fatalf("Compact: %v, ParseValue: %v", err, verr)
		}
		if err != nil {
			return
		}
		if v.JSON() != j {
			t.Fatalf("ParseValue(%q).JSON() = %q, Compact = %q", s, v.JSON(), j)
		}
		again, err := qaoa.Compact(j)
		if err != nil || again != j {
			t.Fatalf("Compact(%q) = %q, %v; want the same", j, again, err)
		}
	})
}

func BenchmarkParseValue(b *testing.B) {
	const text = `{"city":"Oslo","nights":3,"guests":[{"name":"Ada","age":36},{"name":"Bo","age":null}],"price":199.50,"note":"near the old harbour, é"}`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := qaoa.ParseValue(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	const text = `{"city": "Oslo", "nights": 3, "guests": [{"name": "Ada", "age": 36}, {"name": "Bo", "age": null}], "price": 199.50, "note": "near the old harbour, \u00e9"}`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := qaoa.Compact(text); err != nil {
			b.Fatal(err)
		}
	}
}
