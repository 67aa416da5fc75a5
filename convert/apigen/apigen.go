package apigen

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "apigen".
var Source = convert.Source{
	Name:    "apigen",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/Salesforce/xlam-function-calling-60k",
	Licence: "CC-BY-4.0",
	Gated:   true,
	About:   "APIGen (xLAM-60k): synthetic single-turn calls, one or several in parallel",
	Files: []convert.File{
		{Glob: "xlam_function_calling_60k.json", Role: convert.Records, Note: "the 60,000 records, one JSON array"},
		{Glob: "*xlam*.json", Role: convert.Records, Note: "copies under other names"},
		{Glob: "*xlam*.jsonl", Role: convert.Records, Note: "the same as JSON lines"},
		{Glob: "train-*.parquet", Role: convert.Records, Note: "mirrors and conversions, the same columns"},
		{Glob: "train/*.parquet", Role: convert.Records, Note: "automatic conversions, the same columns"},
	},
	Vouches: true,
	Copies:  true,
	Cells:   true,
	Open:    open,
}

type converter struct {
	terms convert.Terms
	cache convert.ToolCache
	rows  sync.Pool // of *plainRow
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	c.cache.Unmarked = true
	return c.convert, nil
}

// A row is the columns of an element that are used, as raw JSON.
type row struct{ id, query, answers, tools, origin string }

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	if rec, ok := c.plain(el); ok {
		return []qaoa.Record{rec}, nil
	}
	if !el.Valid {
		return nil, nil
	}
	// What is made by columns may be pieces of the element.
	el.Data = bytes.Clone(el.Data)
	return c.byColumns(el)
}

// byColumns converts any element, if it is valid JSON: one that is not plain, or
// makes no record.
func (c *converter) byColumns(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	var r row
	ok := qaoa.EachMember(convert.ElementText(el), func(name, value string) bool {
		switch name {
		case "id":
			r.id = value
		case "query":
			r.query = value
		case "answers":
			r.answers = value
		case "tools":
			r.tools = value
		case "origin":
			r.origin = value
		}
		return true
	})
	if !ok {
		return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object with query, answers and tools, have %.60q", el.Data)}
	}
	rec, rej := c.record(r)
	if rej != nil {
		rej.ID = rec.ID
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// record converts one element.
func (c *converter) record(r row) (rec qaoa.Record, rej *convert.Reject) {
	if r.id != "" && r.id != "null" {
		rec.ID = convert.RawText(r.id)
	}
	query := convert.RawText(r.query)
	if !strings.HasPrefix(r.query, `"`) || strings.TrimSpace(query) == "" {
		return rec, convert.Rejectf(convert.NoQuery, "/query", "want a string with something in it, have %.60s", cmp.Or(r.query, "none"))
	}
	var notes convert.Notes
	step := qaoa.Step{}
	if step.Calls, rej = calls(r.answers, &notes); rej != nil {
		return rec, rej
	}
	if r.tools != "" && r.tools != "null" {
		if rec.Tools, rej = c.cache.RawTools(r.tools, "/tools", &notes); rej != nil {
			return rec, rej
		}
	}
	rec.Turns = []qaoa.Turn{{Query: query, Steps: []qaoa.Step{step}}}
	var extra []qaoa.Member
	if origin := convert.RawText(r.origin); origin != "" && origin != "null" {
		extra = []qaoa.Member{{Name: "origin", Value: qaoa.StringValue(origin)}}
	}
	rec.Meta = notes.Meta(extra...)
	return rec, c.terms.Check(rec)
}

// calls returns the calls of the column answers, at least one.
func calls(raw string, notes *convert.Notes) ([]qaoa.Call, *convert.Reject) {
	const path = "/answers"
	if raw == "" || raw == "null" {
		return nil, convert.Rejectf(convert.NoCall, path, "want a list of calls, have none")
	}
	text := convert.RawText(raw)
	v, rung := convert.Decode(text)
	switch {
	case v.Kind == qaoa.Object:
		v = qaoa.ArrayValue(v)
	case v.Kind != qaoa.Array:
		return nil, convert.Rejectf(convert.BadCallJSON, path, "want a list of calls, have %.80q", text)
	case len(v.Items) == 0:
		return nil, convert.Rejectf(convert.NoCall, path, "want at least one call, have an empty list")
	}
	notes.Rung(rung)
	out := make([]qaoa.Call, len(v.Items))
	for i, item := range v.Items {
		var rej *convert.Reject
		if out[i], rej = notes.Call(item, fmt.Sprintf("%s/%d", path, i)); rej != nil {
			return nil, rej
		}
	}
	return out, nil
}
