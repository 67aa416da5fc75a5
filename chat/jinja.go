package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/jinja"
	"assay/qaoa"
)

// verified are the SHA-256 of template sources whose renderings were compared
// with Jinja 3.1.2, byte by byte, on conversations of every shape.
var verified = map[string]string{
	"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5": "Qwen3",
}

// Vars are the special tokens that a template may name, such as bos_token.
type Vars map[string]string

// ParseJinja parses a template in Jinja. Name is what it is called in messages.
// Sources that differ in blanks at their end only are the same.
func ParseJinja(name, source string, vars Vars) (*Template, error) {
	tpl, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	sum := sha256.Sum256([]byte(strings.TrimRight(source, "\n")))
	_, known := verified[hex.EncodeToString(sum[:])]
	j := &jinjaTemplate{tpl: tpl, vars: vars}
	return &Template{Name: name, Verified: known, Source: source, render: j.render}, nil
}

type jinjaTemplate struct {
	tpl  *jinja.Template
	vars Vars
}

// render renders c twice: plainly, which is the text, and with marks around the
// fields, which tell where they went. Marks are characters that occur nowhere
// else; if the two texts differ in more than the marks, the template looked at
// them, and the fields are searched for instead.
func (j *jinjaTemplate) render(c Conversation, opt Options) (Rendered, error) {
	plain := &marker{}
	text, err := j.execute(c, opt, plain)
	if err != nil {
		return Rendered{}, err
	}
	out := Rendered{Text: text}
	var spans []Span
	marks, ok := newMarker(text, c)
	if ok {
		marked, err := j.execute(c, opt, marks)
		bare := ""
		bare, spans = marks.read(marked)
		ok = err == nil && bare == text
	}
	if !ok {
		out.Notes = append(out.Notes, "places of fields were searched for, since the template looks into them")
		spans = search(text, c)
	}
	out.Spans = append(out.Spans, spans...)
	j.turns(&out, c, opt)
	out.Notes = append(out.Notes, missing(out, c)...)
	sortSpans(out.Spans)
	return out, nil
}

func (j *jinjaTemplate) execute(c Conversation, opt Options, m *marker) (string, error) {
	vars := jinja.NewDict()
	for name, text := range j.vars {
		vars.Set(name, text)
	}
	messages, err := messageValues(c, m)
	if err != nil {
		return "", err
	}
	vars.Set("messages", messages)
	vars.Set("tools", nil)
	if len(c.Tools) > 0 {
		tools, err := toolValues(c.Tools, m)
		if err != nil {
			return "", err
		}
		vars.Set("tools", tools)
	}
	vars.Set("documents", nil)
	vars.Set("add_generation_prompt", opt.AddGenerationPrompt)
	if opt.EnableThinking != nil {
		vars.Set("enable_thinking", *opt.EnableThinking)
	}
	if opt.Date != defaultDate {
		vars.Set("date_string", opt.Date)
	}
	return j.tpl.Render(vars, jinja.Options{
		Functions:  map[string]func([]string) string{"strftime_now": func(args []string) string { return dateAs(opt.Date, args) }},
		Generation: m.generation,
	})
}

// dateAs writes the date of the options in the form that strftime_now is asked
// for. A date that is not in the form of [Options] is written as it is.
func dateAs(date string, args []string) string {
	t, err := time.Parse("02 Jan 2006", date)
	if err != nil || len(args) == 0 {
		return date
	}
	return strings.NewReplacer(
		"%d", t.Format("02"), "%-d", t.Format("2"), "%m", t.Format("01"), "%-m", t.Format("1"),
		"%Y", t.Format("2006"), "%y", t.Format("06"), "%b", t.Format("Jan"), "%B", t.Format("January"),
		"%a", t.Format("Mon"), "%A", t.Format("Monday"), "%H", "00", "%M", "00", "%S", "00", "%p", "AM", "%I", "12", "%%", "%",
	).Replace(args[0])
}

// messageValues returns the messages as transformers passes them.
func messageValues(c Conversation, m *marker) (*jinja.List, error) {
	calls, replies := numbered(c.Messages)
	out := jinja.NewList()
	for i, msg := range c.Messages {
		d := jinja.NewDict()
		d.Set("role", string(msg.Role))
		if msg.Role == Assistant {
			d.Set("content", m.content(i, msg.Content))
		} else {
			d.Set("content", m.text(fieldOf(msg.Role), i, 0, msg.Content))
		}
		if msg.Reasoning != "" {
			d.Set("reasoning_content", m.text(FieldReasoning, i, 0, msg.Reasoning))
		}
		if len(msg.Calls) > 0 {
			list := jinja.NewList()
			for k, call := range msg.Calls {
				v, err := callValue(call, calls[i][k], i, k, m)
				if err != nil {
					return nil, err
				}
				list.Items = append(list.Items, v)
			}
			d.Set("tool_calls", list)
		}
		if msg.Role == Tool {
			if msg.Name != "" {
				d.Set("name", msg.Name)
			}
			d.Set("tool_call_id", replies[i])
		}
		out.Items = append(out.Items, d)
	}
	return out, nil
}

func callValue(call qaoa.Call, id string, message, item int, m *marker) (*jinja.Dict, error) {
	arguments, err := jsonValue(call.Arguments, "{}")
	if err != nil {
		return nil, fmt.Errorf("message %d, call %d (%s): arguments: %w", message, item, call.Name, err)
	}
	if text, ok := arguments.(string); ok {
		arguments = m.text(FieldArguments, message, item, text)
	}
	m.whole(FieldArguments, message, item, arguments)
	f := jinja.NewDict()
	f.Set("name", m.text(FieldCallName, message, item, call.Name))
	f.Set("arguments", arguments)
	d := jinja.NewDict()
	d.Set("type", "function")
	d.Set("id", id)
	d.Set("function", f)
	return d, nil
}

