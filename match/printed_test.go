package match

import (
	"strings"
	"testing"

	"assay/internal/pylit"
	"assay/qaoa"

	"pgregory.net/rapid"
)

// The right column is what Python 3 prints for str(json.loads(left)).
func TestPrintedIsWhatPythonPrints(t *testing.T) {
	for json, want := range map[string]string{
		`1`: "1", `-0`: "0", `1.0`: "1.0", `-0.0`: "-0.0", `1e0`: "1.0", `0.1`: "0.1", `1.50`: "1.5",
		`123456789012345678901234567890`: "123456789012345678901234567890",
		`0.0001`:                         "0.0001", `0.00001`: "1e-05", `1e15`: "1000000000000000.0", `1e16`: "1e+16",
		`9999999999999998.0`: "9999999999999998.0", `1.5e300`: "1.5e+300", `1e400`: "inf", `-1e400`: "-inf", `1e-400`: "0.0",
		`true`: "True", `false`: "False", `null`: "None", `"x"`: "x", `""`: "", `"it's"`: "it's",
		`[]`: "[]", `{}`: "{}", `[1,"a",null,true]`: "[1, 'a', None, True]", `{"a":{"b":[0.50]}}`: "{'a': {'b': [0.5]}}",
		`["it's"]`: `["it's"]`, `["say \"it's\""]`: `['say "it\'s"']`, `["a\\b\n\t\r"]`: `['a\\b\n\t\r']`,
		`["\u0000\u007f\u00a0\u00e9\u2028\u200b"]`: `['\x00\x7f\xa0é\u2028\u200b']`, `["\ud83d\ude00"]`: "['😀']",
		`{"a":1,"b":2,"a":3}`: "{'a': 3, 'b': 2}",
	} {
		v, err := qaoa.ParseValue(json)
		if err != nil {
			t.Fatalf("%s: %v", json, err)
		}
		if got := printed(v); got != want {
			t.Errorf("printed(%s) = %s, want %s", json, got, want)
		}
	}
}

// What is printed can be read back as Python and prints the same again.
func TestPrintedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := printed(hostileObject(3).Draw(t, "object"))
		if strings.Contains(text, "inf") { // no literal of Python
			return
		}
		v, err := pylit.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again := printed(v); again != text {
			t.Errorf("%s reads back as %s", text, again)
		}
	})
}

func TestParseAlternatives(t *testing.T) {
	for _, tt := range []struct {
		name, meta string
		calls, len int
		language   string
		err        string
	}{
		{"no meta", ``, 1, 0, "", ""},
		{"no member", `{"category":"simple"}`, 1, 0, "", ""},
		{"one per call", `{"category":"simple","alternatives":[{"a":[1]},{}]}`, 2, 2, "", ""},
		{"a language", `{"category":"java","alternatives":[{"a":[1]}]}`, 1, 1, "java", ""},
		{"bare values are something else", `{"alternatives":[{"f":{"a":1}}]}`, 1, 0, "", ""},
		{"a list of strings is something else", `{"alternatives":["a"]}`, 1, 0, "", ""},
		{"too few", `{"alternatives":[{"a":[1]}]}`, 2, 0, "", "meta: /alternatives: want one object per gold call, 2, have 1"},
		{"no JSON", `{`, 1, 0, "", "meta: "},
	} {
		got, err := ParseAlternatives(qaoa.JSON(tt.meta), tt.calls)
		if got.Len() != tt.len || got.Language != tt.language || (err == nil) != (tt.err == "") {
			t.Errorf("%s: %d alternatives in %q, error %v", tt.name, got.Len(), got.Language, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
		}
	}
}
