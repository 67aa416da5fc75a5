package train

import (
	"fmt"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// A chatForm is a dialect of messages with tool_calls.
type chatForm struct {
	// arguments of calls. A template writes an object as JSON, and a text too,
	// so what is no object here must be read by the trainer first.
	arguments encoding
	// parameters of tools.
	parameters encoding
	// toolsText tells that the list of tools is one text.
	toolsText bool
	// nullContent writes null and not "" where a message has calls alone.
	nullContent bool
	// noEmptyTools leaves an empty list of tools out.
	noEmptyTools bool
	// toolName names the tool in what it returned.
	toolName bool
}

// chatForms are the dialects by format.
//
//   - OpenAI takes arguments as texts only, and no empty list of tools.
//   - TRL hands messages to the template as they are, so arguments are objects;
//     it reads tools from a text, which keeps the column one type.
//   - Axolotl reads texts of arguments and of parameters as JSON, and advises
//     them since they keep the columns one type.
var chatForms = map[Format]chatForm{
	OpenAI:  {arguments: asText, nullContent: true, noEmptyTools: true},
	TRL:     {arguments: asObject, toolsText: true, toolName: true},
	Axolotl: {arguments: asText, parameters: asText, toolName: true},
}

// callID returns the id of call n of a row. Nine letters and digits are what
// every template takes.
func callID(n int) string { return fmt.Sprintf("call%05d", n) }

// render returns r as {"id","messages","tools"}.
func (f chatForm) render(r row, plain bool) []byte {
	dst := append(qaoa.AppendQuote([]byte(`{"id":`), r.id), `,"messages":[`...)
	if r.system != "" {
		dst = append(appendRole(dst, "system", r.system), ',')
	}
	calls := 0
	for i, t := range r.turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRole(dst, "user", t.Query)
		for k, s := range t.Steps {
			dst = append(dst, ',')
			dst = f.appendCalls(dst, s.Calls, r.saying(i, k), calls)
			if !r.openEnd || i < len(r.turns)-1 || k < len(t.Steps)-1 {
				dst = f.appendResults(dst, s, calls)
			}
			calls += len(s.Calls)
		}
		if !r.openEnd || i < len(r.turns)-1 {
			dst = append(dst, ',')
			dst = appendRole(dst, "assistant", answerText(t.Answer, plain))
		}
	}
	dst = append(dst, ']')
	switch {
	case f.toolsText:
		dst = qaoa.AppendQuote(append(dst, `,"tools":`...), string(appendFunctions(nil, r.tools, f.parameters)))
	case len(r.tools) > 0 || !f.noEmptyTools:
		dst = appendFunctions(append(dst, `,"tools":`...), r.tools, f.parameters)
	}
	return append(dst, '}')
}

// appendRole appends a message of text.
func appendRole(dst []byte, role, content string) []byte {
	dst = append(append(append(dst, `{"role":"`...), role...), `","content":`...)
	return append(qaoa.AppendQuote(dst, content), '}')
}

// appendCalls appends the message of a step; n calls came before.
func (f chatForm) appendCalls(dst []byte, calls []qaoa.Call, said string, n int) []byte {
	dst = append(dst, `{"role":"assistant","content":`...)
	if said == "" && f.nullContent {
		dst = append(dst, "null"...)
	} else {
		dst = qaoa.AppendQuote(dst, said)
	}
	dst = append(dst, `,"tool_calls":[`...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, `{"id":"`...), callID(n+i)...), `","type":"function","function":{"name":`...)
		dst = append(qaoa.AppendQuote(dst, c.Name), `,"arguments":`...)
		dst = append(f.arguments.append(dst, c.Arguments), "}}"...)
	}
	return append(dst, "]}"...)
}

// appendResults appends a message for each call of a step.
func (f chatForm) appendResults(dst []byte, s qaoa.Step, n int) []byte {
	for i, c := range s.Calls {
		dst = append(append(append(dst, `,{"role":"tool","tool_call_id":"`...), callID(n+i)...), '"')
		if f.toolName {
			dst = qaoa.AppendQuote(append(dst, `,"name":`...), c.Name)
		}
		dst = qaoa.AppendQuote(append(dst, `,"content":`...), s.Observation(i))
		dst = append(dst, '}')
	}
	return dst
}

type chatRow struct {
	ID       string          `json:"id"`
	Messages []chatMessage   `json:"messages"`
	Tools    json.RawMessage `json:"tools"`
}

type chatMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	ToolCalls []chatCall `json:"tool_calls"`
	CallID    *string    `json:"tool_call_id"`
	Name      *string    `json:"name"`
}

type chatCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function callText `json:"function"`
}

