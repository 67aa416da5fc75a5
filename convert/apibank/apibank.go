package apibank

import (
	"context"
	"fmt"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "api-bank".
var Source = convert.Source{
	Name:    "api-bank",
	Kind:    convert.Test,
	Home:    "https://github.com/AlibabaResearch/DAMO-ConvAI/tree/main/api-bank",
	Licence: "Apache-2.0",
	About:   "API-Bank level 3: several calls that build on each other",
	Files: []convert.File{
		{Glob: "level-3.json", Role: convert.Records, Note: "level 3"},
		{Glob: "level-3-batch-inf.json", Role: convert.Extra, Note: "the requests of level 3 as text"},
		{Glob: "level-3-batch-inf-response.json", Role: convert.Extra, Note: "the dialogues of level 3 as text"},
		{Glob: "level-1-api.json", Role: convert.Extra, Note: "rejected: level 1 needs user turns"},
		{Glob: "level-1-response.json", Role: convert.Extra, Note: "rejected: level 1 needs user turns"},
		{Glob: "level-2-api.json", Role: convert.Extra, Note: "rejected: level 2 needs user turns"},
		{Glob: "level-2-response.json", Role: convert.Extra, Note: "rejected: level 2 needs user turns"},
		{Glob: "*-level-1-*.jsonl", Role: convert.Extra, Note: "rejected: level 1 needs user turns"},
		{Glob: "*-level-2-*.jsonl", Role: convert.Extra, Note: "rejected: level 2 needs user turns"},
		{Glob: "*-level-3-*.jsonl", Role: convert.Trap, Note: "dialogues of level 2, whatever the name says"},
		{Glob: "lv[123]-*train.json", Role: convert.Trap, Note: "training data, for api-bank-train"},
		{Glob: "lv[123]-train.json", Role: convert.Trap, Note: "training data, for api-bank-train"},
	},
	Open: open,
}

// searcher is the tool that finds other tools.
const searcher = "ToolSearcher"

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

// record converts one element, whose form tells which file it is from.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return qaoa.Record{}, rej
	}
	b := builder{keepAll: c.strict}
	var rec qaoa.Record
	switch {
	case has(v, "apis"), has(v, "requirement"):
		rec, rej = c.fromTree(v, &b)
	case has(v, "sample_id"):
		rec, rej = fromText(v, &b)
	case has(v, "expected_output"), has(v, "role"):
		return rec, convert.Rejectf(convert.NeedsUserTurns, "", "levels 1 and 2 need what the user says between the calls; want level-3.json")
	default:
		return rec, convert.Rejectf(convert.ParseError, "", "want requirement, response and apis, have none of them")
	}
	if rej != nil {
		return rec, rej
	}
	if query := rec.Turns[0].Query; query == "" {
		return rec, convert.Rejectf(convert.NoQuery, "", "want what the user says, have nothing")
	} else if c.foreign(query) {
		return rec, convert.Rejectf(convert.NonEnglish, "", "the query breaks the language rule: %.60q", query)
	}
	if c.strict {
		rej = convert.CheckStrict(rec)
	}
	return rec, rej
}

func has(v qaoa.Value, name string) bool {
	_, ok := v.Get(name)
	return ok
}

// fromTree converts an element of level-3.json.
func (c *converter) fromTree(v qaoa.Value, b *builder) (qaoa.Record, *convert.Reject) {
	var rec qaoa.Record
	query, rej := convert.Field(v, "", "requirement", qaoa.String)
	if rej != nil {
		rej.Code = convert.NoQuery
		return rec, rej
	}
	apis, rej := convert.Field(v, "", "apis", qaoa.Array)
	if rej != nil {
		rej.Code = convert.NoCall
		return rec, rej
	}
	for i, api := range apis.Items {
		path := fmt.Sprintf("/apis/%d", i)
		name, rej := convert.Field(api, path, "api_name", qaoa.String)
		if rej != nil {
			rej.Code = convert.BadCallJSON
			return rec, rej
		}
		result, _ := api.Get("output")
		if name.Text == searcher {
			output, _ := result.Get("output")
			if err := b.found(output); err != nil {
				return rec, convert.Rejectf(convert.ParseError, path+"/output/output", "%v", err)
			}
			continue
		}
		input, rej := convert.Field(api, path, "input", qaoa.Object)
		if rej != nil {
			rej.Code = convert.ArgumentsNotObject
			return rec, rej
		}
		if !c.strict {
			input = asText(input)
		}
		b.call(name.Text, input, observation(result))
	}
	if len(b.steps) == 0 {
		return rec, convert.Rejectf(convert.NoCall, "/apis", "want a call besides searches of tools, have none")
	}
	response, _ := v.Get("response")
	rec.Tools = b.tools()
	rec.Turns = []qaoa.Turn{{Query: strings.TrimSpace(query.Text), Steps: b.finish(), Answer: response.Text}}
	return rec, nil
}

// observation returns what a result says: its output, or else its exception.
func observation(result qaoa.Value) string {
	for _, name := range []string{"output", "exception"} {
		switch v, _ := result.Get(name); v.Kind {
		case qaoa.Invalid, qaoa.Null:
		case qaoa.String:
			return v.Text
		default:
			return string(v.JSON())
		}
	}
	return ""
}

// asText returns the object v with every value as the text that Python's str
// makes of it.
func asText(v qaoa.Value) qaoa.Value {
	out := qaoa.ObjectValue()
	for _, m := range v.Members {
		text := m.Value.Text
		if m.Value.Kind != qaoa.String {
			text = string(appendRepr(nil, m.Value))
		}
		out.Members = append(out.Members, qaoa.Member{Name: m.Name, Value: qaoa.StringValue(text)})
	}
	return out
}

// appendRepr appends v as Python's repr writes it: True, None, [1, 'a'].
func appendRepr(dst []byte, v qaoa.Value) []byte {
	switch v.Kind {
	case qaoa.Null:
		return append(dst, "None"...)
	case qaoa.Bool:
		if v.Text == "true" {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case qaoa.String:
		return appendQuoted(dst, v.Text)
	case qaoa.Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendRepr(dst, item)
		}
		return append(dst, ']')
	case qaoa.Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendQuoted(dst, m.Name), ": "...)
			dst = appendRepr(dst, m.Value)
		}
		return append(dst, '}')
	}
	return append(dst, v.Text...)
}

// appendQuoted appends s in single quotes, or in double ones if it holds single
// and no double quotes, as Python does.
func appendQuoted(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, c := range []byte(s) {
		switch c {
		case quote, '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, quote)
}
