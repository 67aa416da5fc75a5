package acebench

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "acebench".
var Source = convert.Source{
	Name:    "acebench",
	Kind:    convert.Test,
	Home:    "https://github.com/ACEBench/ACEBench",
	Licence: "MIT",
	About:   "ACEBench: single and parallel calls, and requests with missing parameters",
	Files: []convert.File{
		{Glob: "possible_answer/data_*.json", Role: convert.Side, Note: "gold calls"},
		{Glob: "data_zh/data_*.json", Role: convert.Extra, Note: "the Chinese half, needs the language rule off"},
		{Glob: "data_normal_single_turn_single_function.json", Role: convert.Records, Note: "one call"},
		{Glob: "data_normal_single_turn_parallel_function.json", Role: convert.Records, Note: "several calls"},
		{Glob: "data_special_incomplete.json", Role: convert.Records, Note: "gold is a list of missing parameters"},
		{Glob: "data_normal_*.json", Role: convert.Extra, Note: "categories that the paper leaves out"},
		{Glob: "data_special_*.json", Role: convert.Extra, Note: "rejected: no gold call"},
		{Glob: "data_agent_*.json", Role: convert.Extra, Note: "rejected: gold is a state"},
	},
	Open: open,
}

// category returns the category that a file holds, by its name:
// normal_atom_bool for data_normal_atom_bool.json; "" for other names.
func category(file string) string {
	name := path.Base(file)
	for _, suffix := range []string{".gz", ".zst", ".json", ".jsonl"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name, ok := strings.CutPrefix(name, "data_")
	if !ok {
		return ""
	}
	return name
}

// refuse returns why a category holds no records, nil if it does.
func refuse(category string) *convert.Reject {
	switch {
	case strings.HasPrefix(category, "normal_"), category == "special_incomplete":
		return nil
	case category == "agent_multi_turn":
		return convert.Rejectf(convert.NeedsUserTurns, "", "the category %s needs a simulated user", category)
	case category == "special_irrelevant":
		return convert.Rejectf(convert.IrrelevantType, "", "no gold call exists in the category %s", category)
	case category == "special_error_param", category == "agent_multi_step":
		return convert.Rejectf(convert.InvalidCategory, "", "the gold of the category %s is not made of calls", category)
	}
	return convert.Rejectf(convert.InvalidCategory, "", "want a category of ACEBench, by a file name such as data_special_incomplete.json, have %.60q", category)
}

// A converter holds the gold calls of one conversion.
type converter struct {
	strict    bool
	rule      func(text string) bool // nil: by file and majority
	inChinese bool                   // the input root is data_zh or below
	answers   map[string]map[string][]byte
}

func open(ctx context.Context, in convert.Input) (convert.Func, error) {
	c := &converter{
		strict:  in.Options.Profile == convert.Strict,
		answers: map[string]map[string][]byte{},
		// A file that is named itself comes without its folder.
		inChinese: slices.Contains(strings.Split(filepath.ToSlash(in.Root), "/"), "data_zh"),
	}
	if in.Options.Language != "" {
		var err error
		if c.rule, err = convert.LanguageRule(in.Options.Language, ""); err != nil {
			return nil, err
		}
	}
	for _, file := range in.Files {
		if refuse(category(file)) != nil {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".gz"), ".zst")
		answers := map[string][]byte{}
		for el, err := range convert.SideElements(ctx, in.FS, path.Join(path.Dir(file), "possible_answer", name)) {
			if err != nil {
				return nil, fmt.Errorf("%s: its gold calls are missing, fetch the folder possible_answer beside it: %w", file, err)
			}
			v, rej := convert.ParseObject(el)
			if rej != nil {
				return nil, fmt.Errorf("%s: %s", el.Pos, rej.Detail)
			}
			id, _ := v.Get("id")
			if _, ok := answers[id.Text]; ok || id.Text == "" {
				return nil, fmt.Errorf("%s: /id: want the id of one question, have %.60q", el.Pos, id.Text)
			}
			answers[id.Text] = el.Data
		}
		c.answers[file] = answers
	}
	return c.convert, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	rec, rej := c.record(el)
	if rej != nil {
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (rec qaoa.Record, rej *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return rec, rej
	}
	id, rej := convert.Field(v, "", "id", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	defer func() {
		if rej != nil {
			rej.ID = id.Text
		}
	}()
	cat := category(el.Pos.File)
	if rej := refuse(cat); rej != nil {
		return rec, rej
	}
	question, rej := convert.Field(v, "", "question", qaoa.String)
	if rej != nil {
		return rec, rej
	}
	chinese := c.inChinese || slices.Contains(strings.Split(path.Dir(el.Pos.File), "/"), "data_zh")
	if rej := c.foreign(question.Text, chinese); rej != nil {
		return rec, rej
	}
	rec = qaoa.Record{ID: id.Text}
	if chinese {
		rec.ID = "zh_" + id.Text
	}
	if rec.Turns, rej = c.turns(question.Text); rej != nil {
		return rec, rej
	}
	data, ok := c.answers[el.Pos.File][id.Text]
	if !ok {
		return rec, convert.Rejectf(convert.NoCall, "/id", "no gold call exists under this id in possible_answer")
	}
	answer, err := qaoa.ParseValue(data)
	if err != nil {
		return rec, convert.Rejectf(convert.BadCallJSON, "", "the gold calls are %v", err)
	}
	truth, _ := answer.Get("ground_truth")
	meta := qaoa.ObjectValue(qaoa.Member{Name: "category", Value: qaoa.StringValue(cat)})
	if truth.Kind == qaoa.Array && len(truth.Items) > 0 {
		// One element of normal_atom_bool has two golds; the first is as good.
		meta.Members = append(meta.Members, qaoa.Member{Name: "alternatives", Value: truth})
		truth = truth.Items[0]
	}
	for _, name := range []string{"time", "profile"} {
		if f, ok := v.Get(name); ok && f.Text != "" {
			meta.Members = append(meta.Members, qaoa.Member{Name: name, Value: f})
		}
	}
	rec.Meta = meta.JSON()
	calls, tools, rej := c.calls(v, truth)
	if rej != nil {
		return rec, rej
	}
	rec.Tools = tools
	rec.Turns[len(rec.Turns)-1].Steps = []qaoa.Step{{Calls: calls}}
	if c.strict {
		rej = convert.CheckStrict(rec)
	}
	return rec, rej
}

// foreign returns a reject if the question breaks the language rule.
func (c *converter) foreign(question string, chinese bool) *convert.Reject {
	if c.rule != nil {
		if c.rule(question) {
			return convert.Rejectf(convert.NonEnglish, "/question", "the question breaks the language rule: %.60q", question)
		}
		return nil
	}
	if chinese || mostlyHan(question) {
		return convert.Rejectf(convert.NonEnglish, "/question", "want English, or the language rule off, have %.60q", question)
	}
	return nil
}

// mostlyHan reports whether more than half of the letters of s are Chinese.
func mostlyHan(s string) bool {
	han, letters := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
	}
	return 2*han > letters
}

// turns splits a question. See the package comment.
func (c *converter) turns(question string) ([]qaoa.Turn, *convert.Reject) {
	if strings.TrimSpace(question) == "" {
		return nil, convert.Rejectf(convert.NoQuery, "/question", "want a question, have none")
	}
	var turns []qaoa.Turn
	speaker := "user"
	for line := range strings.Lines(question) {
		switch {
		case strings.HasPrefix(line, "user:"):
			speaker, line = "user", strings.TrimPrefix(line, "user:")
			turns = append(turns, qaoa.Turn{})
		case strings.HasPrefix(line, "system:"):
			speaker, line = "system", strings.TrimPrefix(line, "system:")
			line = strings.TrimLeft(line, " ")
		case turns == nil:
			turns = append(turns, qaoa.Turn{})
		}
		if turns == nil {
			return nil, convert.Rejectf(convert.BadFlow, "/question", "want the user to speak first, have %.60q", question)
		}
		last := &turns[len(turns)-1]
		if speaker == "user" {
			last.Query += line
		} else {
			last.Answer += line
		}
	}
	if speaker != "user" {
		return nil, convert.Rejectf(convert.BadFlow, "/question", "want the user to speak last, have %.60q", question)
	}
	if len(turns) == 1 && !c.strict {
		return []qaoa.Turn{{Query: question}}, nil
	}
	for i := range turns {
		turns[i].Query = strings.TrimSpace(turns[i].Query)
		turns[i].Answer = strings.TrimSpace(turns[i].Answer)
	}
	return turns, nil
}

// calls returns the gold calls and the tools on offer: in the profile Strict
// all, else those called, in the order of the calls.
func (c *converter) calls(v, truth qaoa.Value) ([]qaoa.Call, []qaoa.Tool, *convert.Reject) {
	if truth.Kind != qaoa.Object || len(truth.Members) == 0 {
		return nil, nil, convert.Rejectf(convert.NoCall, "", "want gold calls as {name: arguments}, have %.60s", truth.JSON())
	}
	functions, rej := convert.Field(v, "", "function", qaoa.Array)
	if rej != nil {
		return nil, nil, rej
	}
	all := make([]qaoa.Tool, len(functions.Items))
	index := map[string]int{} // the first of each name
	for i, f := range functions.Items {
		t, err := convert.NormalizeTool(f)
		if err != nil {
			return nil, nil, convert.Rejectf(convert.ParseError, fmt.Sprintf("/function/%d", i), "%v", err)
		}
		all[i] = t
		if _, ok := index[t.Name]; !ok {
			index[t.Name] = i
		}
	}
	var calls []qaoa.Call
	var called []qaoa.Tool
	offered := map[string]bool{}
	for _, m := range truth.Members {
		name := m.Name
		if _, ok := index[name]; !ok {
			// Names of tools may end in a number, so it is cut off only where
			// that makes one.
			if _, ok := index[withoutNumber(name)]; ok {
				name = withoutNumber(name)
			}
		}
		calls = append(calls, qaoa.Call{Name: name, Arguments: m.Value.JSON()})
		if i, ok := index[name]; ok && !offered[name] {
			offered[name] = true
			called = append(called, all[i])
		}
	}
	if c.strict {
		return calls, all, nil
	}
	return calls, called, nil
}

// withoutNumber returns name without _ and digits at its end.
func withoutNumber(name string) string {
	cut := strings.TrimRight(name, "0123456789")
	if len(cut) < len(name) && strings.HasSuffix(cut, "_") {
		return cut[:len(cut)-1]
	}
	return name
}
