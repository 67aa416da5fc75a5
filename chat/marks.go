package chat

import (
	"slices"
	"strings"

	"assay/internal/jinja"
	"assay/qaoa"
)

// Marks are characters of the last two planes, which are for private use: two
// for each field, one before and one after it.
const (
	firstMark = 0xF0000
	lastMark  = 0x10FFFD
)

// A marker puts marks around fields, and finds them again.
type marker struct {
	base   rune // the first mark, even; 0 if the marker is off
	fields []markedField
}

// newMarker returns a marker whose marks do not occur in text and c, and whether
// there are enough of them. Text is what c is rendered as.
func newMarker(text string, c Conversation) (*marker, bool) {
	used := map[rune]bool{}
	collect := func(s string) {
		for _, r := range s {
			if r >= firstMark {
				used[r] = true
			}
		}
	}
	collect(text)
	need := rune(16 + 8*len(c.Tools))
	for _, m := range c.Messages {
		collect(m.Content)
		collect(m.Reasoning)
		need += rune(8 + 4*len(m.Calls)) // two fields, and generation blocks
	}
	for base := rune(firstMark); base+need <= lastMark; base += need {
		free := true
		for r := range used {
			free = free && (r < base || r >= base+need)
		}
		if free {
			return &marker{base: base}, true
		}
	}
	return &marker{}, false
}

// A markedField is a field and how much of it is outside of its marks.
type markedField struct {
	Span
	lead, trail int
}

// next returns the marks of a new field. They are empty if the marker is off, or
// if the template has more generation blocks than anybody reckons with.
func (m *marker) next(field Field, message, item int) (before, after string) {
	n := m.base + rune(2*len(m.fields))
	if m.base == 0 || n+1 > lastMark {
		return "", ""
	}
	m.fields = append(m.fields, markedField{Span: Span{Field: field, Message: message, Item: item}})
	return string(n), string(n + 1)
}

// tags are what templates look for at the ends of a text, so that marks must
// stand behind or before them.
const (
	replyOpen  = "<tool_response>"
	replyClose = "</tool_response>"
)

// text returns s with marks around what is between the blanks at its ends.
func (m *marker) text(field Field, message, item int, s string) string {
	start, end := core(s)
	if start == end {
		return s
	}
	before, after := m.next(field, message, item)
	if before == "" {
		return s
	}
	f := &m.fields[len(m.fields)-1]
	if strings.HasPrefix(s[start:end], replyOpen) {
		f.lead = len(replyOpen)
	}
	if strings.HasSuffix(s[start+f.lead:end], replyClose) {
		f.trail = len(replyClose)
	}
	start, end = start+f.lead, end-f.trail
	return s[:start] + before + s[start:end] + after + s[end:]
}

// content marks what an assistant says. Where that holds thoughts, templates may
// cut them out, so they are a field of their own.
func (m *marker) content(message int, s string) string {
	start, end, rest, ok := thoughts(s)
	if !ok {
		return m.text(FieldContent, message, 0, s)
	}
	return s[:start] + m.text(FieldReasoning, message, 0, s[start:end]) + s[end:rest] + m.text(FieldContent, message, 0, s[rest:])
}

// whole puts marks around v where it is written whole, if it is a dictionary or
// a list.
func (m *marker) whole(field Field, message, item int, v jinja.Value) {
	switch v := v.(type) {
	case *jinja.Dict:
		v.Before, v.After = m.next(field, message, item)
	case *jinja.List:
		v.Before, v.After = m.next(field, message, item)
	}
}

func (m *marker) generation(n int) (before, after string) {
	return m.next(FieldGeneration, -1, n)
}

// read returns marked without its marks, and where the fields are.
func (m *marker) read(marked string) (string, []Span) {
	var b strings.Builder
	var spans []Span
	open := map[int]int{}
	for _, r := range marked {
		n := int(r-m.base) / 2
		if r < m.base || n >= len(m.fields) {
			b.WriteRune(r)
			continue
		}
		if r%2 == 0 {
			open[n] = b.Len()
			continue
		}
		if start, ok := open[n]; ok {
			f := m.fields[n]
			f.Start, f.End = start-f.lead, b.Len()+f.trail
			spans = append(spans, f.Span)
			delete(open, n)
		}
	}
	return b.String(), slices.DeleteFunc(spans, func(s Span) bool { return s.Start < 0 || s.End > b.Len() })
}

// search looks for the fields of c in text, one after the other. A field is
// found at the first place behind the one before it, as it is or as the content
// of a JSON string.
func search(text string, c Conversation) []Span {
	var spans []Span
	find := func(field Field, message, item, from int, s string) int {
		start, end := core(s)
		s = s[start:end]
		if s == "" {
			return from
		}
		quoted := strings.Trim(string(qaoa.Quote(s)), `"`)
		for _, form := range []string{s, quoted} {
			if i := strings.Index(text[from:], form); i >= 0 {
				spans = append(spans, Span{Start: from + i, End: from + i + len(form), Field: field, Message: message, Item: item})
				return from + i + len(form)
			}
		}
		return from
	}
	at := 0
	for i, t := range c.Tools {
		at = find(FieldToolName, -1, i, at, t.Name)
		at = find(FieldDescription, -1, i, at, t.Description)
		if schema, err := pyJSON(t.Parameters, emptySchema, "", 0); err == nil {
			at = find(FieldSchema, -1, i, at, schema)
		}
	}
	if at > 0 && len(c.Messages) > 0 && c.Messages[0].Role == System {
		find(FieldSystem, 0, 0, 0, c.Messages[0].Content)
	} else {
		at = 0
	}
	for i, m := range c.Messages {
		if i == 0 && m.Role == System && at > 0 {
			continue
		}
		at = find(FieldReasoning, i, 0, at, m.Reasoning)
		at = find(fieldOf(m.Role), i, 0, at, m.Content)
		for k, call := range m.Calls {
			at = find(FieldCallName, i, k, at, call.Name)
			if arguments, err := pyJSON(call.Arguments, "{}", "", 0); err == nil {
				at = find(FieldArguments, i, k, at, arguments)
			}
		}
	}
	return spans
}
