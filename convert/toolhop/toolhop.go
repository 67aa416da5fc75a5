package toolhop

import (
	"context"
	"fmt"
	"strings"

	"assay/convert"
	"assay/internal/pylit"
	"assay/qaoa"
)

// Source is the source "toolhop".
var Source = convert.Source{
	Name:    "toolhop",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/bytedance-research/ToolHop",
	Licence: "CC-BY-4.0 (code Apache-2.0)",
	About:   "ToolHop: questions in three to seven hops, a local function each",
	Files: []convert.File{
		{Glob: "ToolHop.json", Role: convert.Records, Note: "all records"},
		{Glob: "ToolHop.*.json", Role: convert.Records, Note: "a part of the records"},
		{Glob: "toolhop*.jsonl", Role: convert.Extra, Note: "a copy with other fields: source_id, gold_calls"},
	},
	Open: open,
}

type converter struct {
	strict  bool
	foreign func(text string) bool
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	foreign, err := convert.LanguageRule(in.Options.Language, "off")
	if err != nil {
		return nil, err
	}
	c := &converter{strict: in.Options.Profile == convert.Strict, foreign: foreign}
	return convert.One(c.record), nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return qaoa.Record{}, rej
	}
	rec := qaoa.Record{ID: identity(v)}
	question, _ := v.Get("question")
	if question.Kind != qaoa.String || strings.TrimSpace(question.Text) == "" {
		return rec, convert.Rejectf(convert.NoQuery, "/question", "want a string with something in it, have %s", show(question))
	}
	if c.foreign(question.Text) {
		return rec, convert.Rejectf(convert.NonEnglish, "/question", "the question breaks the language rule: %.60q", question.Text)
	}
	answer, rej := convert.Field(v, "", "answer", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	hops, guessed, rej := readHops(v)
	if rej != nil {
		return rec, rej
	}
	turn := qaoa.Turn{Query: question.Text, Answer: answer.Text}
	for i, h := range hops {
		rec.Tools = append(rec.Tools, h.tool)
		if h.arguments == "" {
			return rec, convert.Rejectf(convert.NoCall, fmt.Sprintf("/functions/%d", i), "want an example call of %.60s with literal arguments, have none", h.tool.Name)
		}
		step := qaoa.Step{Calls: []qaoa.Call{{Name: h.tool.Name, Arguments: h.arguments}}}
		if h.answer != "" {
			step.Observations = []string{h.answer}
		}
		turn.Steps = append(turn.Steps, step)
	}
	rec.Turns = []qaoa.Turn{turn}
	rec.Meta = meta(v, guessed)
	if c.strict {
		return rec, convert.CheckStrict(rec)
	}
	return rec, nil
}

// identity returns the number of the record: source_id, where a copy has given
// it another id, or id.
func identity(v qaoa.Value) string {
	for _, name := range []string{"source_id", "id"} {
		if id, _ := v.Get(name); id.Kind == qaoa.Number || id.Kind == qaoa.String {
			return id.Text
		}
	}
	return ""
}

// A hop is one step of a record.
type hop struct {
	tool      qaoa.Tool
	answer    string    // to the question of this hop
	arguments qaoa.JSON // "" if there is no example call
}

// readHops returns the hops of v in the order of its functions, or of its tools
// if there are no functions. Guessed says that the order is not certain, since
// tools that are not in the order of the functions share a name.
func readHops(v qaoa.Value) (hops []hop, guessed bool, rej *convert.Reject) {
	tools, rej := convert.Field(v, "", "tools", qaoa.Object)
	if rej != nil {
		rej.Code = convert.EmptyTools
		return nil, false, rej
	}
	if len(tools.Members) == 0 {
		return nil, false, convert.Rejectf(convert.EmptyTools, "/tools", "want at least one tool, have none")
	}
	answers, rej := convert.Field(v, "", "sub_task", qaoa.Object)
	if rej != nil {
		return nil, false, rej
	}
	functions, _ := v.Get("functions")
	if n := len(functions.Items); n > 0 && n != len(tools.Members) {
		return nil, false, convert.Rejectf(convert.ParseError, "/functions", "want a function for each of the %d tools, have %d", len(tools.Members), n)
	}
	golds, _ := v.Get("gold_calls")
	all := make([]named, len(tools.Members))
	for i, m := range tools.Members {
		t, err := convert.NormalizeTool(m.Value)
		if err != nil {
			return nil, false, convert.Rejectf(convert.ParseError, "/tools/"+escape.Replace(m.Name), "%v", err)
		}
		all[i] = named{question: m.Name, tool: t}
	}
	sigs := make([]pylit.Signature, len(functions.Items))
	for i, f := range functions.Items {
		if sigs[i], rej = signature(f, i); rej != nil {
			return nil, false, rej
		}
	}
	order, guessed, rej := arrange(all, sigs)
	if rej != nil {
		return nil, false, rej
	}
	for i, at := range order {
		sub, ok := answers.Get(all[at].question)
		if !ok {
			return nil, false, convert.Rejectf(convert.ParseError, "/sub_task", "want the answer to each question of tools, have none to %.60q", all[at].question)
		}
		h := hop{tool: all[at].tool, answer: sub.JSON().Text()}
		if i < len(sigs) {
			h.arguments = arguments(functions.Items[i].Text, sigs[i], golds, i, len(order))
		}
		hops = append(hops, h)
	}
	return hops, guessed, nil
}

