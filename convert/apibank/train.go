package apibank

import (
	"context"
	"fmt"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// TrainSource is the source "api-bank-train".
var TrainSource = convert.Source{
	Name:    "api-bank-train",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/liminghao1630/API-Bank",
	Licence: "MIT",
	About:   "API-Bank, training dialogues of level 3: search of tools, then calls",
	Files: []convert.File{
		{Glob: "lv3-response-train.json", Role: convert.Records, Note: "whole dialogues of level 3"},
		{Glob: "lv3-api-train.json", Role: convert.Extra, Note: "the same dialogues cut before each request, without answers"},
		{Glob: "lv3-train.json", Role: convert.Extra, Note: "both of the others in one"},
		{Glob: "lv1-*train.json", Role: convert.Trap, Note: "level 1, which the paper leaves out"},
		{Glob: "lv1-train.json", Role: convert.Trap, Note: "level 1, which the paper leaves out"},
		{Glob: "lv2-*train.json", Role: convert.Trap, Note: "level 2, which the paper leaves out"},
		{Glob: "lv2-train.json", Role: convert.Trap, Note: "level 2, which the paper leaves out"},
		{Glob: "*-level-3-*.jsonl", Role: convert.Trap, Note: "dialogues of level 2, whatever the name says"},
		{Glob: "level-[123]*.json", Role: convert.Trap, Note: "test data, for api-bank"},
	},
	Open: openTrain,
}

// The marks of a dialogue besides requestMark.
const (
	userMark   = "User:"
	answerMark = "AI:"
)

// A trainer is one conversion of training files.
type trainer struct {
	converter
	// last has, for each file of cut dialogues, the indexes of the rows that
	// no later row of the same dialogue continues.
	last map[string]map[int]bool
}

func openTrain(ctx context.Context, in convert.Input) (convert.Func, error) {
	foreign, err := convert.LanguageRule(in.Options.Language, "off")
	if err != nil {
		return nil, err
	}
	t := &trainer{
		converter: converter{strict: in.Options.Profile == convert.Strict, foreign: foreign},
		last:      map[string]map[int]bool{},
	}
	for _, file := range in.Files {
		if in.Root == "" && file == "stdin" {
			continue // cannot be read twice
		}
		if t.last[file], err = lastRows(ctx, in, file); err != nil {
			return nil, err
		}
	}
	return t.convert, nil
}

// lastRows returns the indexes of the rows of file that are the last of their
// dialogue; none if there are whole dialogues in file, which say more. Rows of
// a dialogue follow each other and begin with the same two lines. Whole
// dialogues are told from the first row, or come behind all others.
func lastRows(ctx context.Context, in convert.Input, file string) (map[int]bool, error) {
	last := map[int]bool{}
	before, index := "", -1
	for el, err := range convert.SideElements(ctx, in.FS, file) {
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			break // the run will come to it, and say so
		}
		r, rej := readRow(el)
		if rej != nil {
			continue
		}
		if !r.cut {
			return nil, nil
		}
		if key := r.dialogue(); key != before {
			before = key
			if index >= 0 {
				last[index] = true
			}
		}
		index = el.Pos.Index
	}
	if index >= 0 {
		last[index] = true
	}
	return last, nil
}

// A row is an element of a training file.
type row struct {
	input, output string
	cut           bool // the output is a request and no answer
}

func readRow(el convert.Element) (row, *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return row{}, rej
	}
	input, rej := convert.Field(v, "", "input", qaoa.String)
	if rej != nil {
		return row{}, rej
	}
	output, rej := convert.Field(v, "", "output", qaoa.String)
	if rej != nil {
		return row{}, rej
	}
	text := strings.TrimSpace(output.Text)
	return row{input.Text, text, strings.HasPrefix(text, requestMark)}, nil
}

// dialogue returns what rows of the same dialogue have in common: the text
// before the first request.
func (r row) dialogue() string {
	for _, mark := range []string{"\n" + requestMark, "\nGenerate "} {
		if before, _, ok := strings.Cut(r.input, mark); ok {
			return before
		}
	}
	return r.input
}

// convert is the Func of the training source.
func (t *trainer) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	rec, rej := t.record(el)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// record converts one element.
func (t *trainer) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	var rec qaoa.Record
	r, rej := readRow(el)
	if rej != nil {
		return rec, rej
	}
	if r.cut && !t.last[el.Pos.File][el.Pos.Index] {
		return rec, convert.Rejectf(convert.Duplicate, "/output", "a later row has the whole dialogue; want one that ends in an answer, or the last of lv3-api-train.json by name")
	}
	d := dialogue{builder: builder{keepAll: true}}
	if rej := d.read(r); rej != nil {
		return rec, rej
	}
	switch {
	case d.query == "":
		return rec, convert.Rejectf(convert.NoQuery, "/input", "want a line with User: and what the user says, have none")
	case t.foreign(d.query):
		return rec, convert.Rejectf(convert.NonEnglish, "/input", "the query breaks the language rule: %.60q", d.query)
	case len(d.steps) == 0:
		return rec, convert.Rejectf(convert.NoCall, "/input", "want a call besides searches of tools, have none")
	}
	rec.Tools = d.tools()
	rec.Turns = []qaoa.Turn{{Query: d.query, Steps: d.finish(), Answer: d.answer}}
	rec.Meta = d.meta()
	if t.strict {
		return rec, convert.CheckStrict(rec)
	}
	return rec, nil
}

