package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wideTable is from how many columns on a table spans both columns of a page.
const wideTable = 9

// LaTeX writes a table environment with the caption, which ends in the legend
// of bold values. Notes become comments. A
// table that is wider than the page is scaled down, and one of many columns
// spans both columns of a paper that has two.
//
// Text is set by pdfLaTeX with fonts of encoding T1, which have the Latin
// scripts and the usual punctuation. All else (Chinese, Arabic, emoji) is shown
// by its code points, as in [U+4F60 597D], unless the document defines
// \assaytext, which is given the text and the codes.
func (s Sheet) LaTeX(w io.Writer) error {
	env := "table"
	if len(s.Table.Header) >= wideTable {
		env = "table*"
	}
	var table bytes.Buffer
	s.Table.tabular(&table)
	caption := fmt.Sprintf("\\caption[%s]{%[1]s. %s}\n", latexEscape(cleanLine(s.Title)), latexEscape(strings.TrimSpace(cleanLine(s.Caption+" "+s.Legend))))

	var b bytes.Buffer
	b.WriteString("% needs \\usepackage{booktabs}, \\usepackage{graphicx}, \\usepackage[T1]{fontenc}, \\usepackage{textcomp}\n")
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "%% %s\n", cleanLine(n))
	}
	b.WriteString(assayText(table.String() + caption))
	fmt.Fprintf(&b, "\\begin{%s}\n\\centering\n\\small\n\\setlength{\\tabcolsep}{4pt}\n", env)
	b.WriteString("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
	b.Write(bytes.TrimSuffix(table.Bytes(), []byte("\n")))
	fmt.Fprintf(&b, "}\n%s\\end{%s}\n", caption, env)
	_, err := w.Write(b.Bytes())
	return err
}

// LaTeX writes t as a tabular with the rules of package booktabs. Cells
// marked [Best] are bold, and those marked [Second] underlined. All text is escaped; what
// becomes of scripts that pdfLaTeX cannot set is told at [Sheet.LaTeX].
func (t Table) LaTeX(w io.Writer) error {
	var b bytes.Buffer
	t.tabular(&b)
	_, err := io.WriteString(w, assayText(b.String())+b.String())
	return err
}

// assayText returns the definition of \assaytext if text needs it.
func assayText(text string) string {
	if !strings.Contains(text, `\assaytext{`) {
		return ""
	}
	return "% Some text is shown by its code points. If the font has it (with XeLaTeX or LuaLaTeX),\n" +
		"% \\newcommand{\\assaytext}[2]{#1} before this table shows it as it is.\n" +
		"\\providecommand{\\assaytext}[2]{[#2]}\n"
}

// tabular writes the tabular environment.
func (t Table) tabular(b *bytes.Buffer) {
	grid := t.grid(func(c TableCell) string {
		switch s := latexText(clean(c.Text)); c.Mark {
		case Best:
			return `\textbf{` + s + "}"
		case Second:
			return `\underline{` + s + "}"
		default:
			return s
		}
	})
	fmt.Fprintf(b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.Left), strings.Repeat("r", len(t.Header)-t.Left))
	t.latexHeader(b)
	b.WriteString("\\midrule\n")
	for i, row := range grid[1:] {
		if i > 0 && t.Left > 1 && row[0] != grid[i][0] && row[0] != "" {
			b.WriteString("\\addlinespace\n") // another setting or data set
		}
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
}

// latexHeader writes the header: in two lines, as papers do, if neighbouring
// columns show one measure of several cells ("SP SH", "SP MH").
func (t Table) latexHeader(b *bytes.Buffer) {
	var top, bottom, rules []string
	for j := 0; j < len(t.Header); {
		measure, _ := measureOf(t.Header[j])
		end := j + 1
		for ; end < len(t.Header) && measure != ""; end++ {
			if next, _ := measureOf(t.Header[end]); next != measure {
				break
			}
		}
		if n := end - j; n > 1 {
			top = append(top, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, n, latexEscape(measure)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, j+1, end))
			for _, h := range t.Header[j:end] {
				_, cell := measureOf(h)
				bottom = append(bottom, latexEscape(cell))
			}
		} else {
			top = append(top, "")
			bottom = append(bottom, latexEscape(clean(t.Header[j])))
		}
		j = end
	}
	if rules != nil {
		b.WriteString(strings.Join(top, " & ") + " \\\\\n" + strings.Join(rules, " ") + "\n")
	}
	b.WriteString(strings.Join(bottom, " & ") + " \\\\\n")
}

// measureOf splits the header of a column of one cell into measure and cell:
// "SPA MH" or "MH SPA" into SPA and MH. Other headers have no measure.
func measureOf(header string) (measure, cell string) {
	first, last, ok := strings.Cut(header, " ")
	switch {
	case ok && slices.Contains(allCells, last):
		return first, last
	case ok && slices.Contains(allCells, first):
		return last, first
	}
	return "", ""
}

// latexLine is how wide a line of text in a column may be, in characters. A
// longer text would make the page scale the numbers down until nobody can read
// them.
const latexLine = 36