// parse reads a line by the rules that the formats publish: a system message
// first or not at all; then, for each turn, one of the user, steps, and one of
// the assistant; each id of a call answered once, in order, before the
// assistant speaks again.
func (f chatForm) parse(line []byte, plain bool) (row, error) {
	var in chatRow
	if err := json.Unmarshal(line, &in); err != nil {
		return row{}, fmt.Errorf("not JSON: %w", err)
	}
	r := row{id: in.ID}
	if err := f.readTools(&r, in.Tools); err != nil {
		return row{}, err
	}
	messages := in.Messages
	if len(messages) > 0 && messages[0].Role == "system" && messages[0].Content != nil {
		r.system = *messages[0].Content
		messages = messages[1:]
	}
	g := chatReader{form: f, plain: plain, r: &r}
	for i, m := range messages {
		if err := g.read(m); err != nil {
			return row{}, fmt.Errorf("/messages/%d: %w", i+len(in.Messages)-len(messages), err)
		}
	}
	return r, g.end()
}

func (f chatForm) readTools(r *row, in json.RawMessage) (err error) {
	j := qaoa.JSON(in)
	switch {
	case (j == "" || j == "null") && f.noEmptyTools:
		return nil
	case f.toolsText:
		if j.Kind() != qaoa.String {
			return fmt.Errorf("/tools: want the text of an array, have %.40q", in)
		}
		in = json.RawMessage(j.Text())
	}
	r.tools, err = readFunctions(in, f.parameters)
	return err
}

// A chatReader makes turns of messages.
type chatReader struct {
	form    chatForm
	plain   bool
	r       *row
	waiting []chatCall // calls without their result, in order
	results []string
	calls   int
	// asked tells that the last turn has no answer yet.
	asked bool
}

func (g *chatReader) read(m chatMessage) error {
	switch {
	case m.Role == "tool":
		return g.result(m)
	case len(g.waiting) > 0:
		return fmt.Errorf("want what the call %s returned, have a message of %s", g.waiting[0].ID, m.Role)
	case m.Role == "user" && !g.asked && m.Content != nil && len(m.ToolCalls) == 0:
		g.r.turns = append(g.r.turns, qaoa.Turn{Query: *m.Content})
		g.asked = true
		return nil
	case m.Role == "assistant" && g.asked && len(m.ToolCalls) > 0:
		return g.step(m)
	case m.Role == "assistant" && g.asked && m.Content != nil:
		g.asked = false
		answer, err := readAnswer(*m.Content, g.plain)
		g.r.turns[len(g.r.turns)-1].Answer = answer
		return err
	}
	return fmt.Errorf("want a message of the user and then those of the assistant, with content or calls; have %.20q", m.Role)
}

func (g *chatReader) step(m chatMessage) error {
	turn := &g.r.turns[len(g.r.turns)-1]
	var s qaoa.Step
	for i, c := range m.ToolCalls {
		if c.Type != "function" || c.ID != callID(g.calls) {
			return fmt.Errorf("/tool_calls/%d: want a function with the id %s, have %.20q with %.20q", i, callID(g.calls), c.Type, c.ID)
		}
		g.calls++
		var err error
		if c.Function.Arguments, err = g.form.arguments.read(c.Function.Arguments); err != nil {
			return fmt.Errorf("/tool_calls/%d/function/arguments: %w", i, err)
		}
		call, err := c.Function.call()
		if err != nil {
			return fmt.Errorf("/tool_calls/%d/function: %w", i, err)
		}
		s.Calls = append(s.Calls, call)
	}
	if m.Content != nil && *m.Content != "" {
		g.r.said = append(g.r.said, saying{len(g.r.turns) - 1, len(turn.Steps), *m.Content})
	}
	turn.Steps = append(turn.Steps, s)
	g.waiting, g.results = m.ToolCalls, nil
	return nil
}

func (g *chatReader) result(m chatMessage) error {
	if len(g.waiting) == 0 || m.CallID == nil || *m.CallID != g.waiting[0].ID || m.Content == nil {
		return fmt.Errorf("want a result only for the next call without one, by its id, with content")
	}
	if g.form.toolName && (m.Name == nil || *m.Name != *g.waiting[0].Function.Name) {
		return fmt.Errorf("/name: want %.40q", *g.waiting[0].Function.Name)
	}
	g.waiting = g.waiting[1:]
	g.results = append(g.results, *m.Content)
	if len(g.waiting) > 0 || known(g.results) == 0 {
		return nil
	}
	steps := g.r.turns[len(g.r.turns)-1].Steps
	steps[len(steps)-1].Observations = g.results
	return nil
}

// end checks that the row does not stop in the middle.
func (g *chatReader) end() error {
	r := g.r
	if len(r.turns) == 0 {
		return fmt.Errorf("/messages: want a message of the user, have none")
	}
	if !g.asked {
		return nil
	}
	last := r.turns[len(r.turns)-1].Steps
	if len(last) == 0 || len(g.waiting) != len(last[len(last)-1].Calls) {
		return fmt.Errorf("/messages: want an answer, or calls without results, at the end")
	}
	r.openEnd = true
	return nil
}
