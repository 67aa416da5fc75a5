package account

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/benchdata/paper"

	json "github.com/goccy/go-json"
)

// WriteText writes the account for a terminal: the counts in the layout of the
// paper's Table 5, with a total for each part of it, then the reasons of
// rejects by source, as its Table 4 has the processing, then the notes. "–" is
// a number that the files or the paper do not give.
func (a Account) WriteText(w io.Writer) error {
	var b bytes.Buffer
	a.counts().text(&b)
	if t := a.reasons(); len(t.rows) > 0 {
		b.WriteByte('\n')
		t.text(&b)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", n)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Markdown writes what [Account.WriteText] does as GitHub-flavoured Markdown.
func (a Account) Markdown(w io.Writer) error {
	var b bytes.Buffer
	a.counts().markdown(&b)
	if t := a.reasons(); len(t.rows) > 0 {
		b.WriteByte('\n')
		t.markdown(&b)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "\n> %s\n", escape(n))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// JSON writes the account as one JSON object, indented, with null for a number
// that is not known.
func (a Account) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(a)
}

// A table is a grid of text; the first left columns are set flush left.
type table struct {
	header []string
	left   int
	rows   [][]string
}

// counts returns the table of counts. Sources of the paper are grouped by its
// two parts, each with a total.
func (a Account) counts() table {
	t := table{
		header: []string{"Dataset", "Source", "Read", "Conv.", "paper", "Filt.", "paper"},
		left:   2,
	}
	for _, part := range []string{"train", "test", ""} {
		total := Source{Part: part}
		n := 0
		for _, s := range a.Sources {
			if s.Part != part {
				continue
			}
			n++
			dataset := s.Dataset
			if dataset == "" {
				dataset = "–"
			}
			t.rows = append(t.rows, []string{
				dataset, printable(s.Name),
				commas(s.Read), commas(s.Converted), commas(s.PaperConverted), commas(s.Kept), commas(s.PaperKept),
			})
			total.add(s, n == 1)
		}
		if part == "" || n < 2 {
			continue
		}
		title := "Total (Train)"
		if part == "test" {
			title = "Total (Test)"
		}
		if n == datasetsIn(part) {
			for _, c := range paper.Totals() {
				if c.Part == part { // as printed, which is not always the sum
					total.PaperConverted, total.PaperKept = Count(c.Converted), Count(c.Filtered)
				}
			}
		} else {
			title = fmt.Sprintf("%s, %d of %d", title, n, datasetsIn(part))
		}
		t.rows = append(t.rows, []string{title, "", commas(total.Read), commas(total.Converted), commas(total.PaperConverted), commas(total.Kept), commas(total.PaperKept)})
	}
	for _, s := range a.Steps {
		t.rows = append(t.rows, []string{"(" + s.Name + ", all sources)", "", commas(Count(s.Read)), "", "", commas(Count(s.Kept)), ""})
	}
	return t
}

// datasetsIn returns how many data sets a part of Table 5 has.
func datasetsIn(part string) (n int) {
	for _, d := range datasets {
		if d.part == part {
			n++
		}
	}
	return n
}

// add adds the numbers of s; what is not known of one is not known of all.
func (t *Source) add(s Source, first bool) {
	plus := func(sum *Count, n Count) {
		switch {
		case first:
			*sum = n
		case *sum < 0 || n < 0:
			*sum = Unknown
		default:
			*sum += n
		}
	}
	plus(&t.Read, s.Read)
	plus(&t.Converted, s.Converted)
	plus(&t.Kept, s.Kept)
	plus(&t.PaperConverted, s.PaperConverted)
	plus(&t.PaperKept, s.PaperKept)
}

// reasons returns the table of rejects, a row for each source, stage and code.
func (a Account) reasons() table {
	t := table{header: []string{"Source", "Stage", "Code", "Rejects", "Share"}, left: 3}
	add := func(name string, codes []CodeCount, stage string, of Count) {
		for _, c := range codes {
			at := string(c.Stage)
			if at == "" {
				at = stage
			}
			share := "–"
			if of > 0 {
				share = strconv.FormatFloat(100*float64(c.N)/float64(of), 'f', 1, 64) + " %"
			}
			t.rows = append(t.rows, []string{printable(name), printable(at), printable(string(c.Code)), commas(Count(c.N)), share})
		}
	}
	for _, s := range a.Sources {
		add(s.Name, s.Converting, "convert", s.Read)
		add(s.Name, s.Filtering, "filter", s.Converted)
	}
	for _, s := range a.Steps {
		if !a.explained(s) {
			add("(all sources)", s.Codes, s.Name, Count(s.Read))
		}
	}
	return t
}

// explained reports whether the lines of sources hold all rejects of a step, so
// that those of its summary would say the same again.
func (a Account) explained(step Step) bool {
	left := step.readable() - step.Kept
	for _, s := range a.Sources {
		for _, c := range s.Filtering {
			if string(c.Stage) == step.Name {
				left -= c.N
			}
		}
	}
	return left == 0 && step.Read == step.readable()
}

// text writes t with blanks between its columns.
func (t table) text(b *bytes.Buffer) {
	widths := t.widths(func(s string) string { return s })
	for _, row := range append([][]string{t.header}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.left {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// markdown writes t as a Markdown table that is aligned as text, too.
func (t table) markdown(b *bytes.Buffer) {
	widths := t.widths(escape)
	write := func(row []string) {
		for i, cell := range row {
			cell = escape(cell)
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.left {
				cell += pad
			} else {
				cell = pad + cell
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	write(t.header)
	for i, n := range widths {
		dashes := strings.Repeat("-", n)
		if i >= t.left {
			dashes = dashes[1:] + ":"
		}
		b.WriteString("| " + dashes + " ")
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		write(row)
	}
}

// widths returns the width of each column, at least 3.
func (t table) widths(show func(string) string) []int {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(show(cell)), 3)
		}
	}
	return widths
}

// commas writes a count with a comma between thousands.
func commas(c Count) string {
	if c < 0 {
		return "–"
	}
	s := strconv.Itoa(int(c))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// maxName bounds the characters of a name in a table.
const maxName = 60

// printable returns a name of a file as it can be shown: without control
// characters, and cut.
func printable(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxName {
			b.WriteRune('…')
			break
		}
		if !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escape writes text so that Markdown shows it as it is.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("|*_<>[]`\\~#", r) && r != '_' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
