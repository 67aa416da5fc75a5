package match

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"assay/qaoa"

	"pgregory.net/rapid"
)

func TestCanonicalStrings(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"the empty string is text", "", `text ""`},
		{"blanks are trimmed", " \t\u00a0\u3000x\n", `text "x"`},
		{"only format characters", "\u200b\ufeff", `text ""`},
		{"null is a word", "null", `text "null"`},
		{"true", "TRUE", "bool true"},
		{"false in a sentence", "false alarm", `text "falsealarm"`},

		{"integer", "42", "number 42"},
		{"plus", "+1", "number 1"},
		{"two signs", "--1", `text "1"`},
		{"minus zero", "-0.0", "number 0"},
		{"fraction", "00.2500", "number 0.25"},
		{"only a fraction", ".5e1", "number 5"},
		{"point at the end with exponent", "5.e-1", "number 0.5"},
		{"only a point", ".", `text "."`},
		{"only a sign", "-", `text "-"`},
		{"only an exponent", "e5", `text "e5"`},
		{"open exponent", "1e", `text "1e"`},
		{"plus in the exponent", "1E+2", "number 100"},
		{"two signs in the exponent", "1e+-2", `text "1e+2"`},
		{"comma groups", "12,345", "number 12345"},
		{"comma groups with the rest", "-1,234.5e1", "number -12345"},
		{"a group of two", "1,23", `text "123"`},
		{"a group of four", "1,2345", `text "12345"`},
		{"four digits before a comma", "1234,567", `text "1234567"`},
		{"zero before a comma", "0,123", `text "0123"`},
		{"comma at the end", "1,", `text "1"`},
		{"underscore", "1_000", `text "1000"`},
		{"hexadecimal", "0x10", `text "0x10"`},
		{"NaN", "NaN", `text "nan"`},
		{"Arabic digits are no number", "٤٢", `text "٤٢"`},
		{"wide digits are", "１２.５", "number 12.5"},
		{"two numbers", "1 2", `text "12"`},

		{"ISO date", "2023-4-1", "date 2023-04-01"},
		{"full stops", "2023.04.01", "date 2023-04-01"},
		{"mixed separators", "2023-04/01", `text "202304/01"`},
		{"Month D, Y", "April 1, 2023", "date 2023-04-01"},
		{"Month D Y", "APRIL  1  2023", "date 2023-04-01"},
		{"D Month Y", "1 april 2023", "date 2023-04-01"},
		{"D Month, Y", "1 April , 2023", "date 2023-04-01"},
		{"no blank after the comma", "Apr 1,2023", "date 2023-04-01"},
		{"short month with full stop", "Apr. 1, 2023", "date 2023-04-01"},
		{"full month with full stop", "April. 1, 2023", `text "april12023"`},
		{"May with full stop", "May. 1, 2023", "date 2023-05-01"},
		{"four letters of a month", "Sept 1, 2023", `text "sept12023"`},
		{"ordinal", "April 1ST, 2023", "date 2023-04-01"},
		{"any ordinal", "22th Oct 2023", "date 2023-10-22"},
		{"no blank before the day", "April1, 2023", `text "april12023"`},
		{"no blank before the year", "April 1st2023", `text "april1st2023"`},
		{"three digits of day", "April 001, 2023", `text "april0012023"`},
		{"two digits of year", "April 1, 23", `text "april123"`},
		{"year zero", "0000-01-01", `text "00000101"`},
		{"year one", "0001-01-01", "date 0001-01-01"},
		{"five digits of year", "12023-01-01", `text "120230101"`},
		{"M/D/Y", "4/1/2023", "date 2023-04-01"},
		{"D/M/Y by its first field", "13/4/2023", "date 2023-04-13"},
		{"neither order", "13/13/2023", `text "13/13/2023"`},
		{"D.M.Y is no form", "13.4.2023", `text "13.4.2023"`},
		{"leap day", "2024-02-29", "date 2024-02-29"},
		{"no leap day", "2023-02-29", `text "20230229"`},
		{"month 13", "2023-13-01", `text "20231301"`},
		{"day 0", "2023-01-00", `text "20230100"`},

		{"wall time", "2023-04-01T10:00", "date 2023-04-01T10:00:00"},
		{"wall time with a blank", "2023-04-01 10:00:05", "date 2023-04-01T10:00:05"},
		{"two blanks", "2023-04-01  10:00", `text "2023040110:00"`},
		{"small t", "2023-04-01t10:00", `text "20230401t10:00"`},
		{"small z", "2023-04-01T10:00z", `text "20230401t10:00z"`},
		{"midnight", "2023-04-01T00:00", "date 2023-04-01"},
		{"just after midnight", "2023-04-01T00:00:00.001", "date 2023-04-01T00:00:00.001"},
		{"midnight of a zone", "2023-04-01T00:00Z", "date 2023-04-01T00:00:00Z"},
		{"zone of hours", "2023-04-01T10:00+02", "date 2023-04-01T08:00:00Z"},
		{"zone of four digits", "2023-04-01T10:00-0230", "date 2023-04-01T12:30:00Z"},
		{"zone with a colon and a fraction", "2023-04-01T10:00:00.50+02:00", "date 2023-04-01T08:00:00.5Z"},
		{"largest zone", "2023-04-01T23:59-23:59", "date 2023-04-02T23:58:00Z"},
		{"zone too large", "2023-04-01T10:00+24:00", `text "20230401t10:00+24:00"`},
		{"zone over the end of years", "9999-12-31T23:59-00:01", "date 10000-01-01T00:00:00Z"},
		{"24:00", "2023-04-01T24:00", `text "20230401t24:00"`},
		{"second 60", "2023-04-01T10:00:60", `text "20230401t10:00:60"`},
		{"one digit of month", "2023-4-01T10:00:00", `text "2023401t10:00:00"`},
		{"open fraction", "2023-04-01T10:00:00.", `text "20230401t10:00:00"`},
		{"time alone", "10:00", `text "10:00"`},

		{"array", "[1, 'a']", `array [1, "a"]`},
		{"object", `{"b": "1", "a": [True]}`, `object {"a": [true], "b": 1}`},
		{"broken array", "[1", `text "1"`},
		{"two arrays", "[1][2]", `text "12"`},
		{"a template", "{city}", `text "city"`},
		{"parentheses are text", "(1, 2)", `text "12"`},
		{"number keys are text", "{1: 2}", `text "12"`},
		{"prefix", "[b'x']", `text "bx"`},
		{"escapes that Python does not know", `['\d']`, `array ["d"]`},
		{"a lone surrogate", `["\ud800"]`, "array [\"\ufffd\"]"},

		{"Cherokee letters fold to capitals", "ꭰꮿ", `text "ᎠᏯ"`},
		{"folding that composes again", "\u0130", "text \"i\u0307\""},
		{"ligature", "ﬁn", `text "fin"`},
		{"punctuation", `"Hello, World!"`, `text "helloworld"`},
		{"kept signs", "a<b>c=d+e#f%", `text "a<b>c=d+e#f%"`},
		{"currency", "€5 or so", `text "5orso"`},
		{"decimal comma", "1,5 km", `text "15km"`},
		{"digits of other scripts keep their point", "٤.٢ x", `text "٤.٢x"`},
		{"a point between marks is not between digits", "1.a", `text "1a"`},
		{"leading hyphen before a digit", "-5 degrees", `text "-5degrees"`},
		{"leading hyphen before a letter", "-x 5", `text "x5"`},
		{"articles", "An apple on the table", `text "appleontable"`},
		{"article at the end", "the the", `text "the"`},
		{"article before punctuation", "the (x)", `text "thex"`},
		{"article after deletion", "(a) b", `text "b"`},
		{"an article that folds", "ＴＨＥ cat", `text "cat"`},
		{"symbols alone", "☀ ☂", `text "☀ ☂"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Canonical(qaoa.StringValue(tt.in), Options{}).String(); got != tt.want {
				t.Errorf("canon(%q) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestNestingBeyond200IsText(t *testing.T) {
	nested := func(n int, inner string) string { return strings.Repeat("[", n) + inner + strings.Repeat("]", n) }
	for _, tt := range []struct {
		in   string
		want Kind
	}{
		{nested(200, "1"), Array},
		{nested(201, "1"), Text},
		{nested(200, "None"), Array},
		{nested(201, "None"), Text},
		{nested(20_000, ""), Text},
		{strings.Repeat(`{"a":`, 201) + "1" + strings.Repeat("}", 201), Text},
	} {
		if got := Canonical(qaoa.StringValue(tt.in), Options{}); got.Kind != tt.want {
			t.Errorf("%d bytes %.10s…: %s, want %s", len(tt.in), tt.in, got.Kind, tt.want)
		}
	}
	// Arguments themselves may nest as deep as JSON may.
	deep := qaoa.JSON(`{"a":` + nested(5000, "1") + `}`)
	if got := Compare(qaoa.Call{Name: "f", Arguments: deep}, qaoa.Call{Name: "f", Arguments: deep}, nil, Options{}); !got.Strict {
		t.Errorf("identical deep arguments: %+v", got)
	}
}

func TestStringsInStringsAreBounded(t *testing.T) {
	// \x5b is a bracket to Python; each level of strings adds x5c to it.
	s := "1"
	for range 400 {
		s = `["` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\x5c`), `"`, `\x22`) + `"]`
	}
	levels := 0
	for c := Canonical(qaoa.StringValue(s), Options{}); c.Kind == Array; c = c.Items[0] {
		levels++
	}
	if levels != maxLiteralLevels {
		t.Errorf("%d levels, want %d", levels, maxLiteralLevels)
	}
}

// TestNumbersAreExact compares numberText with big.Rat, which computes.
func TestNumbersAreExact(t *testing.T) {
	gen := rapid.StringMatching(`[+-]?([0-9]{1,30}|[1-9][0-9]{0,2}(,[0-9]{3}){1,3})(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		if rapid.Bool().Draw(t, "shift") { // the same value in another form
			b = shifted(a, rapid.IntRange(0, 20).Draw(t, "zeros"))
		}
		x, okX := numberText(a)
		y, okY := numberText(b)
		if !okX || !okY {
			t.Fatalf("%q, %q: not read as numbers", a, b)
		}
		if same := rat(t, a).Cmp(rat(t, b)) == 0; same != (x == y) {
			t.Errorf("%q is %s, %q is %s; equal: %t", a, x, b, y, same)
		}
		if rat(t, a).Cmp(rat(t, x)) != 0 {
			t.Errorf("%q has the text %s, another value", a, x)
		}
		if again, ok := numberText(x); !ok || again != x {
			t.Errorf("numberText(%q) = %q, want itself", x, again)
		}
	})
}

// shifted writes s with zeros more digits and an exponent that makes up for it.
func shifted(s string, zeros int) string {
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	n, _ := strconv.Atoi(exp) // "" is 0
	mantissa = strings.ReplaceAll(mantissa, ",", "")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return fmt.Sprintf("%s%s%se%d", whole, fraction, strings.Repeat("0", zeros), n-len(fraction)-zeros)
}

func rat(t *rapid.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(strings.ReplaceAll(s, ",", ""))
	if !ok {
		t.Fatalf("big.Rat does not read %q", s)
	}
	return r
}

func TestCanonicalTextOfNumbers(t *testing.T) {
	nines := strings.Repeat("9", 400)
	for _, tt := range []struct{ in, want string }{
		{"1e399", "1" + strings.Repeat("0", 399)},
		{"1e400", "1e400"},
		{nines, nines},
		{nines + "9", nines + "9e0"},
		{"1e-400", "0." + strings.Repeat("0", 399) + "1"},
		{"1e-401", "1e-401"},
		{"-123e1000", "-123e1000"},
		{"0e999999999999999999", "0"},
		{"10e999999999999999999", "1e1000000000000000000"},
	} {
		if got, ok := numberText(tt.in); !ok || got != tt.want {
			t.Errorf("numberText(%.20s) = %.20s (%d bytes), want %.20s (%d bytes)", tt.in, got, len(got), tt.want, len(tt.want))
		}
	}
	for _, in := range []string{"1e1000000000000000000", "0e0000000000000000001"} {
		if got, ok := numberText(in); ok {
			t.Errorf("numberText(%s) = %s, want none: its exponent has 19 digits", in, got)
		}
	}
}

// TestDatesAgainstTime reads every day of some years in every form, and
// compares with the time package's own writer.
func TestDatesAgainstTime(t *testing.T) {
	layouts := []string{
		"2006-01-02", "2006/1/2", "2006.01.2", "January 2, 2006", "Jan 2 2006", "2 January 2006",
		"02 Jan., 2006", "2006-01-02T00:00:00", "2006-01-02 00:00",
	}
	for day := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2001; day = day.AddDate(0, 0, 1) {
		want := day.Format(time.DateOnly)
		for _, layout := range layouts {
			if got, ok := dateText(day.Format(layout), false); !ok || got != want {
				t.Fatalf("%s: got %s, %t", day.Format(layout), got, ok)
			}
		}
		for _, sep := range []string{"/", "-"} {
			mdy, dmy := day.Format("1"+sep+"2"+sep+"2006"), day.Format("2"+sep+"1"+sep+"2006")
			if got, _ := dateText(mdy, false); got != want {
				t.Fatalf("mdy: %s is %s", mdy, got)
			}
			if got, _ := dateText(dmy, true); got != want {
				t.Fatalf("dmy: %s is %s", dmy, got)
			}
			if day.Day() > 12 {
				if got, _ := dateText(dmy, false); got != want {
					t.Fatalf("mdy, day first: %s is %s", dmy, got)
				}
				if got, _ := dateText(mdy, true); got != want {
					t.Fatalf("dmy, month first: %s is %s", mdy, got)
				}
			}
		}
	}
}

// TestInstants compares zones with time.Parse.
func TestInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(0, 4_000_000_000).Draw(t, "seconds")
		minutes := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "zone")
		instant := time.Unix(seconds, 0).In(time.FixedZone("", minutes*60))
		layout := rapid.SampledFrom([]string{"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05-0700"}).Draw(t, "layout")
		want := instant.UTC().Format("2006-01-02T15:04:05Z")
		if got, ok := dateText(instant.Format(layout), false); !ok || got != want {
			t.Errorf("%s is %q, want %s", instant.Format(layout), got, want)
		}
	})
}

// TestFoldIsFullCaseFolding checks the folding of the text library against
// the simple folding orbits of package unicode: what differs in case only must
// fold alike, except where full folding makes more than one character of one.
func TestFoldIsFullCaseFolding(t *testing.T) {
	checked := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		next := unicode.SimpleFold(r)
		if next == r || r == 'ſ' { // ſ is s by NFKC, before folding
			continue
		}
		a, b := fold(string(r)), fold(string(next))
		if a != b && len([]rune(a)) == 1 && len([]rune(b)) == 1 {
			t.Errorf("%q folds to %q, %q to %q", r, a, next, b)
		}
		checked++
	}
	if checked < 2000 {
		t.Errorf("only %d characters have a case", checked)
	}
	for in, want := range map[string]string{"ß": "ss", "ẞ": "ss", "ŉ": "ʼn", "Σς": "σσ", "İ": "i̇", "Ǆ": "ǆ", "ꭰ": "Ꭰ", "Ꭰ": "Ꭰ"} {
		if got := fold(in); got != want {
			t.Errorf("fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTextFormIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostileString().Draw(t, "s")
		p := prepare(s)
		if again := prepare(p); again != p && nfkc(p) == p {
			t.Errorf("prepare(%q) = %q, then %q", s, p, again)
		}
		// The same text with more blanks and other case has the same form.
		if form := textForm(refold(p), false); form != refold(p) && strings.ContainsFunc(form, unicode.IsSpace) {
			t.Errorf("text form %q of %q has blanks", form, s)
		}
	})
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"The old-town, 2nd", "the|old|town|2nd"},
		{"", ""},
		{"--", "--"},
		{" ! ", "!"},
		{"北京hotel酒店", "北|京|hotel|酒|店"},
		{"カタカナ ひらがな", "カ|タ|カ|ナ|ひ|ら|が|な"},
		{"한국어", "한|국|어"},
		{"ｶﾞ", "ガ"},
		{"naïve cafe\u0301", "naïve|café"},
		{"コーヒー", "コ|ー|ヒ|ー"},
		{"x\u200by", "xy"},
	} {
		if got := strings.Join(Words(tt.in), "|"); got != tt.want {
			t.Errorf("Words(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestTokensGoDepthFirstByKey(t *testing.T) {
	v, err := qaoa.ParseValue(`{"b":[1,"two words",[],{}],"a":{"z":null,"y":"","x":true},"c":"1 May 2023","d":null,"e":[null]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := "a|x|true|y||b|1|two|words|[]|{}|c|2023-05-01|e|null"
	if got := strings.Join(Canonical(v, Options{}).Tokens(), "|"); got != want {
		t.Errorf("tokens %s, want %s", got, want)
	}
}
