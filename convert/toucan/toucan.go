package toucan

import (
	"cmp"
	"context"
	"strings"

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
	Open: open,
}

type converter struct {
	strict  bool
	foreign func(text string) bool
	cache   convert.ToolCache
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	c := &converter{strict: in.Options.Profile == convert.Strict}
	if in.Options.Language != "" {
		var err error
		if c.foreign, err = convert.LanguageRule(in.Options.Language, "off"); err != nil {
			return nil, err
		}
	}
	return c.convert, nil
}

// A row is the columns of an element that are used, as raw JSON.
type row struct{ uuid, subset, messages, available, tools string }

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
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
		return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object with messages and available_tools, have %.60q", el.Data)}
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
	chat, rej := readMessages(convert.RawText(r.messages))
	if rej != nil {
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
	var extra []qaoa.Member
	if subset != "" {
		extra = []qaoa.Member{{Name: "subset", Value: qaoa.StringValue(subset)}}
	}
	if rej := chat.Finish(&rec, "/messages", extra...); rej != nil {
		return rec, rej
	}
	rec.System = "" // it declares the tools once more, and nothing else
	if rej := convert.CheckLanguage(rec, c.foreign); rej != nil {
		return rec, rej
	}
	if c.strict {
		return rec, convert.CheckStrict(rec)
	}
	return rec, nil
}

// readMessages reads the column messages: by plain means if all messages are
// of the form that nearly all have, else by a tree.
func readMessages(text string) (*convert.Chat, *convert.Reject) {
	chat := new(convert.Chat)
	sound := true
	array := qaoa.EachItem(text, func(item string) bool {
		sound = plainMessage(chat, item)
		return sound
	})
	if array && sound {
		return chat, nil
	}
	chat = new(convert.Chat)
	return chat, chat.AddAll(qaoa.StringValue(text), "/messages")
}

// plainMessage adds a message, and reports whether it could: it has no other
// members than role, content, name, reasoning_content and function_call with a
// name and arguments in a text, and is not out of place.
func plainMessage(chat *convert.Chat, item string) bool {
	var role, content, name, reasoning string
	var call qaoa.Call
	sound, called := true, false
	object := qaoa.EachMember(item, func(key, value string) bool {
		switch key {
		case "role":
			role, sound = qaoa.Unquote(value)
		case "content":
			content, sound = qaoa.Unquote(value)
		case "name":
			name, sound = qaoa.Unquote(value)
		case "reasoning_content":
			reasoning, sound = qaoa.Unquote(value)
		case "function_call":
			called = true
			call, sound = plainCall(value)
		default:
			sound = false
		}
		return sound
	})
	if !object || !sound {
		return false
	}
	speaker := convert.SpeakerOf(role)
	if speaker == convert.Assistant {
		chat.Reasoning(reasoning)
		if chat.AssistantText(content, "") != nil {
			return false
		}
		return !called || chat.Call(call, "", "") == nil
	}
	switch {
	case called || reasoning != "":
		return false
	case speaker == convert.User:
		chat.User(content)
	case speaker == convert.Tool:
		chat.Observe(name, "", content)
	case speaker == convert.System:
		chat.System(content)
	default:
		return false
	}
	return true
}

// plainCall reads {"name":"…","arguments":"{…}"}.
func plainCall(text string) (call qaoa.Call, ok bool) {
	sound := true
	object := qaoa.EachMember(text, func(key, value string) bool {
		switch key {
		case "name":
			call.Name, sound = qaoa.Unquote(value)
		case "arguments":
			var args string
			if args, sound = qaoa.Unquote(value); sound {
				var err error
				call.Arguments, err = qaoa.Compact(args)
				sound = err == nil && call.Arguments.Kind() == qaoa.Object
			}
		case "call_id":
			_, sound = qaoa.Unquote(value) // results do not refer to it
		default:
			sound = false
		}
		return sound
	})
	return call, object && sound && strings.TrimSpace(call.Name) != "" && call.Arguments != ""
}
