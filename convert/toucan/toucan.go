package toucan

import (
	"bytes"
	"cmp"
	"context"
	"sync"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "toucan".
var Source = convert.Source{
	Name:    "toucan",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/Agent-Ark/Toucan-1.5M",
	Licence: "Apache-2.0",
	About:   "Toucan-1.5M: conversations of three teachers with tools of real MCP servers",
	Files: []convert.File{
		{Glob: "Kimi-K2/train-*.parquet", Role: convert.Records, Note: "teacher Kimi-K2, 40 shards, 518,516 rows"},
		{Glob: "OSS/train-*.parquet", Role: convert.Records, Note: "teacher GPT-OSS-120B, 47 shards, 457,130 rows"},
		{Glob: "Qwen3/train-*.parquet", Role: convert.Records, Note: "teacher Qwen3-32B, 44 shards, 551,613 rows"},
		{Glob: "SFT/train-*.parquet", Role: convert.Extra, Note: "a re-shaped part of Kimi-K2, which the paper does not use"},
		{Glob: "*toucan*.jsonl", Role: convert.Records, Note: "a dump as JSON lines"},
		{Glob: "train-*.parquet", Role: convert.Records, Note: "shards without the folder of their teacher"},
	},
	Vouches: true,
	Copies:  true,
	Open:    open,
}

type converter struct {
	terms   convert.Terms
	cache   convert.ToolCache
	buffers sync.Pool // of *buffers
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	return c.convert, nil
}

// A row is the columns of an element that are used, as raw JSON.
type row struct{ uuid, subset, messages, available, tools string }

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	rec, rej, ok := c.plain(el)
	switch {
	case ok:
	case !el.Valid:
		return nil, nil
	default:
		rec, rej = c.odd(el)
	}
	if rej != nil {
		rej.ID = rec.ID
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// odd is convert for any element, if it is valid JSON.
func (c *converter) odd(el convert.Element) (qaoa.Record, *convert.Reject) {
	el.Data = bytes.Clone(el.Data) // texts without escapes are pieces of it
	var r row
	ok := qaoa.EachMember(convert.ElementText(el), func(name, value string) bool {
		switch name {
		case "uuid":
			r.uuid = value
		case "subset_name":
			r.subset = value
		case "messages":
			r.messages = value
		case "available_tools":
			r.available = value
		case "tools":
			r.tools = value
		}
		return true
	})
	if !ok {
		return qaoa.Record{}, convert.Rejectf(convert.ParseError, "", "want an object with messages and available_tools, have %.60q", el.Data)
	}
	return c.record(r)
}

// record converts one element.
func (c *converter) record(r row) (rec qaoa.Record, rej *convert.Reject) {
	if r.uuid != "" && r.uuid != "null" {
		rec.ID = convert.RawText(r.uuid)
	}
	subset := ""
	if r.subset != "" && r.subset != "null" {
		subset = convert.RawText(r.subset)
	}
	if subset == "irrelevant" {
		return rec, convert.Rejectf(convert.IrrelevantType, "/subset_name", "the subset irrelevant holds no calls")
	}
	if r.messages == "" || r.messages == "null" {
		return rec, convert.Rejectf(convert.NoQuery, "/messages", "want a list of messages, have none")
	}
	chat := new(convert.Chat)
	if rej := chat.AddAll(qaoa.StringValue(convert.RawText(r.messages)), "/messages"); rej != nil {
		return rec, rej
	}
	path := "/available_tools"
	tools := cmp.Or(r.available, "null")
	if tools == "null" {
		path, tools = "/tools", r.tools
	}
	if tools != "" && tools != "null" {
		if rec.Tools, rej = c.cache.RawTools(tools, path, &chat.Notes); rej != nil {
			return rec, rej
		}
	}
	rej = c.finish(&rec, chat, subset)
	return rec, rej
}

// finish puts the conversation into the record and judges it.
func (c *converter) finish(rec *qaoa.Record, chat *convert.Chat, subset string) *convert.Reject {
	var extra []qaoa.Member
	if subset != "" {
		extra = []qaoa.Member{{Name: "subset", Value: qaoa.StringValue(subset)}}
	}
	if rej := chat.Finish(rec, "/messages", extra...); rej != nil {
		return rej
	}
	rec.System = "" // it declares the tools once more, and nothing else
	return c.terms.Check(*rec)
}
