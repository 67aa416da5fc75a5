package train

import (
	"fmt"
	"strings"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// The marks of ChatML and the tags of calls.
const (
	markStart = "<|im_start|>"
	markEnd   = "<|im_end|>"

	openCall    = "<tool_call>\n"
	closeCall   = "\n</tool_call>"
	openResult  = "<tool_response>\n"
	closeResult = "\n</tool_response>"
	openTools   = "<tools>\n"
	closeTools  = "</tools>"
)

// Around the tools in the system message.
const (
	beforeTools = "You can call the tools below. Each line between <tools> and </tools> is the JSON of one:\n"
	afterTools  = "\nTo call a tool, write its name and arguments as JSON between <tool_call> and </tool_call>:\n<tool_call>\n{\"name\": \"…\", \"arguments\": {…}}\n</tool_call>\nCalls that do not need each other's results are written one after the other in one message."
)

// renderHermes returns r as {"id","text"}.
func renderHermes(r row, plain bool) []byte {
	dst := append(qaoa.AppendQuote([]byte(`{"id":`), r.id), `,"text":`...)
	return append(qaoa.AppendQuote(dst, hermesText(r, plain)), '}')
}

// hermesText returns a whole conversation in ChatML: tools in the system
// message, calls in <tool_call> tags, results in <tool_response> tags of a
// message of the tool.
func hermesText(r row, plain bool) string {
	var b strings.Builder
	message := func(role, content string) {
		b.WriteString(markStart + role + "\n" + content + markEnd + "\n")
	}
	if system := hermesSystem(r); system != "" {
		message("system", system)
	}
	for i, t := range r.turns {
		message("user", t.Query)
		for k, s := range t.Steps {
			var parts []string
			if said := r.saying(i, k); said != "" {
				parts = append(parts, said)
			}
			for _, c := range s.Calls {
				parts = append(parts, openCall+quiet(string(qaoa.AppendCall(nil, c)))+closeCall)
			}
			message("assistant", strings.Join(parts, "\n"))
			if r.openEnd && i == len(r.turns)-1 && k == len(t.Steps)-1 {
				break
			}
			results := make([]string, len(s.Calls))
			for n := range s.Calls {
				results[n] = openResult + s.Observation(n) + closeResult
			}
			message("tool", strings.Join(results, "\n"))
		}
		if !r.openEnd || i < len(r.turns)-1 {
			message("assistant", answerText(t.Answer, plain))
		}
	}
	return b.String()
}

func hermesSystem(r row) string {
	if len(r.tools) == 0 {
		return r.system
	}
	var b strings.Builder
	if r.system != "" {
		b.WriteString(r.system + "\n\n")
	}
	b.WriteString(beforeTools + openTools)
	for _, t := range r.tools {
		b.WriteString(quiet(string(appendFunction(nil, t, asObject))) + "\n")
	}
	b.WriteString(closeTools + afterTools)
	return b.String()
}

// quiet returns JSON text without what a reader of the conversation could take
// for a mark or tag; as an escape it says the same.
func quiet(text string) string {
	for _, m := range []string{"<|", "<tool", "</tool", "<think", "</think"} {
		if strings.Contains(text, m) {
			return strings.ReplaceAll(text, "<", `\u003c`)
		}
	}
	return text
}

// refuseHermes rejects texts that would end a message, or begin a call that is
// none. As text they cannot be told from the marks themselves.
func refuseHermes(r row) *Reject {
	check := func(path, text string, tags ...string) *Reject {
		for _, mark := range append(tags, markStart, markEnd) {
			if strings.Contains(text, mark) {
				return &Reject{Code: TemplateMarks, Path: path, Detail: fmt.Sprintf("want a text without %q, which is part of the format: take another one, or clean the text", strings.TrimSpace(mark))}
			}
		}
		return nil
	}
	if rej := check("/system", r.system); rej != nil {
		return rej
	}
	if len(r.tools) == 0 && strings.Contains(r.system, beforeTools) {
		return check("/system", r.system, beforeTools)
	}
	for i, t := range r.turns {
		path := fmt.Sprintf("/turns/%d", i)
		if rej := check(path+"/query", t.Query); rej != nil {
			return rej
		}
		if rej := check(path+"/answer", t.Answer, openCall, closeCall); rej != nil {
			return rej
		}
		for k, s := range t.Steps {
			for n, o := range s.Observations {
				if rej := check(fmt.Sprintf("%s/steps/%d/observations/%d", path, k, n), o, closeResult); rej != nil {
					return rej
				}
			}
		}
	}
	for _, s := range r.said {
		if rej := check("/meta/side_text", s.text, openCall); rej != nil {
			return rej
		}
	}
	return nil
}

// parseHermes reads a line by the layout of the text.
func parseHermes(line []byte, plain bool) (row, error) {
	var in struct {
		ID   string  `json:"id"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return row{}, fmt.Errorf("not JSON: %w", err)
	}
	if in.Text == nil {
		return row{}, fmt.Errorf("/text: want the text of a conversation")
	}
	r := row{id: in.ID}
	asked := false
	var open *qaoa.Step // waits for its results
	for n, text := 0, *in.Text; text != ""; n++ {
		rest, ok := strings.CutPrefix(text, markStart)
		message, after, ok2 := strings.Cut(rest, markEnd+"\n")
		role, content, ok3 := strings.Cut(message, "\n")
		if !ok || !ok2 || !ok3 {
			return row{}, fmt.Errorf("/text: message %d: want %sROLE, a line break, the text and %s", n, markStart, markEnd)
		}
		text = after
		var err error
		switch {
		case role == "system" && n == 0:
			err = r.readSystem(content)
		case role == "user" && !asked:
			r.turns = append(r.turns, qaoa.Turn{Query: content})
			asked = true
		case role == "tool" && open != nil:
			err = readResults(open, content)
			open = nil
		case role == "assistant" && asked && open == nil && strings.HasSuffix(content, closeCall):
			open, err = r.readStep(content)
		case role == "assistant" && asked && open == nil:
			asked = false
			r.turns[len(r.turns)-1].Answer, err = readAnswer(content, plain)
		default:
			err = fmt.Errorf("want no message of %.20q here", role)
		}
		if err != nil {
			return row{}, fmt.Errorf("/text: message %d: %w", n, err)
		}
	}
	if len(r.turns) == 0 || asked && open == nil {
		return row{}, fmt.Errorf("/text: want an answer, or calls without results, at the end")
	}
	r.openEnd = asked
	return r, nil
}

func (r *row) readSystem(content string) error {
	i := strings.LastIndex(content, beforeTools+openTools)
	if i < 0 {
		r.system = content
		return nil
	}
	r.system = strings.TrimSuffix(content[:i], "\n\n")
	list, ok := strings.CutSuffix(content[i+len(beforeTools+openTools):], closeTools+afterTools)
	if !ok {
		return fmt.Errorf("want the list of tools to end with %s and how to call them", closeTools)
	}
	tools, err := readFunctions([]byte("["+strings.ReplaceAll(strings.TrimSuffix(list, "\n"), "\n", ",")+"]"), asObject)
	r.tools = tools
	return err
}

func (r *row) readStep(content string) (*qaoa.Step, error) {
	turn := &r.turns[len(r.turns)-1]
	said, calls := "", content
	if i := strings.Index(content, openCall); i > 0 {
		said, calls = strings.TrimSuffix(content[:i], "\n"), content[i:]
	}
	if said != "" {
		r.said = append(r.said, saying{len(r.turns) - 1, len(turn.Steps), said})
	}
	var s qaoa.Step
	for part := range strings.SplitSeq(calls, closeCall) {
		if part == "" {
			continue
		}
		text, ok := strings.CutPrefix(strings.TrimPrefix(part, "\n"), openCall)
		if !ok {
			return nil, fmt.Errorf("want calls one after the other, have %.40q between them", part)
		}
		call, err := callOf(text)
		if err != nil {
			return nil, err
		}
		s.Calls = append(s.Calls, call)
	}
	turn.Steps = append(turn.Steps, s)
	return &turn.Steps[len(turn.Steps)-1], nil
}

func readResults(s *qaoa.Step, content string) error {
	inner, ok := strings.CutPrefix(content, openResult)
	if ok {
		inner, ok = strings.CutSuffix(inner, closeResult)
	}
	results := strings.Split(inner, closeResult+"\n"+openResult)
	if !ok || len(results) != len(s.Calls) {
		return fmt.Errorf("want %d results in their tags, have %d", len(s.Calls), len(results))
	}
	if known(results) > 0 {
		s.Observations = results
	}
	return nil
}
