package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"assay/eval"
)

func TestEscape(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain names stay readable", "Qwen3-8B (Vanilla) ollama/qwen3:8b", `Qwen3-8B (Vanilla) ollama/qwen3\:8b`},
		{"underscores inside a word are text", "bfcl_multi_turn", "bfcl_multi_turn"},
		{"underscores at an edge are emphasis", "__init__", `\_\_init\_\_`},
		{"a pipe does not end the cell", "a|b", `a\|b`},
		{"a backslash does not eat the next one", `a\|b`, `a\\\|b`},
		{"line breaks are blanks", "a\r\nb\nc", "a  b c"},
		{"HTML is text", "<script>&amp;", `\<script\>\&amp;`},
		{"emphasis, code, strike-through and links are text", "*a* `b` ~~c~~ [d](e)", "\\*a\\* \\`b\\` \\~\\~c\\~\\~ \\[d\\](e)"},
		{"bare addresses are not linked", "https://x.y www.x.y a@b", `https\://x.y www\.x.y a\@b`},
		{"numbers stay numbers", "-0.5", "-0.5"},
		{"a list is text", "- a", `\- a`},
		{"terminal escapes are shown", "\x1b[31mred", "\uFFFD\\[31mred"},
		{"changes of direction are shown", "abc\u202Ecba", "abc\uFFFDcba"},
		{"invalid UTF-8 is shown", "a\xffb", "a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Escape(tt.in); got != tt.want {
				t.Errorf("Escape(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// unescapedPipes counts what a Markdown reader takes for cell borders.
func unescapedPipes(line string) int {
	n, escaped := 0, false
	for _, r := range line {
		if r == '|' && !escaped {
			n++
		}
		escaped = r == '\\' && !escaped
	}
	return n
}

func FuzzTableKeepsItsShape(f *testing.F) {
	f.Add("a|b", "c\\")
	f.Add("x\n| y |", "\x1b]0;t\x07")
	f.Add(strings.Repeat("é", 300), "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		table := Table{Header: []string{"Model", "SP"}, Left: 1}
		table.Add(a, b)
		table.Rows = append(table.Rows, []TableCell{{Text: b, Mark: Best}, {Text: a, Mark: Second}})
		var md, text strings.Builder
		if err := table.Markdown(&md); err != nil {
			t.Fatal(err)
		}
		if err := table.Text(&text); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(md.String(), "\n"); n != 4 {
			t.Fatalf("%d lines, want 4:\n%s", n, md.String())
		}
		for line := range strings.Lines(md.String()) {
			if unescapedPipes(line) != 3 {
				t.Fatalf("not three borders in %q", line)
			}
		}
		if n := strings.Count(text.String(), "\n"); n != 3 {
			t.Fatalf("%d lines, want 3:\n%s", n, text.String())
		}
		for _, s := range []string{md.String(), text.String(), Escape(a)} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\x1b\x00\r\t\u202e") {
				t.Fatalf("unsafe text %q", s)
			}
		}
	})
}

func TestMarks(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	tests := []struct {
		name   string
		values []*float64
		want   string // B best, S second, . plain
	}{
		{"best and second", []*float64{f(0.5), f(0.9), f(0.7)}, ".BS"},
		{"two best leave no second", []*float64{f(0.9), f(0.9), f(0.7)}, "BB."},
		{"two second", []*float64{f(0.9), f(0.7), f(0.7)}, "BSS"},
		{"what prints alike is alike", []*float64{f(0.90001), f(0.9), f(0.7)}, "BB."},
		{"equal values have no best", []*float64{f(0), f(0)}, ".."},
		{"one value has no rival", []*float64{f(0.9), nil}, ".."},
		{"empty cells are passed over", []*float64{nil, f(0.1), f(0.2)}, ".SB"},
		{"nothing", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, m := range plainMarks(tt.values) {
				got += [...]string{".", "B", "S"}[m]
			}
			if got != tt.want {
				t.Errorf("marks = %q, want %q", got, tt.want)
			}
		})
	}
}

// plainMarks are the marks of [BoldBest] in one column.
func plainMarks(values []*float64) []Mark {
	col := Column{"SP", "SH"}
	var gs []group
	for i, v := range values {
		r := Run{Model: string(rune('a' + i)), Setting: "gt", Scores: eval.Scores{Preset: "paper"}}
		r.Scores.Cells.SH = eval.Cell{N: 10, SP: v}
		gs = append(gs, group{preset: "paper", setting: "GT", model: r.Model, runs: []Run{r}})
	}
	b := newBolding(gs, []Column{col}, Options{Bold: BoldBest})
	out := make([]Mark, len(gs))
	for i, g := range gs {
		out[i] = b.mark("GT", g.model, col)
	}
	return out
}

func TestSettingLabel(t *testing.T) {
	for in, want := range map[string]string{"gt": "GT", "GT": "GT", "hybrid": "Hybrid-20", "Hybrid-20": "Hybrid-20", "hybrid-50": "Hybrid-50", "": "(no setting)", "Own": "Own"} {
		if got := SettingLabel(in); got != want {
			t.Errorf("SettingLabel(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShareTextDoesNotRoundToFullCoverage(t *testing.T) {
	for _, tt := range []struct {
		k, n int
		want string
	}{{0, 0, "n/a"}, {0, 5, "0.0 %"}, {1, 100_000, "< 0.1 %"}, {99_999, 100_000, "> 99.9 %"}, {3, 3, "100.0 %"}, {1, 3, "33.3 %"}} {
		if got := shareText(tt.k, tt.n); got != tt.want {
			t.Errorf("shareText(%d, %d) = %q, want %q", tt.k, tt.n, got, tt.want)
		}
	}
}

func TestSeedsSortAsNumbers(t *testing.T) {
	for _, tt := range []struct{ a, b string }{{"2", "10"}, {"10", "a"}, {"a", "b"}, {"", "a"}} {
		if compareSeeds(tt.a, tt.b) >= 0 || compareSeeds(tt.b, tt.a) <= 0 {
			t.Errorf("seed %q does not come before %q", tt.a, tt.b)
		}
	}
}
