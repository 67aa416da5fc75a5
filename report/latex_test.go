package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"assay/report"
)

// latexTable returns the lines of the body of a table of one text and one
// number.
func latexTable(t interface{ Fatal(...any) }, text string) string {
	table := report.Table{Header: []string{"Model", "n"}, Left: 1}
	table.Add(text, "1")
	var b bytes.Buffer
	if err := table.LaTeX(&b); err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(b.String(), "\\midrule\n")
	body, end, ok2 := strings.Cut(body, " & 1 \\\\\n\\bottomrule\n")
	if !ok || !ok2 || end != "\\end{tabular}\n" {
		t.Fatal("no table:\n" + b.String())
	}
	return body
}

func TestLaTeXText(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"specials are escaped", `a_b & 50% #1 $x$ {y} \z`, `a\_b \& 50\% \#1 \$x\$ \{y\} \textbackslash{}z`},
		{"accents stay in text", "~^", `\textasciitilde{}\textasciicircum{}`},
		{"quotes stay straight", `"'` + "`", `\textquotedbl{}\textquotesingle{}\textasciigrave{}`},
		{"comparisons stay in text", "<|>", `\textless{}\textbar{}\textgreater{}`},
		{"hyphens do not join into a dash", "a--b---c-d", "a-{}-b-{}-{}-c-d"},
		{"commas do not join into a quote", "a,,b", "a,{},b"},
		{"a bracket is no argument of the line break before", "[2]", "{[}2{]}"},
		{"a star is no part of the line break before", "*x", "{*}x"},
		{"Latin letters stay", "Łódź ñ ß œ", "Łódź ñ ß œ"},
		{"a combining accent joins its letter", "e\u0301", "é"},
		{"signs are set by the mathematical fonts", "± × ≤ α", `$\pm$ $\times$ $\leq$ $\alpha$`},
		{"other scripts are shown by their codes, a run in one piece", "a-你好-b", `a-\assaytext{你好}{U+4F60 597D}-b`},
		{"beyond the basic plane too", "🚀", `\assaytext{🚀}{U+1F680}`},
		{"controls and changes of direction are question marks", "a\x1b\u202eb", "a??b"},
		{"a line break is a blank", "a\nb", "a b"},
		{"a long name is broken after a mark", strings.Repeat("longname-", 6), `\begin{tabular}[t]{@{}l@{}}` + strings.Repeat("longname-", 4) + ` \\ longname-longname-\end{tabular}`},
		{"a long name without marks is broken anywhere", strings.Repeat("x", 40), `\begin{tabular}[t]{@{}l@{}}` + strings.Repeat("x", 36) + ` \\ xxxx\end{tabular}`},
		{"36 characters are one line", strings.Repeat("x", 36), strings.Repeat("x", 36)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := latexTable(t, test.text); got != test.want {
				t.Errorf("%q is written as\n%s\nwant\n%s", test.text, got, test.want)
			}
		})
	}
}

// backToText is a small LaTeX: it undoes what the writer may write, and knows
// nothing else.
func backToText(t *rapid.T, tex string) string {
	tex = strings.TrimSuffix(strings.TrimPrefix(tex, `\begin{tabular}[t]{@{}l@{}}`), `\end{tabular}`)
	tex = strings.ReplaceAll(tex, ` \\ `, "")
	words := map[string]string{
		"textbackslash": `\`, "textasciicircum": "^", "textasciitilde": "~", "textless": "<", "textgreater": ">", "textbar": "|",
		"textquotedbl": `"`, "textasciigrave": "`", "textquotesingle": "'", "ldots": "…",
	}
	var b strings.Builder
	for tex != "" {
		if m := regexp.MustCompile(`^\\assaytext\{([^{}]*)\}\{U\+([0-9A-F ]+)\}`).FindStringSubmatch(tex); m != nil {
			var codes []rune
			for code := range strings.FieldsSeq(m[2]) {
				n, err := strconv.ParseInt(code, 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, rune(n))
			}
			if string(codes) != m[1] {
				t.Fatalf("the codes %s are not those of %q", m[2], m[1])
			}
			b.WriteString(m[1])
			tex = tex[len(m[0]):]
			continue
		}
		if m := regexp.MustCompile(`^\\([a-z]+)\{\}`).FindStringSubmatch(tex); m != nil && words[m[1]] != "" {
			b.WriteString(words[m[1]])
			tex = tex[len(m[0]):]
			continue
		}
		if m := regexp.MustCompile(`^(?:\\([{}$&#%_])|\{([\[\]*]?)\})`).FindStringSubmatch(tex); m != nil {
			b.WriteString(m[1] + m[2])
			tex = tex[len(m[0]):]
			continue
		}
		r := []rune(tex)[0]
		known := r <= 0x17E || r >= 0x218 && r <= 0x21B || r >= 0x2013 && r <= 0x2122
		if !known || strings.ContainsRune(`\{}$&#%_^~<>|"'[]*`+"`", r) {
			t.Fatalf("a bare %q in %q", r, tex)
		}
		b.WriteRune(r)
		tex = tex[len(string(r)):]
	}
	return b.String()
}

// Whatever the text, reading the LaTeX gives it back: nothing is markup, and
// nothing is lost.
func TestLaTeXTextProperties(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-z_&%$#{}~^\\<>|"'\[\]*, -]{0,30}`),
		rapid.SampledFrom([]string{"你好", "🚀", "é", "e\u0301", "نموذج", "--", ",,", "`", "…", "\u00ad"}),
		rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.S)),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
		text = strings.Join(strings.Fields(text), " ") // blanks at the end of a line are not shown
		if len([]rune(text)) > 120 || strings.ContainsAny(text, "±−×·≤≥≠≈∞→←αβγδεηθκλμπρστφχψωΔΣΩ") {
			t.Skip("cut, or set by the mathematical fonts")
		}
		want := []rune(norm.NFC.String(text))
		for i, r := range want {
			if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
				want[i] = '?'
			}
		}
		got := backToText(t, latexTable(t, text))
		// A line ends without its blank.
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(string(want), " ", "") {
			t.Fatalf("%q comes back as %q", text, got)
		}
	})
}

