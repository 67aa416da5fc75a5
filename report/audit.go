package report

import (
	"fmt"
	"io"
	"strings"

	"assay/audit"
)

// An Audit is what an audit of tables found, to be printed.
type Audit struct{ audit.Report }

// JSON writes a as one object.
func (a Audit) JSON(w io.Writer) error { return encode(w, a.Report) }

// Text writes a for people: counts, then each finding with its place.
func (a Audit) Text(w io.Writer) error { return a.write(w, textDocument) }

// Markdown writes the same as Markdown.
func (a Audit) Markdown(w io.Writer) error { return a.write(w, markdownDocument) }

func (a Audit) write(w io.Writer, doc document) error {
	var b strings.Builder
	n := [3]int{a.Count(audit.Contradiction), a.Count(audit.Oddity), a.Count(audit.Note)}
	b.WriteString(doc.line(fmt.Sprintf("%d numbers of %s under %d rules: %d contradiction%s, %d odd thing%s, %d note%s",
		a.Numbers, strings.Join(a.Tables, ", "), len(a.Rules), n[0], plural(n[0]), n[1], plural(n[1]), n[2], plural(n[2]))))
	for _, s := range []audit.Severity{audit.Contradiction, audit.Oddity, audit.Note} {
		if a.Count(s) == 0 {
			continue
		}
		b.WriteString("\n" + doc.heading(map[audit.Severity]string{
			audit.Contradiction: "Contradictions: no rounding explains them",
			audit.Oddity:        "Odd: possible, and worth a question to the authors",
			audit.Note:          "Notes",
		}[s]))
		for _, f := range a.Findings {
			if f.Severity == s {
				b.WriteString(doc.item(fmt.Sprintf("%s, %s: %s", f.Table, f.Rule, f.Message)))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
