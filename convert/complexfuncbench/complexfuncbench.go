package complexfuncbench

import (
	"context"
	"fmt"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "complexfuncbench".
var Source = convert.Source{
	Name:    "complexfuncbench",
	Kind:    convert.Test,
	Home:    "https://huggingface.co/datasets/THUDM/ComplexFuncBench",
	Licence: "not stated by the publisher",
	About:   "ComplexFuncBench: travel requests that need several steps of calls",
	Files: []convert.File{
		{Glob: "ComplexFuncBench.jsonl", Role: convert.Records, Note: "all domains"},
		{Glob: "ComplexFuncBench*.json", Role: convert.Records, Note: "all domains, as an array"},
		{Glob: "utils/*.json", Role: convert.Side, Note: "tables of the publisher's scorer, not read"},
	},
	Open: open,
}

// A converter holds the options of one conversion.
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
	var rec qaoa.Record
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return rec, rej
	}
	if id, _ := v.Get("id"); id.Kind == qaoa.String && id.Text != "" {
		rec.ID = id.Text
		if i := strings.LastIndexByte(id.Text, '-'); i > 0 {
			rec.Meta = qaoa.ObjectValue(qaoa.Member{Name: "category", Value: qaoa.StringValue(id.Text[:i])}).JSON()
		}
	}
	messages, rej := convert.Field(v, "", "conversations", qaoa.Array)
	if rej != nil {
		return rec, rej
	}
	for i, m := range messages.Items {
		if rej := c.add(&rec, m, fmt.Sprintf("/conversations/%d", i)); rej != nil {
			return rec, rej
		}
	}
	if len(rec.Turns) == 0 {
		return rec, convert.Rejectf(convert.NoQuery, "/conversations", "want a user message, have none")
	}
	calls := 0
	for i := range rec.Turns {
		t := &rec.Turns[i]
		calls += len(t.Steps)
		if !c.strict {
			t.Answer = ""
		}
	}
	if calls == 0 {
		return rec, convert.Rejectf(convert.NoCall, "/conversations", "want a message with a function_call, have none")
	}
	functions, rej := convert.Field(v, "", "functions", qaoa.Array)
	if rej != nil {
		return rec, rej
	}
	if rec.Tools, rej = c.tools(functions, rec.Turns); rej != nil {
		return rec, rej
	}
	if c.strict {
		return rec, convert.CheckStrict(rec)
	}
	return rec, nil
}

// add adds one message to the turns of rec.
func (c *converter) add(rec *qaoa.Record, m qaoa.Value, path string) *convert.Reject {
	role, rej := convert.Field(m, path, "role", qaoa.String)
	if rej != nil {
		return rej
	}
	content, _ := m.Get("content")
	if role.Text == "user" {
		if content.Kind != qaoa.String || strings.TrimSpace(content.Text) == "" {
			return convert.Rejectf(convert.NoQuery, path+"/content", "want a string with something in it, have %.60s", content.JSON())
		}
		if c.foreign(content.Text) {
			return convert.Rejectf(convert.NonEnglish, path+"/content", "the query breaks the language rule: %.60q", content.Text)
		}
		rec.Turns = append(rec.Turns, qaoa.Turn{Query: content.Text})
		return nil
	}
	if len(rec.Turns) == 0 {
		return convert.Rejectf(convert.NoQuery, path+"/role", "want a user message first, have %.40q", role.Text)
	}
	turn := &rec.Turns[len(rec.Turns)-1]
	switch role.Text {
	case "assistant":
		if list, _ := m.Get("function_call"); list.Kind != qaoa.Invalid && list.Kind != qaoa.Null {
			step, rej := stepOf(list, path+"/function_call")
			turn.Steps = append(turn.Steps, step)
			return rej
		}
		if content.Kind != qaoa.String && content.Kind != qaoa.Null {
			return convert.Rejectf(convert.ParseError, path+"/content", "want a text or a function_call, have %.60s", content.JSON())
		}
		if content.Kind == qaoa.String {
			turn.Answer = content.Text // of several the last one is the answer
		}
		return nil
	case "observation":
		return observe(turn, content, path)
	}
	return convert.Rejectf(convert.ParseError, path+"/role", "want user, assistant or observation, have %.40q", role.Text)
}

