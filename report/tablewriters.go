package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// CSV writes t with its header as comma-separated values (RFC 4180), without
// marks. A text that a spreadsheet would run as a formula gets an apostrophe
// before it.
func (t Table) CSV(w io.Writer) error {
	grid := t.grid(func(c TableCell) string { return cleanLine(c.Text) })
	for _, row := range grid[1:] {
		for j := range min(t.Left, len(row)) {
			if row[j] != "" && strings.ContainsRune("=+-@", rune(row[j][0])) {
				row[j] = "'" + row[j]
			}
		}
	}
	return csv.NewWriter(w).WriteAll(grid)
}

// LaTeX writes t as a tabular with the rules of package booktabs. The best
// value of a column is bold and the second underlined. All text is escaped.
func (t Table) LaTeX(w io.Writer) error {
	grid := t.grid(func(c TableCell) string {
		switch s := latexEscape(clean(c.Text)); c.Mark {
		case Best:
			return `\textbf{` + s + "}"
		case Second:
			return `\underline{` + s + "}"
		default:
			return s
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.Left), strings.Repeat("r", len(t.Header)-t.Left))
	for i, row := range grid {
		b.WriteString(strings.Join(row, " & ") + " \\\\\n")
		switch {
		case i == 0:
			b.WriteString("\\midrule\n")
		case i+1 < len(grid) && t.Left > 0 && grid[i+1][0] != row[0] && grid[i+1][0] != "" && t.Left > 1:
			b.WriteString("\\addlinespace\n") // another setting or data set
		}
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// latexEscape returns s as plain text for LaTeX.
func latexEscape(s string) string {
	return latexEscapes.Replace(s)
}

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`,
	`"`, `\textquotedbl{}`, "`", `\textasciigrave{}`, `'`, `\textquotesingle{}`, "±", `$\pm$`, "−", `$-$`, "\uFFFD", "?",
	// Two hyphens would join into a dash, and a bracket after \\ is an argument.
	"--", "-{}-", "[", "{[}", "]", "{]}",
)
