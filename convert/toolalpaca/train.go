package toolalpaca

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// TrainSource is the source "toolalpaca-train".
var TrainSource = convert.Source{
	Name:    "toolalpaca-train",
	Kind:    convert.Train,
	Home:    "https://github.com/tangqiaoyu/ToolAlpaca",
	Licence: "Apache-2.0",
	About:   "ToolAlpaca, training data: simulated dialogues with web APIs",
	Files: []convert.File{
		{Glob: "train_data.json", Role: convert.Records, Note: "APIs with their instances"},
		{Glob: "eval_real.json", Role: convert.Trap, Note: "test data, for toolalpaca"},
		{Glob: "eval_simulated.json", Role: convert.Trap, Note: "test data, for toolalpaca"},
	},
	Open: openTrain,
}

func openTrain(_ context.Context, in convert.Input) (convert.Func, error) {
	foreign, err := convert.LanguageRule(in.Options.Language, "off")
	if err != nil {
		return nil, err
	}
	c := &converter{strict: in.Options.Profile == convert.Strict, foreign: foreign}
	return c.convertTrain, nil
}

// convertTrain is the Func of the training source.
func (c *converter) convertTrain(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	name, _ := v.Get("Name")
	category, _ := v.Get("Category")
	a := api{name: name.Text, tools: readTools(v)}
	instances, listed := v.Get("Instances")
	path := func(i int) string { return fmt.Sprintf("/Instances/%d", i) }
	switch {
	case !listed && (has(v, "input") || has(v, "intermediate_steps")):
		instances, path = qaoa.ArrayValue(v), func(int) string { return "" }
	case instances.Kind != qaoa.Array:
		return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "/Instances", "want a list of instances, have %s", show(instances))}
	case len(instances.Items) == 0:
		return nil, []*convert.Reject{convert.Rejectf(convert.NoQuery, "/Instances", "want at least one instance, have none")}
	}
	var recs []qaoa.Record
	var rejs []*convert.Reject
	for i, item := range instances.Items {
		id := ""
		if a.name != "" && listed {
			id = fmt.Sprintf("%s#%d", a.name, i)
		}
		in := trainInstance{api: &a, path: path(i)}
		rec, rej := c.trainInstance(&in, item)
		if rej != nil {
			rej.ID = id
			rejs = append(rejs, rej)
			continue
		}
		rec.ID, rec.Meta = id, in.meta(name, category)
		recs = append(recs, rec)
	}
	return recs, rejs
}

func has(v qaoa.Value, name string) bool {
	_, ok := v.Get(name)
	return ok
}

// A trainInstance is what was read of one dialogue.
type trainInstance struct {
	api       *api
	path      string
	hint      string       // behind the query
	reasoning []qaoa.Value // in the form of [convert.Chat]
	rungs     [convert.RungRaw + 1]int
}

// trainInstance converts one instance.
func (c *converter) trainInstance(in *trainInstance, v qaoa.Value) (rec qaoa.Record, rej *convert.Reject) {
	if fault, ok := v.Get("error"); ok || v.Kind != qaoa.Object {
		if ok {
			v = fault
		}
		return rec, convert.Rejectf(convert.ParseError, in.path, "want an instance, have the fault of a generator: %s", show(v))
	}
	query, _ := v.Get("input")
	if query.Kind != qaoa.String || strings.TrimSpace(query.Text) == "" {
		return rec, convert.Rejectf(convert.NoQuery, in.path+"/input", "want a string with something in it, have %s", show(query))
	}
	if c.foreign(query.Text) {
		return rec, convert.Rejectf(convert.NonEnglish, in.path+"/input", "the input breaks the language rule: %.60q", query.Text)
	}
	turn := qaoa.Turn{Query: query.Text}
	if c.strict {
		// A hint tells which function to use, which no user would say.
		turn.Query, in.hint, _ = strings.Cut(query.Text, "\nHint: ")
	}
	steps, _ := v.Get("intermediate_steps")
	if steps.Kind != qaoa.Array || len(steps.Items) == 0 {
		return rec, convert.Rejectf(convert.NoCall, in.path+"/intermediate_steps", "want a list of steps with something in it, have %s", show(steps))
	}
	for i, item := range steps.Items {
		step, rej := in.step(item, i, c.strict)
		if rej != nil {
			return rec, rej
		}
		turn.Steps = append(turn.Steps, step)
	}
	output, _ := v.Get("output")
	turn.Answer = output.JSON().Text()
	if output.Kind == qaoa.Null {
		turn.Answer = ""
	}
	thought, _ := v.Get("Final Thought")
	in.think(len(turn.Steps), thought.Text)
	rec.Turns = []qaoa.Turn{turn}
	if rec.Tools, rej = in.api.offer(turn.Calls(), c.strict); rej != nil || !c.strict {
		return rec, rej
	}
	return rec, convert.CheckStrict(rec)
}