// A dialogue is what a row says.
type dialogue struct {
	builder
	query, answer string
	time          string // when it takes place, as the query has it
	tolerated     int    // requests that are no Python
	repaired, raw int    // results that are no Python
}

// read reads a row.
func (d *dialogue) read(r row) *convert.Reject {
	for _, part := range splitDialogue(r.input) {
		if said, ok := strings.CutPrefix(part, userMark); ok {
			said, d.time = cutTime(said)
			d.query = strings.TrimSpace(d.query + "\n" + said)
			continue
		}
		request, ok := strings.CutPrefix(part, requestMark)
		if !ok {
			continue
		}
		if rej := d.request(request, "/input"); rej != nil {
			return rej
		}
	}
	if r.cut {
		return d.request(strings.TrimPrefix(r.output, requestMark), "/output")
	}
	d.answer = strings.TrimSpace(strings.TrimPrefix(r.output, answerMark))
	return nil
}

// request reads one request with its result:
//
//	[Name(key='value')]->{'result': 3}
//
// The request ends at the first ]->, since a result may hold one as well. A few
// have no brackets around them.
func (d *dialogue) request(text, path string) *convert.Reject {
	call, result, ok := strings.Cut(text, "]->")
	if !ok {
		call, result, _ = strings.Cut(text, "->")
	}
	call = strings.TrimSpace(call)
	call = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(call, "["), "]"))
	result = strings.TrimSpace(result)
	tree, rung := qaoa.Value{}, convert.RungPython
	if result != "" {
		tree, rung = convert.Decode(result)
	}
	switch rung {
	case convert.RungRepaired:
		d.repaired++
	case convert.RungRaw:
		d.raw++
	}
	if strings.HasPrefix(call, searcher+"(") {
		if rung != convert.RungRaw && result != "" {
			if err := d.found(withFlatParams(tree)); err != nil {
				return convert.Rejectf(convert.ParseError, path, "result of a search: %v", err)
			}
		}
		return nil // a tool that cannot be read is as good as one not found
	}
	name, args, strictly, err := parseTyped(call)
	if err != nil {
		return convert.Rejectf(convert.BadCallJSON, path, "%v", err)
	}
	if !strictly {
		d.tolerated++
	}
	observation := string(tree.JSON())
	if tree.Kind == qaoa.String {
		observation = tree.Text
	}
	d.call(name, args, observation)
	return nil
}

// withFlatParams returns the tool v, or the tools, with input_parameters as a
// map: some have a set of names there, or {'none'} for no parameter.
func withFlatParams(v qaoa.Value) qaoa.Value {
	out := qaoa.Value{Kind: v.Kind, Text: v.Text}
	for _, item := range v.Items {
		out.Items = append(out.Items, withFlatParams(item))
	}
	for _, m := range v.Members {
		if m.Name == "input_parameters" && m.Value.Kind == qaoa.Array {
			flat := qaoa.ObjectValue()
			for _, name := range m.Value.Items {
				if name.Kind == qaoa.String && name.Text != "" && !strings.EqualFold(name.Text, "none") {
					flat.Members = append(flat.Members, qaoa.Member{Name: name.Text, Value: qaoa.ObjectValue()})
				}
			}
			m.Value = flat
		}
		out.Members = append(out.Members, m)
	}
	return out
}

// cutTime cuts the time off the end of what the user says: TIME: and
// 2034-01-31 08:00:00, often without a blank before it, perhaps in brackets.
func cutTime(said string) (query, time string) {
	const mark, form = "TIME:", "9999-99-99 99:99:99"
	said = strings.TrimSpace(said)
	i := strings.LastIndex(said, mark)
	if i < 0 {
		return said, ""
	}
	time, closed := strings.CutSuffix(strings.TrimSpace(said[i+len(mark):]), "]")
	if len(time) != len(form) {
		return said, ""
	}
	for j := range len(form) {
		digit := time[j] >= '0' && time[j] <= '9'
		if digit != (form[j] == '9') || !digit && time[j] != form[j] {
			return said, ""
		}
	}
	query, opened := strings.CutSuffix(said[:i], "[")
	if opened != closed {
		return said, ""
	}
	return strings.TrimSpace(query), time
}

// meta returns the time, and what had to be put up with.
func (d *dialogue) meta() qaoa.JSON {
	m := qaoa.ObjectValue()
	if d.time != "" {
		m.Members = append(m.Members, qaoa.Member{Name: "time", Value: qaoa.StringValue(d.time)})
	}
	count := func(v *qaoa.Value, name string, n int) {
		if n > 0 {
			v.Members = append(v.Members, qaoa.Member{Name: name, Value: qaoa.NumberValue(fmt.Sprint(n))})
		}
	}
	rungs, decoded := qaoa.ObjectValue(), qaoa.ObjectValue()
	count(&rungs, convert.RungRepaired.String(), d.repaired)
	count(&rungs, convert.RungRaw.String(), d.raw)
	if len(rungs.Members) > 0 {
		decoded.Members = append(decoded.Members, qaoa.Member{Name: "rungs", Value: rungs})
	}
	count(&decoded, "bare_arguments", d.tolerated)
	if len(decoded.Members) > 0 {
		m.Members = append(m.Members, qaoa.Member{Name: "decoded", Value: decoded})
	}
	if len(m.Members) == 0 {
		return ""
	}
	return m.JSON()
}