func toolValues(tools []qaoa.Tool, m *marker) (*jinja.List, error) {
	out := jinja.NewList()
	for i, t := range tools {
		schema, err := jsonValue(t.Parameters, emptySchema)
		if err != nil {
			return nil, fmt.Errorf("tool %d (%s): parameters: %w", i, t.Name, err)
		}
		m.whole(FieldSchema, -1, i, schema)
		f := jinja.NewDict()
		f.Set("name", m.text(FieldToolName, -1, i, t.Name))
		f.Set("description", m.text(FieldDescription, -1, i, t.Description))
		f.Set("parameters", schema)
		d := jinja.NewDict()
		d.Set("type", "function")
		d.Set("function", f)
		m.whole(FieldTool, -1, i, d)
		out.Items = append(out.Items, d)
	}
	return out, nil
}

// turns finds what the model has to write of each message of the assistant: from
// behind the prompt for it to the token that ends it. The prompt is what
// add_generation_prompt adds; the end is eos_token, or the last field.
func (j *jinjaTemplate) turns(out *Rendered, c Conversation, opt Options) {
	prompt := j.prompt(c, opt)
	exact := true
	before := 0 // end of the last field of the message before
	for i, m := range c.Messages {
		first, last := extent(out.Spans, i)
		if m.Role != Assistant {
			before = max(before, last)
			continue
		}
		start, ok := turnStart(out.Text, prompt, before, first)
		if !ok {
			exact = false
		}
		if start < 0 {
			continue
		}
		end := max(start, last)
		if eos := j.vars["eos_token"]; eos != "" && strings.Contains(out.Text[end:], eos) {
			end += strings.Index(out.Text[end:], eos) + len(eos)
		} else {
			exact = false
		}
		out.Spans = append(out.Spans, Span{Start: start, End: end, Field: FieldTurn, Message: i})
		before = end
	}
	if !exact {
		out.Notes = append(out.Notes, "what the model writes was guessed in places: the template has no prompt for it, or the token that ends a message (eos_token) is not known")
	}
}

// turnStart returns where a message of the assistant begins whose first field is
// at first, -1 if it has none to be seen, and whether that is sure; start is -1
// if there is no telling. The message before it ends at or after before.
func turnStart(text, prompt string, before, first int) (start int, ok bool) {
	switch {
	case first < 0:
		at := strings.Index(text[before:], prompt)
		if prompt == "" || at < 0 {
			return -1, false
		}
		return before + at + len(prompt), true
	case first < before:
		return -1, false
	case prompt == "":
		return first, true // models that are asked without a prompt
	}
	at := strings.LastIndex(text[before:first], prompt)
	if at < 0 {
		return first, false
	}
	return before + at + len(prompt), true
}

// prompt returns what add_generation_prompt adds to the text of the messages up
// to the first query; "" if that cannot be rendered.
func (j *jinjaTemplate) prompt(c Conversation, opt Options) string {
	n := slices.IndexFunc(c.Messages, func(m Message) bool { return m.Role == User })
	if n < 0 {
		return ""
	}
	c.Messages = c.Messages[:n+1]
	opt.EnableThinking = nil
	var text [2]string
	for i, add := range []bool{false, true} {
		opt.AddGenerationPrompt = add
		var err error
		if text[i], err = j.execute(c, opt, &marker{}); err != nil {
			return ""
		}
	}
	if after, ok := strings.CutPrefix(text[1], text[0]); ok {
		return after
	}
	return ""
}

// extent returns the place of the fields of message i, -1 if there is none.
func extent(spans []Span, i int) (first, last int) {
	first, last = -1, -1
	for _, s := range spans {
		if s.Message == i && s.Field != FieldTurn {
			if first < 0 || s.Start < first {
				first = s.Start
			}
			last = max(last, s.End)
		}
	}
	return first, last
}

// missing names the fields of c that are nowhere in the text.
func missing(out Rendered, c Conversation) []string {
	counts := map[Field]int{}
	note := func(field Field, message, item int, text string) {
		start, end := core(text)
		if start == end {
			return
		}
		for _, s := range out.Spans {
			if s.Field == field && s.Message == message && s.Item == item {
				return
			}
		}
		counts[field]++
	}
	for i, t := range c.Tools {
		note(FieldToolName, -1, i, t.Name)
		note(FieldDescription, -1, i, t.Description)
		note(FieldSchema, -1, i, "{}")
	}
	for i, m := range c.Messages {
		reasoning, content := m.Reasoning, m.Content
		if m.Role == Assistant {
			reasoning, content = splitThoughts(m)
		}
		note(fieldOf(m.Role), i, 0, content)
		note(FieldReasoning, i, 0, reasoning)
		for k, call := range m.Calls {
			note(FieldCallName, i, k, call.Name)
			note(FieldArguments, i, k, "{}")
		}
	}
	var notes []string
	for _, f := range []Field{FieldSystem, FieldToolName, FieldDescription, FieldSchema, FieldQuery, FieldReasoning, FieldContent, FieldCallName, FieldArguments, FieldObservation} {
		if counts[f] > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d of the conversation are not in the text", f, counts[f]))
		}
	}
	return notes
}

// errNoTemplate is returned where a file has none.
var errNoTemplate = errors.New("want a chat_template, have none")
