package mathandmagic

import (
	"context"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "mathandmagic".
var Source = convert.Source{
	Name:    "mathandmagic",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/MathAndMagic/function-calling",
	Licence: "Apache-2.0",
	About:   "MathAndMagic function calling: dialogues of Glaive with markers around calls",
	Files: []convert.File{
		{Glob: "train-*.parquet", Role: convert.Records, Note: "the 86,864 rows, one shard"},
		{Glob: "*function-calling*.json", Role: convert.Records, Note: "a dump"},
		{Glob: "*function-calling*.jsonl", Role: convert.Records, Note: "a dump as JSON lines"},
	},
	Open: open,
}

type converter struct {
	terms convert.Terms
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	return convert.One(c.record), nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (rec qaoa.Record, rej *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return rec, rej
	}
	list, path := convert.FirstOf(v, "conversations", "messages")
	chat := convert.Chat{Markers: true}
	if rej := chat.AddAll(list, path); rej != nil {
		return rec, rej
	}
	if rec.Tools, rej = systemTools(chat.SystemText(), path, &chat.Notes); rej != nil {
		return rec, rej
	}
	if rej := chat.Finish(&rec, path); rej != nil {
		return rec, rej
	}
	return rec, c.terms.Check(rec)
}

// systemTools returns the tools of the section of available functions, which a
// rule ends.
func systemTools(system, path string, notes *convert.Notes) ([]qaoa.Tool, *convert.Reject) {
	_, section, ok := strings.Cut(system, "## Available Functions")
	if !ok {
		return nil, nil
	}
	section, _, _ = strings.Cut(section, "\n---")
	return convert.ToolsInText(section, path, notes)
}
