package toolalpaca

import (
	"context"
	"fmt"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "toolalpaca".
var Source = convert.Source{
	Name:    "toolalpaca",
	Kind:    convert.Test,
	Home:    "https://github.com/tangqiaoyu/ToolAlpaca",
	Licence: "Apache-2.0",
	About:   "ToolAlpaca: instructions for real and simulated web APIs",
	Files: []convert.File{
		{Glob: "eval_real.json", Role: convert.Records, Note: "real APIs"},
		{Glob: "eval_simulated.json", Role: convert.Records, Note: "simulated APIs"},
		{Glob: "train_data.json", Role: convert.Trap, Note: "training data, for toolalpaca-train"},
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
	return c.convert, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	instructions, rej := convert.Field(v, "", "Instructions", qaoa.Array)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	answers, rej := convert.Field(v, "", "Golden_Answers", qaoa.Array)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	if len(instructions.Items)+len(answers.Items) == 0 {
		return nil, []*convert.Reject{convert.Rejectf(convert.NoQuery, "/Instructions", "want at least one instruction, have none")}
	}
	name, _ := v.Get("Name")
	category, _ := v.Get("Category")
	a := api{name: name.Text, tools: readTools(v)}
	var recs []qaoa.Record
	var rejs []*convert.Reject
	for i := range max(len(instructions.Items), len(answers.Items)) {
		id := fmt.Sprintf("%s#%d", a.name, i)
		if a.name == "" {
			id = ""
		}
		rec, rej := c.instance(&a, instructions, answers, i)
		if rej != nil {
			rej.ID = id
			rejs = append(rejs, rej)
			continue
		}
		rec.ID = id
		meta := qaoa.ObjectValue()
		if a.name != "" {
			meta.Members = append(meta.Members, qaoa.Member{Name: "api", Value: name})
		}
		if category.Text != "" {
			meta.Members = append(meta.Members, qaoa.Member{Name: "category", Value: category})
		}
		if unresolved := references(answers.Items[i]); len(unresolved) > 0 {
			meta.Members = append(meta.Members, qaoa.Member{Name: "unresolved", Value: qaoa.ArrayValue(unresolved...)})
		}
		if len(meta.Members) > 0 {
			rec.Meta = meta.JSON()
		}
		recs = append(recs, rec)
	}
	return recs, rejs
}

// instance converts instruction i with its answer.
func (c *converter) instance(a *api, instructions, answers qaoa.Value, i int) (rec qaoa.Record, rej *convert.Reject) {
	path := fmt.Sprintf("/Instructions/%d", i)
	if i >= len(instructions.Items) {
		return rec, convert.Rejectf(convert.NoQuery, path, "want an instruction for every answer, have %d for %d", len(instructions.Items), len(answers.Items))
	}
	query := instructions.Items[i]
	if query.Kind != qaoa.String || strings.TrimSpace(query.Text) == "" {
		return rec, convert.Rejectf(convert.NoQuery, path, "want a string with something in it, have %s", show(query))
	}
	if c.foreign(query.Text) {
		return rec, convert.Rejectf(convert.NonEnglish, path, "the instruction breaks the language rule: %.60q", query.Text)
	}
	path = fmt.Sprintf("/Golden_Answers/%d", i)
	if i >= len(answers.Items) || len(answers.Items[i].Items) == 0 {
		return rec, convert.Rejectf(convert.NoCall, path, "want a list of actions with something in it, have none")
	}
	turn := qaoa.Turn{Query: query.Text}
	for j, item := range answers.Items[i].Items {
		call, rej := readAction(item, fmt.Sprintf("%s/%d", path, j))
		if rej != nil {
			return rec, rej
		}
		turn.Steps = append(turn.Steps, qaoa.Step{Calls: []qaoa.Call{call}})
	}
	rec.Turns = []qaoa.Turn{turn}
	if rec.Tools, rej = a.offer(turn.Calls(), c.strict); rej != nil || !c.strict {
		return rec, rej
	}
	if unresolved := references(answers.Items[i]); len(unresolved) > 0 {
		return rec, convert.Rejectf(convert.UnresolvedPlace, path, "the answer does not say %s", unresolved[0].Text)
	}
	return rec, convert.CheckStrict(rec)
}

// readAction returns the call that an action is.
func readAction(item qaoa.Value, path string) (qaoa.Call, *convert.Reject) {
	action, rej := convert.Field(item, path, "Action", qaoa.String)
	if rej == nil && strings.TrimSpace(action.Text) == "" {
		rej = convert.Rejectf(convert.BadCallJSON, path+"/Action", "want the name of a function, have none")
	}
	if rej != nil {
		rej.Code = convert.BadCallJSON
		return qaoa.Call{}, rej
	}
	input, _ := item.Get("Action_Input")
	call := qaoa.Call{Name: action.Text}
	if input.Kind != qaoa.String {
		call.Arguments = input.JSON()
		return call, nil
	}
	args, err := qaoa.Compact(input.Text)
	if err != nil {
		args, err = qaoa.Compact(replaceReferences(input.Text))
	}
	if err != nil {
		return call, convert.Rejectf(convert.BadArgsJSON, path+"/Action_Input", "want JSON, have %.80q: %v", input.Text, err)
	}
	call.Arguments = args
	return call, nil
}

// replaceReferences returns s with every reference as a JSON string.
func replaceReferences(s string) string {
	var b strings.Builder
	eachReference(s, func(before, _ string) {
		b.WriteString(before)
		b.Write(qaoa.AppendQuote(nil, convert.Unresolved))
	}, func(rest string) { b.WriteString(rest) })
	return b.String()
}

// references returns the references in the inputs of the actions, in order.
func references(actions qaoa.Value) []qaoa.Value {
	var out []qaoa.Value
	for _, item := range actions.Items {
		input, _ := item.Get("Action_Input")
		eachReference(input.Text, func(_, ref string) {
			out = append(out, qaoa.StringValue(ref))
		}, func(string) {})
	}
	return out
}

// eachReference calls f with every reference in s, from ${ to the next brace,
// and the text since the one before; then end with what is left.
func eachReference(s string, f func(before, ref string), end func(rest string)) {
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		n := strings.IndexByte(s[i:], '}')
		if n < 0 {
			break
		}
		f(s[:i], s[i:i+n+1])
		s = s[i+n+1:]
	}
	end(s)
}

// show returns v for a message, cut to a few characters.
func show(v qaoa.Value) string {
	if v.Kind == qaoa.Invalid {
		return "none"
	}
	return fmt.Sprintf("%.60s", v.JSON())
}