// latexText returns the text of a left column, in more than one line if it is
// long. Lines break after a blank or a mark, if there is one in their second
// half.
func latexText(s string) string {
	var lines []string
	var line []rune
	width, mark := 0, 0 // of line; its length up to a good place to break
	for _, r := range norm.NFC.String(s) {
		w := latexWidth(r)
		if width+w > latexLine {
			if mark <= len(line)/2 {
				mark = len(line)
			}
			lines = append(lines, latexEscape(strings.TrimRight(string(line[:mark]), " ")))
			line = slices.Clone(line[mark:])
			width, mark = 0, 0
			for _, r := range line {
				width += latexWidth(r)
			}
		}
		line = append(line, r)
		width += w
		if strings.ContainsRune(" -_/.,:+", r) {
			mark = len(line)
		}
	}
	lines = append(lines, latexEscape(string(line)))
	if len(lines) == 1 {
		return lines[0]
	}
	return `\begin{tabular}[t]{@{}l@{}}` + strings.Join(lines, ` \\ `) + `\end{tabular}`
}

// latexWidth returns about how many characters wide r is shown.
func latexWidth(r rune) int {
	if latexCan(r) {
		return 1
	}
	return 5 // its code
}

// latexCan reports whether LaTeX shows r as it is.
func latexCan(r rune) bool {
	_, ok := latexEscapes[r]
	return ok || unicode.Is(latexSets, r)
}

// latexEscape returns s as plain text for LaTeX. What has no place in the fonts
// of encoding T1 becomes \assaytext{text}{code points}.
func latexEscape(s string) string {
	var b strings.Builder
	var run []rune // of characters that cannot be set
	flush := func() {
		if len(run) == 0 {
			return
		}
		codes := make([]string, len(run))
		for i, r := range run {
			codes[i] = fmt.Sprintf("%04X", r)
		}
		fmt.Fprintf(&b, `\assaytext{%s}{U+%s}`, string(run), strings.Join(codes, " "))
		run = run[:0]
	}
	// Letters with accents of their own can be set, those with combining ones not.
	text := []rune(norm.NFC.String(s))
	for i, r := range text {
		if !latexCan(r) {
			run = append(run, r)
			continue
		}
		flush()
		escaped, ok := latexEscapes[r]
		if !ok {
			escaped = string(r)
		}
		b.WriteString(escaped)
		if (r == '-' || r == ',') && i+1 < len(text) && text[i+1] == r {
			b.WriteString("{}") // else two hyphens join into a dash, and two commas into a quote
		}
	}
	flush()
	return b.String()
}

// latexEscapes are the characters that mean something to LaTeX, or that stand
// only in its mathematical fonts.
var latexEscapes = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
	'"': `\textquotedbl{}`, '`': `\textasciigrave{}`, '\'': `\textquotesingle{}`, '\uFFFD': "?",
	// After \\ a bracket is an argument and a star another command.
	'[': "{[}", ']': "{]}", '*': "{*}",
	'±': `$\pm$`, '−': `$-$`, '×': `$\times$`, '·': `$\cdot$`, '≤': `$\leq$`, '≥': `$\geq$`, '≠': `$\neq$`, '≈': `$\approx$`, '∞': `$\infty$`,
	'→': `$\rightarrow$`, '←': `$\leftarrow$`, '…': `\ldots{}`,
	'α': `$\alpha$`, 'β': `$\beta$`, 'γ': `$\gamma$`, 'δ': `$\delta$`, 'ε': `$\varepsilon$`, 'η': `$\eta$`, 'θ': `$\theta$`, 'κ': `$\kappa$`,
	'λ': `$\lambda$`, 'μ': `$\mu$`, 'π': `$\pi$`, 'ρ': `$\rho$`, 'σ': `$\sigma$`, 'τ': `$\tau$`, 'φ': `$\varphi$`, 'χ': `$\chi$`, 'ψ': `$\psi$`,
	'ω': `$\omega$`, 'Δ': `$\Delta$`, 'Σ': `$\Sigma$`, 'Ω': `$\Omega$`,
}

// latexSets are the characters that pdfLaTeX sets with fontenc T1 and textcomp.
var latexSets = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: ' ', Hi: '~', Stride: 1},
	{Lo: 0x00A1, Hi: 0x00AC, Stride: 1},
	{Lo: 0x00AE, Hi: 0x0125, Stride: 1},
	{Lo: 0x0128, Hi: 0x0137, Stride: 1},
	{Lo: 0x0139, Hi: 0x013E, Stride: 1},
	{Lo: 0x0141, Hi: 0x0148, Stride: 1},
	{Lo: 0x014A, Hi: 0x0165, Stride: 1},
	{Lo: 0x0168, Hi: 0x017E, Stride: 1},
	{Lo: 0x0218, Hi: 0x021B, Stride: 1},
	{Lo: 0x2013, Hi: 0x2014, Stride: 1},
	{Lo: 0x2018, Hi: 0x201A, Stride: 1},
	{Lo: 0x201C, Hi: 0x201E, Stride: 1},
	{Lo: 0x2020, Hi: 0x2022, Stride: 1},
	{Lo: 0x20AC, Hi: 0x20AC, Stride: 1},
	{Lo: 0x2122, Hi: 0x2122, Stride: 1},
}}