// stepOf returns the step of the calls in list, or of the one call that it is.
func stepOf(list qaoa.Value, path string) (qaoa.Step, *convert.Reject) {
	var step qaoa.Step
	if list.Kind == qaoa.Object {
		list = qaoa.ArrayValue(list)
	}
	if list.Kind != qaoa.Array || len(list.Items) == 0 {
		return step, convert.Rejectf(convert.NoCall, path, "want a list of calls with something in it, have %.60s", list.JSON())
	}
	for i, item := range list.Items {
		name, _ := item.Get("name")
		if name.Kind != qaoa.String || name.Text == "" {
			return step, convert.Rejectf(convert.BadCallJSON, fmt.Sprintf("%s/%d", path, i), "want an object with a name and arguments, have %.80s", item.JSON())
		}
		args, rej := argumentsOf(item, fmt.Sprintf("%s/%d/arguments", path, i))
		if rej != nil {
			return step, rej
		}
		step.Calls = append(step.Calls, qaoa.Call{Name: name.Text, Arguments: args})
	}
	return step, nil
}

// argumentsOf returns the arguments of a call: an object, or its JSON text.
func argumentsOf(call qaoa.Value, path string) (qaoa.JSON, *convert.Reject) {
	args, ok := call.Get("arguments")
	if !ok || args.Kind == qaoa.Null {
		return "{}", nil
	}
	if args.Kind == qaoa.String {
		inner, err := qaoa.ParseValue(args.Text)
		if err != nil {
			return "", convert.Rejectf(convert.BadArgsJSON, path, "want an object, have a text that is %v", err)
		}
		args = inner
	}
	if args.Kind != qaoa.Object {
		return "", convert.Rejectf(convert.ArgumentsNotObject, path, "want an object, have %.60s", args.JSON())
	}
	return args.JSON(), nil
}

// observe adds the results of the last step.
func observe(turn *qaoa.Turn, content qaoa.Value, path string) *convert.Reject {
	if len(turn.Steps) == 0 || turn.Steps[len(turn.Steps)-1].Observations != nil {
		return convert.Rejectf(convert.BadFlow, path+"/role", "want an observation only after a function_call, have one more")
	}
	step := &turn.Steps[len(turn.Steps)-1]
	if content.Kind == qaoa.String && len(step.Calls) == 1 {
		step.Observations = []string{content.Text}
		return nil
	}
	if content.Kind != qaoa.Array || len(content.Items) != len(step.Calls) {
		return convert.Rejectf(convert.IncompleteFlow, path+"/content", "want a list of %d results, one a call, have %.60s", len(step.Calls), content.JSON())
	}
	step.Observations = make([]string, len(step.Calls))
	for i, item := range content.Items {
		step.Observations[i] = string(qaoa.ArrayValue(item).JSON())
	}
	return nil
}

// tools returns the tools on offer. The profile Paper offers those that are
// called, each once, in the order of calls.
func (c *converter) tools(functions qaoa.Value, turns []qaoa.Turn) ([]qaoa.Tool, *convert.Reject) {
	var all []qaoa.Tool
	for i, f := range functions.Items {
		t, err := convert.NormalizeTool(f)
		if err != nil {
			return nil, convert.Rejectf(convert.ParseError, fmt.Sprintf("/functions/%d", i), "%v", err)
		}
		all = append(all, t)
	}
	if c.strict {
		return all, nil
	}
	byName := make(map[string]*qaoa.Tool, len(all)) // of equal names the first
	for i := range all {
		if byName[all[i].Name] == nil {
			byName[all[i].Name] = &all[i]
		}
	}
	var called []qaoa.Tool
	for _, turn := range turns {
		for _, call := range turn.Calls() {
			if t := byName[call.Name]; t != nil {
				called = append(called, *t)
				delete(byName, call.Name)
			}
		}
	}
	return called, nil
}