// Neighbouring columns of one measure have it once, above the cells.
func TestLaTeXHeader(t *testing.T) {
	for _, test := range []struct {
		name   string
		header []string
		want   string
	}{
		{"measures before cells", []string{"Model", "SP SH", "SP MH", "FPA_arg SH", "FPA_arg MH"}, " & \\multicolumn{2}{c}{SP} & \\multicolumn{2}{c}{FPA\\_arg} \\\\\n\\cmidrule(lr){2-3} \\cmidrule(lr){4-5}\nModel & SH & MH & SH & MH \\\\\n"},
		{"cells before measures", []string{"Model", "ST SP", "MT SP"}, " & \\multicolumn{2}{c}{SP} \\\\\n\\cmidrule(lr){2-3}\nModel & ST & MT \\\\\n"},
		{"one column of a measure stays whole", []string{"Model", "SP SH", "FP SH"}, "Model & SP SH & FP SH \\\\\n"},
		{"other headers stay whole", []string{"Model", "Serial turns", "Serial share"}, "Model & Serial turns & Serial share \\\\\n"},
	} {
		var b bytes.Buffer
		if err := (report.Table{Header: test.header, Left: 1}).LaTeX(&b); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(b.String(), "\\toprule\n")
		got, _, _ = strings.Cut(got, "\\midrule\n")
		if got != test.want {
			t.Errorf("%s: the header is\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// The macro for other scripts is defined where it is used, and only there.
func TestLaTeXDefinesItsMacro(t *testing.T) {
	for text, want := range map[string]int{"plain": 0, "你好": 1} {
		table := report.Table{Header: []string{"Model"}, Left: 1}
		table.Add(text)
		for form, write := range map[string]func(*bytes.Buffer) error{
			"table": func(b *bytes.Buffer) error { return table.LaTeX(b) },
			"sheet": func(b *bytes.Buffer) error {
				return report.Sheet{Title: "T", Caption: "C.", Table: table}.LaTeX(b)
			},
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			def := strings.Index(b.String(), `\providecommand{\assaytext}`)
			if strings.Count(b.String(), `\providecommand`) != want || want == 1 && def > strings.Index(b.String(), `\begin`) {
				t.Errorf("%s of %q: want %d definitions before all else:\n%s", form, text, want, &b)
			}
		}
	}
}

// A table of many columns spans both columns of a paper, and never runs off it.
func TestLaTeXFitsThePage(t *testing.T) {
	for n, want := range map[int]string{8: "table", 9: "table*"} {
		s := report.Sheet{Title: "T", Caption: "C.", Table: report.Table{Left: 1}}
		for i := range n {
			s.Table.Header = append(s.Table.Header, fmt.Sprint("h", i))
		}
		got := written(t, s, "latex")
		for _, part := range []string{"\\begin{" + want + "}\n", "\\end{" + want + "}\n", `\resizebox{\ifdim\width>\linewidth`, "\\end{tabular}}\n\\caption[T]{T. C.}"} {
			if !strings.Contains(got, part) {
				t.Errorf("%d columns: want %q in\n%s", n, part, got)
			}
		}
	}
}
