package vikhr

import (
	"context"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "vikhr".
var Source = convert.Source{
	Name:    "vikhr",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/Vikhrmodels/tool-plannings-v0.2",
	Licence: "Apache-2.0",
	About:   "Vikhr tool plannings: plans, calls and refusals in English and Russian",
	Files: []convert.File{
		{Glob: "full_dataset/train-*.parquet", Role: convert.Records, Note: "all configurations together, 9,546 rows"},
		{Glob: "full_dataset/*.parquet", Role: convert.Extra, Note: "valid and test split, 100 rows each"},
		{Glob: "single_request/*.parquet", Role: convert.Extra, Note: "one request, 1,298 rows of full_dataset"},
		{Glob: "multiple_request/*.parquet", Role: convert.Extra, Note: "several requests, 3,326 rows of full_dataset"},
		{Glob: "rejected_by_required/*.parquet", Role: convert.Extra, Note: "refusals, 2,461 rows of full_dataset"},
		{Glob: "rejected_by_unavailable/*.parquet", Role: convert.Extra, Note: "refusals, 2,461 rows of full_dataset"},
		{Glob: "*tool-plannings*.json", Role: convert.Records, Note: "a dump"},
		{Glob: "*tool-plannings*.jsonl", Role: convert.Records, Note: "a dump as JSON lines"},
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
	list, path := convert.FirstOf(v, "conversation", "conversations", "messages")
	var chat convert.Chat
	if rej := chat.AddAll(list, path); rej != nil {
		return rec, rej
	}
	column, _ := v.Get("tools")
	tools, rung := convert.DecodeValue(column)
	chat.Notes.Rung(rung)
	if rec.Tools, rej = convert.ReadTools(tools, "/tools"); rej != nil {
		return rec, rej
	}
	var extra []qaoa.Member
	if id, _ := v.Get("id"); id.Kind == qaoa.Number || id.Kind == qaoa.String {
		extra = append(extra, qaoa.Member{Name: "id", Value: id})
	}
	if rej := chat.Finish(&rec, path, extra...); rej != nil {
		return rec, rej
	}
	return rec, c.terms.Check(rec)
}