// step reads [[action, input, log], observation].
func (in *trainInstance) step(v qaoa.Value, i int, strict bool) (qaoa.Step, *convert.Reject) {
	path := fmt.Sprintf("%s/intermediate_steps/%d", in.path, i)
	if len(v.Items) != 2 || len(v.Items[0].Items) < 2 {
		return qaoa.Step{}, convert.Rejectf(convert.BadCallJSON, path, "want [[action, input, log], observation], have %s", show(v))
	}
	action, input, observation := v.Items[0].Items[0], v.Items[0].Items[1], v.Items[1]
	if action.Kind != qaoa.String || strings.TrimSpace(action.Text) == "" {
		return qaoa.Step{}, convert.Rejectf(convert.BadCallJSON, path+"/0/0", "want the name of a function, have %s", show(action))
	}
	args, rej := in.arguments(input, path+"/0/1", strict)
	if rej != nil {
		return qaoa.Step{}, rej
	}
	if len(v.Items[0].Items) > 2 {
		log, _, _ := strings.Cut(v.Items[0].Items[2].Text, "\nAction:")
		in.think(i, log)
	}
	step := qaoa.Step{Calls: []qaoa.Call{{Name: action.Text, Arguments: args}}}
	if text := observation.JSON().Text(); text != "" && observation.Kind != qaoa.Null {
		step.Observations = []string{text}
	}
	return step, nil
}

// arguments returns the arguments in the input of an action. Text that is no
// JSON is {} in profile Paper, as the paper has it, and marked in Meta; Strict
// reads what can be read, and rejects the rest.
func (in *trainInstance) arguments(v qaoa.Value, path string, strict bool) (qaoa.JSON, *convert.Reject) {
	if v.Kind == qaoa.String {
		text := v.Text
		inner, err := qaoa.ParseValue(text)
		switch {
		case err == nil:
			v = inner
		case !strict:
			in.rungs[convert.RungRaw]++
			return "{}", nil
		case strings.TrimSpace(text) == "":
			return "{}", nil
		default:
			var rung convert.Rung
			if v, rung = convert.Decode(text); rung == convert.RungRaw {
				return "", convert.Rejectf(convert.BadArgsJSON, path, "want the JSON text of an object, have %.80q: %v", text, err)
			}
			in.rungs[rung]++
		}
	}
	if v.Kind == qaoa.Null || v.Kind == qaoa.Invalid {
		return "{}", nil
	}
	if v.Kind != qaoa.Object {
		return "", convert.Rejectf(convert.ArgumentsNotObject, path, "want an object, have %s", show(v))
	}
	return v.JSON(), nil
}

// think keeps what was thought after that many steps.
func (in *trainInstance) think(steps int, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	in.reasoning = append(in.reasoning, qaoa.ObjectValue(
		qaoa.Member{Name: "turn", Value: qaoa.NumberValue("0")},
		qaoa.Member{Name: "step", Value: qaoa.NumberValue(strconv.Itoa(steps))},
		qaoa.Member{Name: "text", Value: qaoa.StringValue(text)},
	))
}

// meta returns what else an instance says.
func (in *trainInstance) meta(name, category qaoa.Value) qaoa.JSON {
	m := qaoa.ObjectValue()
	add := func(name string, v qaoa.Value) { m.Members = append(m.Members, qaoa.Member{Name: name, Value: v}) }
	if name.Text != "" {
		add("api", name)
	}
	if category.Text != "" {
		add("category", category)
	}
	if in.hint != "" {
		add("hint", qaoa.StringValue(in.hint))
	}
	if len(in.reasoning) > 0 {
		add("reasoning", qaoa.ArrayValue(in.reasoning...))
	}
	rungs := qaoa.ObjectValue()
	for r := convert.RungNested; r <= convert.RungRaw; r++ {
		if n := in.rungs[r]; n > 0 {
			rungs.Members = append(rungs.Members, qaoa.Member{Name: r.String(), Value: qaoa.NumberValue(strconv.Itoa(n))})
		}
	}
	if len(rungs.Members) > 0 {
		add("decoded", qaoa.ObjectValue(qaoa.Member{Name: "rungs", Value: rungs}))
	}
	if len(m.Members) == 0 {
		return ""
	}
	return m.JSON()
}
