package openaichat

import (
	"context"
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "openai".
var Source = convert.Source{
	Name:    "openai",
	Kind:    convert.Train,
	Home:    "https://platform.openai.com/docs/api-reference/chat",
	Licence: "that of the data",
	About:   "messages with tools and tool_calls: fine-tuning rows and batches",
	Files: []convert.File{
		{Glob: "*.jsonl", Role: convert.Records, Note: "conversations or requests, one a line"},
		{Glob: "*.json", Role: convert.Records, Note: "a JSON array of conversations or requests"},
		{Glob: "*.parquet", Role: convert.Records, Note: "conversations, one a row"},
	},
	Open: open,
}

// A converter holds the options of one conversion, and the tools it has seen.
type converter struct {
	terms convert.Terms
	cache convert.ToolCache
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	return c.convert, nil
}

// convert is the Func of this source.
func (c *converter) convert(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	var r row
	if !r.read(string(el.Data), "") {
		// What a string cannot hold is mended, and the element tried again.
		text, err := qaoa.Compact(el.Data)
		if r = (row{}); err != nil || !r.read(string(text), "") {
			return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object with messages, have %.60q", el.Data)}
		}
	}
	rec, rej := c.record(r)
	if rej != nil {
		rej.ID = rec.ID
		return nil, []*convert.Reject{rej}
	}
	return []qaoa.Record{rec}, nil
}

// A row is the members of an element that are used, as raw JSON, and the paths
// of those that have several places.
type row struct {
	messages, messagesPath string
	tools, toolsPath       string
	preferred              string
	id, customID           string
}

// read reports whether text is an object, and takes its members; path is where
// it stands in the element: "", or the name of a request inside of it.
func (r *row) read(text, path string) bool {
	sound := true
	return qaoa.EachMember(text, func(name, value string) bool {
		switch name {
		case "messages":
			r.messages, r.messagesPath = value, path+"/messages"
		case "tools", "functions":
			if value != "null" && (name == "tools" || r.tools == "") {
				r.tools, r.toolsPath = value, path+"/"+name
			}
		case "id":
			if path == "" {
				r.id = value
			}
		case "custom_id":
			r.customID = value
		case "preferred_output":
			r.preferred = value
		case "body", "input":
			if path == "" && strings.HasPrefix(value, "{") {
				sound = r.read(value, "/"+name)
			}
		}
		return sound
	}) && sound
}

// record converts one element.
func (c *converter) record(r row) (rec qaoa.Record, rej *convert.Reject) {
	for _, id := range []string{r.customID, r.id} {
		if rec.ID == "" && id != "null" {
			rec.ID = convert.RawText(id)
		}
	}
	if r.messages == "" {
		return rec, convert.Rejectf(convert.ParseError, "", `want a member "messages" (or a "body" or "input" that has one), have none`)
	}
	var chat convert.Chat
	if rej := addMessages(&chat, r.messages, r.messagesPath); rej != nil {
		return rec, rej
	}
	if r.preferred != "" && r.preferred != "null" {
		if rej := addMessages(&chat, r.preferred, "/preferred_output"); rej != nil {
			return rec, rej
		}
	}
	if r.tools != "" {
		if rec.Tools, rej = c.cache.Tools(convert.RawText(r.tools), r.toolsPath, &chat.Notes); rej != nil {
			return rec, rej
		}
	}
	if rej := chat.Finish(&rec, r.messagesPath); rej != nil {
		return rec, rej
	}
	return rec, c.terms.Check(rec)
}

// addMessages adds the messages of a list, or of a text that holds one.
func addMessages(chat *convert.Chat, raw, path string) (rej *convert.Reject) {
	n := 0
	array := qaoa.EachItem(raw, func(item string) bool {
		at := path + "/" + strconv.Itoa(n)
		n++
		var done bool
		if done, rej = addPlain(chat, item, at); done {
			return rej == nil
		}
		m, err := qaoa.ParseValue(item)
		if err != nil {
			rej = convert.Rejectf(convert.ParseError, at, "%v", err)
			return false
		}
		rej = addMessage(chat, m, at)
		return rej == nil
	})
	if array || rej != nil {
		return rej
	}
	v, err := qaoa.ParseValue(raw)
	if err != nil {
		return convert.Rejectf(convert.ParseError, path, "want a list of messages, have %.60s", raw)
	}
	return chat.AddAll(v, path)
}

// addMessage adds a message, and what only this form has: a refusal.
func addMessage(chat *convert.Chat, m qaoa.Value, path string) *convert.Reject {
	if rej := chat.Add(m, path); rej != nil {
		return rej
	}
	if refusal, _ := m.Get("refusal"); refusal.Kind == qaoa.String {
		if role, _ := m.Get("role"); convert.SpeakerOf(role.Text) == convert.Assistant {
			chat.Text(refusal.Text)
		}
	}
	return nil
}
