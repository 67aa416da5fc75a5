package chat

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A Field is what a span holds.
type Field string

// The fields. Text fields do not include the blanks at their ends, which
// templates may trim.
const (
	FieldSystem      Field = "system"
	FieldTool        Field = "tool" // a whole definition; the next three are inside
	FieldToolName    Field = "tool_name"
	FieldDescription Field = "tool_description"
	FieldSchema      Field = "tool_schema"
	FieldQuery       Field = "query"
	FieldReasoning   Field = "reasoning"
	FieldContent     Field = "content" // what an assistant says
	FieldCallName    Field = "call_name"
	FieldArguments   Field = "arguments"
	FieldObservation Field = "observation"
	// FieldTurn is what the model has to write of an assistant message: all
	// after the prompt for it, with the token that ends it, and without blanks
	// after that.
	FieldTurn Field = "turn"
	// FieldGeneration is what the template itself marks with a generation tag.
	FieldGeneration Field = "generation"
)

// A Span is a place in a rendered text, in bytes.
type Span struct {
	Start   int   `json:"start"`
	End     int   `json:"end"`
	Field   Field `json:"field"`
	Message int   `json:"message"` // -1 for tools
	// Item is the number of the tool, of the call in its message, or of the
	// generation block; 0 for other fields.
	Item int `json:"item"`
}

// Rendered is a conversation as text.
type Rendered struct {
	Text string
	// Spans are in the order of their starts, longer ones first. They may lie in
	// each other. A field that the text holds twice has two spans, and one that
	// it does not hold has none.
	Spans []Span
	// Notes tell what the template could not say, and how sure spans are.
	Notes []string
}

// Find returns the spans of a field.
func (r Rendered) Find(field Field) []Span {
	var out []Span
	for _, s := range r.Spans {
		if s.Field == field {
			out = append(out, s)
		}
	}
	return out
}

// Loss returns the parts of the text that a model should be trained on: the
// generation blocks if the template has any, else the turns, joined where they
// touch.
func (r Rendered) Loss() []Span {
	spans := r.Find(FieldGeneration)
	if len(spans) == 0 {
		spans = r.Find(FieldTurn)
	}
	return spans
}

func sortSpans(spans []Span) {
	slices.SortStableFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Field, b.Field))
	})
}

// core returns the place of s without the blanks at its ends.
func core(s string) (start, end int) {
	start = len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return start, max(start, len(strings.TrimRightFunc(s, unicode.IsSpace)))
}

// A writer makes a Rendered piece by piece.
type writer struct {
	b     strings.Builder
	spans []Span
	notes []string
}

func (w *writer) text(s string) { w.b.WriteString(s) }

// span ends a span of a field that began at start.
func (w *writer) span(field Field, message, item, start int) {
	w.spans = append(w.spans, Span{Start: start, End: w.b.Len(), Field: field, Message: message, Item: item})
}

// field writes s and records where it is, without the blanks at its ends.
func (w *writer) field(field Field, message, item int, s string) {
	start, end := core(s)
	at := w.b.Len()
	w.b.WriteString(s)
	if start < end {
		w.spans = append(w.spans, Span{Start: at + start, End: at + end, Field: field, Message: message, Item: item})
	}
}

// content writes what an assistant says. Thoughts in it are a field of their own.
func (w *writer) content(message int, s string) {
	start, end, rest, ok := thoughts(s)
	if !ok {
		w.field(FieldContent, message, 0, s)
		return
	}
	w.text(s[:start])
	w.field(FieldReasoning, message, 0, s[start:end])
	w.text(s[end:rest])
	w.field(FieldContent, message, 0, s[rest:])
}

// thoughts returns where the thoughts in a content are, s[start:end], and where
// the rest begins, and whether it holds any: up to the first </think> and from
// the last <think> before that, to behind the last </think>.
func thoughts(s string) (start, end, rest int, ok bool) {
	end = strings.Index(s, thinkClose)
	if end < 0 {
		return 0, 0, 0, false
	}
	if i := strings.LastIndex(s[:end], thinkOpen); i >= 0 {
		start = i + len(thinkOpen)
	}
	return start, end, strings.LastIndex(s, thinkClose) + len(thinkClose), true
}

func (w *writer) note(s string) {
	if !slices.Contains(w.notes, s) {
		w.notes = append(w.notes, s)
	}
}

func (w *writer) done() Rendered {
	sortSpans(w.spans)
	return Rendered{Text: w.b.String(), Spans: w.spans, Notes: w.notes}
}