// escape writes a name as a part of a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// A named is a tool with the question that it stands under.
type named struct {
	question string
	tool     qaoa.Tool
}

// signature returns the head of function i, which comments and imports may
// stand before.
func signature(f qaoa.Value, i int) (sig pylit.Signature, rej *convert.Reject) {
	err := fmt.Errorf("no def")
	eachLine(f.Text, "", func(l line) bool {
		if strings.HasPrefix(l.text, "def ") || strings.HasPrefix(l.text, "async ") {
			sig, err = pylit.ParseSignature(l.text)
			return false
		}
		return true
	})
	if err != nil {
		return sig, convert.Rejectf(convert.ParseError, fmt.Sprintf("/functions/%d", i), "want the source of a Python function, have %.60q: %v", f.Text, err)
	}
	return sig, nil
}

// arrange returns, for each function, the index of its tool: the one in the same
// place, or else the first one left with its name.
func arrange(tools []named, sigs []pylit.Signature) (order []int, guessed bool, rej *convert.Reject) {
	inPlace := true
	for i, sig := range sigs {
		inPlace = inPlace && tools[i].tool.Name == sig.Name
	}
	if inPlace {
		for i := range tools {
			order = append(order, i)
		}
		return order, false, nil
	}
	left := map[string][]int{}
	for i, t := range tools {
		left[t.tool.Name] = append(left[t.tool.Name], i)
	}
	for i, sig := range sigs {
		same := left[sig.Name]
		if len(same) == 0 {
			return nil, false, convert.Rejectf(convert.UnknownTool, fmt.Sprintf("/functions/%d", i), "want one of the tools, have %.60s", sig.Name)
		}
		guessed = guessed || len(same) > 1
		order = append(order, same[0])
		left[sig.Name] = same[1:]
	}
	return order, guessed, nil
}

// arguments returns the arguments of hop i: those of its gold call, if there is
// one for each hop, or of the example call in the source; "" if there are none.
func arguments(source string, sig pylit.Signature, golds qaoa.Value, i, hops int) qaoa.JSON {
	if len(golds.Items) == hops {
		call, err := pylit.ParseCall(golds.Items[i].Text)
		if err == nil && call.Name == sig.Name {
			if args, ok := sig.Bind(call); ok {
				return args.JSON()
			}
		}
	}
	args, _ := mine(source, sig)
	return args
}

// meta returns what else v says.
func meta(v qaoa.Value, guessed bool) qaoa.JSON {
	m := qaoa.ObjectValue()
	for _, name := range []string{"domain", "answer_type", "previous_answer_type"} {
		if f, ok := v.Get(name); ok && f.Kind == qaoa.String {
			m.Members = append(m.Members, qaoa.Member{Name: name, Value: f})
		}
	}
	if guessed {
		m.Members = append(m.Members, qaoa.Member{Name: "guessed", Value: qaoa.StringValue("order of hops")})
	}
	if len(m.Members) == 0 {
		return ""
	}
	return m.JSON()
}

// show returns v for a message, cut to a few characters.
func show(v qaoa.Value) string {
	if v.Kind == qaoa.Invalid {
		return "none"
	}
	return fmt.Sprintf("%.60s", v.JSON())
}
