package preflight

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// A Mark is what becomes of a piece of text.
type Mark string

// The marks.
const (
	Read    Mark = "read"    // the model only reads it
	Learned Mark = "trained" // it is in the loss
	Gone    Mark = "cut"     // it is cut off
)

// A Piece is a piece of the text of a row.
type Piece struct {
	Text string `json:"text"`
	Mark Mark   `json:"mark"`
}

// A Preview is the text of a row with its mask.
type Preview struct {
	Row    Row     `json:"row"`
	Pieces []Piece `json:"pieces"`
}

// preview cuts the text at every edge of mask and cut.
func (l *layout) preview(row Row) *Preview {
	text := l.text.Text
	edges := []int{0, len(text)}
	for _, s := range l.trained {
		edges = append(edges, s.Start, s.End)
	}
	for _, p := range l.parts {
		edges = append(edges, p.start, p.keptEnd(), p.end)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	out := &Preview{Row: row}
	for i := 1; i < len(edges); i++ {
		from, to := edges[i-1], edges[i]
		mark := l.mark(from, row)
		if n := len(out.Pieces); n > 0 && out.Pieces[n-1].Mark == mark {
			out.Pieces[n-1].Text += text[from:to]
			continue
		}
		out.Pieces = append(out.Pieces, Piece{text[from:to], mark})
	}
	return out
}

// mark returns what becomes of the text at a place.
func (l *layout) mark(at int, row Row) Mark {
	if !row.usable() {
		return Gone
	}
	for _, p := range l.parts {
		if p.start <= at && at < p.end && at >= p.keptEnd() {
			return Gone
		}
	}
	for _, s := range l.trained {
		if s.Start <= at && at < s.End {
			return Learned
		}
	}
	return Read
}

// WriteText writes the preview for a terminal, with colours or with the plain
// marks ⟦trained⟧ and ⟨cut⟩. Control characters of the text are made visible.
func (p Preview) WriteText(w io.Writer, colour bool) error {
	open, shut := map[Mark]string{Learned: "⟦", Gone: "⟨"}, map[Mark]string{Learned: "⟧", Gone: "⟩"}
	if colour {
		open = map[Mark]string{Read: "\x1b[2m", Learned: "\x1b[1;32m", Gone: "\x1b[9;31m"}
		shut = map[Mark]string{Read: "\x1b[0m", Learned: "\x1b[0m", Gone: "\x1b[0m"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d tokens, %d kept, %d trained\n", visible(p.Row.ID), p.Row.Outcome, p.Row.Tokens, p.Row.Kept, p.Row.Trained)
	legend := []string{open[Read] + "read" + shut[Read], open[Learned] + "trained" + shut[Learned], open[Gone] + "cut off" + shut[Gone]}
	fmt.Fprintf(&b, "%s\n\n", strings.Join(legend, " "))
	for _, piece := range p.Pieces {
		b.WriteString(open[piece.Mark] + visible(piece.Text) + shut[piece.Mark])
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// visible returns s without characters that move a terminal about; line breaks
// stay.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}
