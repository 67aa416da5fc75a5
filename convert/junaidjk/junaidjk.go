package junaidjk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "junaidjk".
var Source = convert.Source{
	Name:    "junaidjk",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/Junaidjk/function_calling",
	Licence: "Apache-2.0",
	About:   "Junaidjk function calling: dialogues in the way of Glaive, as one CSV file",
	Files: []convert.File{
		{Glob: "merged_data.csv", Role: convert.Records, Note: "all rows, about 24,900"},
		{Glob: "*merged_data*.jsonl", Role: convert.Records, Note: "the rows as JSON lines, an object of header and text each"},
	},
	Open: open,
}

type converter struct {
	terms   convert.Terms
	columns map[role]string // from the option map, or empty
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	terms, err := convert.TermsOf(in.Options)
	if err != nil {
		return nil, err
	}
	c := &converter{terms: terms}
	for _, name := range slices.Sorted(maps.Keys(in.Options.Map)) {
		if !slices.Contains(roles, role(name)) {
			return nil, fmt.Errorf("map %s=%s: want one of the roles %v", name, in.Options.Map[name], roles)
		}
		if c.columns == nil {
			c.columns = map[role]string{}
		}
		c.columns[role(name)] = in.Options.Map[name]
	}
	return convert.One(c.record), nil
}

// record converts one row.
func (c *converter) record(el convert.Element) (rec qaoa.Record, rej *convert.Reject) {
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return rec, rej
	}
	row, rej := c.row(v)
	if rej != nil {
		return rec, rej
	}
	chat := convert.Chat{Markers: true}
	path := row[chatRole].path()
	system := row[systemRole].value.Text
	chat.System(system)
	switch {
	case row[messagesRole].header != "":
		path = row[messagesRole].path()
		rej = chat.AddAll(row[messagesRole].value, path)
	case row[chatRole].header != "":
		rej = addChat(&chat, convert.ContentText(row[chatRole].value), path)
	default:
		path = row[callsRole].path()
		rej = addCalls(&chat, row, path)
	}
	if rej != nil {
		return rec, rej
	}
	if tools := row[toolsRole]; tools.header != "" {
		list, rung := convert.DecodeValue(tools.value)
		chat.Notes.Rung(rung)
		rec.Tools, rej = convert.ReadTools(list, tools.path())
	} else {
		rec.Tools, rej = convert.ToolsInText(chat.SystemText(), row[systemRole].path(), &chat.Notes)
	}
	if rej != nil {
		return rec, rej
	}
	if rej := chat.Finish(&rec, path); rej != nil {
		return rec, rej
	}
	return rec, c.terms.Check(rec)
}

// addCalls adds the one turn of a row that has its parts in columns.
func addCalls(chat *convert.Chat, row map[role]column, path string) *convert.Reject {
	chat.User(convert.ContentText(row[queryRole].value))
	calls, rung := convert.DecodeValue(row[callsRole].value)
	chat.Notes.Rung(rung)
	if calls.Kind != qaoa.Array {
		calls = qaoa.ArrayValue(calls)
	}
	for i, item := range calls.Items {
		at := fmt.Sprintf("%s/%d", path, i)
		call, rej := chat.Notes.Call(item, at)
		if rej == nil {
			rej = chat.Call(call, "", at)
		}
		if rej != nil {
			return rej
		}
	}
	return chat.AssistantText(convert.ContentText(row[answerRole].value), row[answerRole].path())
}

// speakers are the words that begin the messages of a chat.
var speakers = []struct {
	word string
	who  convert.Speaker
}{
	{"USER:", convert.User},
	{"ASSISTANT:", convert.Assistant},
	{"A:", convert.Assistant}, // a few rows have the word cut
	{"FUNCTION RESPONSE:", convert.Tool},
	{"SYSTEM:", convert.System},
}

// addChat adds the messages of a chat in one text. A message begins with the
// word of its speaker, which is at the beginning of the text or of a line, or
// behind the end marker of the message before; in a text without line breaks,
// behind a blank.
func addChat(chat *convert.Chat, text, path string) *convert.Reject {
	type message struct {
		who        convert.Speaker
		from, word int
	}
	var messages []message
	oneLine := !strings.Contains(strings.TrimSpace(text), "\n")
	for i := 0; i < len(text); i++ {
		if i > 0 && text[i-1] != '\n' && text[i-1] != '>' && text[i-1] != ' ' {
			continue
		}
		for _, s := range speakers {
			if !strings.HasPrefix(text[i:], s.word) || !begins(text[:i], oneLine && s.word != "A:") {
				continue
			}
			messages = append(messages, message{s.who, i + len(s.word), i})
			i += len(s.word) - 1
			break
		}
	}
	if len(messages) == 0 {
		return convert.Rejectf(convert.ParseError, path, "want a chat with USER: and ASSISTANT:, have %.80q", text)
	}
	for n, m := range messages {
		end := len(text)
		if n+1 < len(messages) {
			end = messages[n+1].word
		}
		body := strings.TrimSpace(strings.ReplaceAll(text[m.from:end], "<|endoftext|>", ""))
		switch m.who {
		case convert.User:
			chat.User(body)
		case convert.Tool:
			chat.Observe("", "", body)
		case convert.System:
			chat.System(body)
		default:
			if rej := chat.AssistantText(body, path); rej != nil {
				return rej
			}
		}
	}
	return nil
}

// begins reports whether a message can begin behind before.
func begins(before string, anywhere bool) bool {
	trimmed := strings.TrimRight(before, " \t")
	return anywhere || trimmed == "" || strings.HasSuffix(trimmed, "\n") || strings.HasSuffix(trimmed, "<|endoftext|>")
}
