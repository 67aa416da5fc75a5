package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Mark says how a value stands out in its column.
type Mark uint8

// The marks: Best is bold and Second underlined. A [Bold] rule says which values
// get them.
const (
	Plain Mark = iota
	Best
	Second
)

// A TableCell is one cell of a [Table]: plain text, which the writers escape.
type TableCell struct {
	Text string
	Mark Mark
}

// A Table is a grid of text. Rows may be shorter than the header.
type Table struct {
	Header []string
	// Left is the number of leading columns with text, which are set flush
	// left; the others hold numbers and are set flush right.
	Left int
	Rows [][]TableCell
}

// Add appends a row of plain cells.
func (t *Table) Add(cells ...string) {
	row := make([]TableCell, len(cells))
	for i, c := range cells {
		row[i].Text = c
	}
	t.Rows = append(t.Rows, row)
}

// Markdown writes t as a GitHub-flavoured Markdown table, padded so that it
// reads as plain text too.
func (t Table) Markdown(w io.Writer) error {
	grid := t.grid(func(c TableCell) string {
		switch s := Escape(clean(c.Text)); c.Mark {
		case Best:
			return "**" + s + "**"
		case Second:
			return "<u>" + s + "</u>"
		default:
			return s
		}
	})
	widths := columnWidths(grid)
	var b strings.Builder
	for i, row := range grid {
		for j, s := range row {
			b.WriteString("| " + pad(s, widths[j], j < t.Left) + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j, width := range widths {
			if j < t.Left {
				b.WriteString("| " + strings.Repeat("-", width) + " ")
			} else {
				b.WriteString("| " + strings.Repeat("-", width-1) + ": ")
			}
		}
		b.WriteString("|\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes t for a terminal: columns two blanks apart, without marks.
func (t Table) Text(w io.Writer) error {
	grid := t.grid(func(c TableCell) string { return clean(c.Text) })
	widths := columnWidths(grid)
	var b strings.Builder
	for _, row := range grid {
		var line strings.Builder
		for j, s := range row {
			if j > 0 {
				line.WriteString("  ")
			}
			line.WriteString(pad(s, widths[j], j < t.Left))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// grid renders header and rows to strings, all of the header's length.
func (t Table) grid(render func(TableCell) string) [][]string {
	grid := make([][]string, 0, len(t.Rows)+1)
	header := make([]string, len(t.Header))
	for j, h := range t.Header {
		header[j] = render(TableCell{Text: h})
	}
	grid = append(grid, header)
	for _, row := range t.Rows {
		line := make([]string, len(t.Header))
		for j := range line {
			if j < len(row) {
				line[j] = render(row[j])
			}
		}
		grid = append(grid, line)
	}
	return grid
}

// columnWidths returns the width of each column in runes, at least three: the
// shortest rule that every Markdown reader takes.
func columnWidths(grid [][]string) []int {
	widths := make([]int, len(grid[0]))
	for j := range widths {
		widths[j] = 3
		for _, row := range grid {
			widths[j] = max(widths[j], utf8.RuneCountInString(row[j]))
		}
	}
	return widths
}

func pad(s string, width int, left bool) string {
	blanks := strings.Repeat(" ", width-utf8.RuneCountInString(s))
	if left {
		return s + blanks
	}
	return blanks + s
}

// Escape returns s as text for one cell or line of Markdown: nothing in it is
// markup, a link or a line break. Control and format characters are shown as
// U+FFFD, and line breaks as blanks.
func Escape(s string) string {
	var b strings.Builder
	s = cleanLine(s)
	for i, r := range s {
		if escaped(s, i, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escaped reports whether the rune r at s[i] would be markup.
func escaped(s string, i int, r rune) bool {
	switch r {
	case '\\', '|', '`', '*', '<', '>', '&', '[', ']', '~', '$', '@':
		return true
	case '_': // markup at the edge of a word only; bfcl_simple stays readable
		return !wordBefore(s, i) || !wordAfter(s, i+1)
	case ':': // GitHub links bare addresses, and reads :name: as an emoji
		return strings.HasPrefix(s[i:], "://") || !wordBefore(s, i) || wordAfter(s, i+1)
	case '.':
		return i >= 3 && strings.EqualFold(s[i-3:i], "www")
	case '#', '-', '+', '=': // headings, lists and rules begin a line
		return i == 0 && r != '-' || i == 0 && !digitAfter(s, i+1)
	}
	return false
}

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func wordAfter(s string, i int) bool {
	r, n := utf8.DecodeRuneInString(s[i:])
	return n > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func digitAfter(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// maxText is how many runes of a name are shown. The longest names of public
// models and data sets have under 100.
const maxText = 120

// clean returns s as one line that is safe on a terminal: no control or format
// characters (escape sequences, changes of direction), no line breaks, valid
// UTF-8, and not longer than maxText.
func clean(s string) string {
	s = cleanLine(s)
	n := 0
	for i := range s {
		if n == maxText {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// cleanLine is clean for a sentence of any length.
func cleanLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// lines writes a Markdown list, or nothing if there are no items.
func lines(w io.Writer, items []string) error {
	for _, item := range items {
		if _, err := fmt.Fprintf(w, "- %s\n", Escape(item)); err != nil {
			return err
		}
	}
	return nil
}
