package chat

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// Options are the variables of a template that callers decide.
type Options struct {
	// AddGenerationPrompt ends the text with the prompt for the next message of
	// the assistant.
	AddGenerationPrompt bool
	// EnableThinking is passed to the template if it is not nil; Qwen3 writes
	// empty thoughts into the prompt if it is false.
	EnableThinking *bool
	// Date is today for templates that name it, as "26 Jul 2024"; "" is that
	// day, which Llama 3.1 uses where it is told none.
	Date string
}

// defaultDate is the date in the templates of Llama 3.1.
const defaultDate = "26 Jul 2024"

// A Template renders conversations. It is safe for concurrent use.
type Template struct {
	// Name is that of the family, or of the file.
	Name string
	// Verified tells that the rendering of this very template was compared with
	// Jinja's, byte by byte: hand-written families, and known sources. Others
	// are rendered by the same rules, but nobody has looked.
	Verified bool
	// Source is the Jinja source, "" for hand-written families.
	Source string

	render func(c Conversation, opt Options) (Rendered, error)
}

// Render renders c. An error names the message, or the line of the template.
func (t *Template) Render(c Conversation, opt Options) (Rendered, error) {
	if opt.Date == "" {
		opt.Date = defaultDate
	}
	r, err := t.render(c, opt)
	if err != nil {
		return Rendered{}, fmt.Errorf("template %s: %w", t.Name, err)
	}
	return r, nil
}

// A family is a hand-written renderer.
type family struct {
	name   string
	render func(w *writer, c Conversation, opt Options) error
}

var families = []family{
	{"qwen3", qwen3},
	{"qwen2.5", qwen25},
	{"hermes", hermes},
	{"llama3.1", llama31},
	{"mistral", mistral},
	{"chatml", chatML},
}

// Builtins returns the names of the hand-written families.
func Builtins() []string {
	var out []string
	for _, f := range families {
		out = append(out, f.name)
	}
	return out
}

// Builtin returns the hand-written template of a family.
func Builtin(name string) (*Template, error) {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("template %q: want one of %s, or a file", name, strings.Join(Builtins(), ", "))
	}
	render := families[i].render
	return &Template{Name: name, Verified: true, render: func(c Conversation, opt Options) (Rendered, error) {
		w := &writer{}
		if err := render(w, c, opt); err != nil {
			return Rendered{}, err
		}
		return w.done(), nil
	}}, nil
}

// A turnMark is a message of the assistant that is being written.
type turnMark struct {
	w       *writer
	message int
	start   int
}

// turn begins what the model writes of message i.
func (w *writer) turn(i int) turnMark { return turnMark{w, i, w.b.Len()} }

func (t turnMark) end() { t.w.span(FieldTurn, t.message, 0, t.start) }

// tool writes a definition as {"type": "function", "function": {…}}, on one line
// or, with an indent, on several.
func (w *writer) tool(i int, t qaoa.Tool, indent string) error {
	start := w.b.Len()
	pad := func(depth int, between string) {
		if indent == "" {
			w.text(between)
			return
		}
		w.text("\n" + strings.Repeat(indent, depth))
	}
	w.text("{")
	pad(1, "")
	w.text(`"type": "function",`)
	pad(1, " ")
	w.text(`"function": {`)
	pad(2, "")
	w.text(`"name": `)
	w.quoted(FieldToolName, -1, i, t.Name)
	w.text(",")
	pad(2, " ")
	w.text(`"description": `)
	w.quoted(FieldDescription, -1, i, t.Description)
	w.text(",")
	pad(2, " ")
	w.text(`"parameters": `)
	schema, err := pyJSON(t.Parameters, emptySchema, indent, 2)
	if err != nil {
		return fmt.Errorf("tool %d (%s): parameters: %w", i, t.Name, err)
	}
	w.field(FieldSchema, -1, i, schema)
	pad(1, "")
	w.text("}")
	pad(0, "")
	w.text("}")
	w.span(FieldTool, -1, i, start)
	return nil
}

// quoted writes s as a JSON string, and records what is between the quotes
// without the blanks at its ends.
func (w *writer) quoted(field Field, message, item int, s string) {
	start, end := core(s)
	part := func(s string) string {
		text, err := pyJSON(qaoa.Quote(s), "", "", 0)
		if err != nil || len(text) < 2 {
			return "" // cannot be: a string is a value
		}
		return text[1 : len(text)-1]
	}
	w.text(`"` + part(s[:start]))
	w.field(field, message, item, part(s[start:end]))
	w.text(part(s[end:]) + `"`)
}

// arguments writes the arguments of a call as JSON.
func (w *writer) arguments(message, item int, c qaoa.Call) error {
	text, err := pyJSON(c.Arguments, "{}", "", 0)
	if err != nil {
		return fmt.Errorf("message %d, call %d (%s): arguments: %w", message, item, c.Name, err)
	}
	w.field(FieldArguments, message, item, text)
	return nil
}
