package hammerbench

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "hammerbench".
var Source = convert.Source{
	Name:    "hammerbench",
	Kind:    convert.Test,
	Home:    "https://huggingface.co/datasets/MadeAgents/HammerBench",
	Licence: "Apache-2.0",
	About:   "HammerBench: single-turn requests to a phone assistant, with all, no or external values",
	Files: []convert.File{
		{Glob: "single-turn/*.json", Role: convert.Records, Note: "single-turn types, one a file"},
		{Glob: "ST_*.json", Role: convert.Records, Note: "one single-turn type"},
		{Glob: "ir_ST_*.json", Role: convert.Records, Note: "one single-turn type without its tool, rejected"},
		{Glob: "en/single-turn.json", Role: convert.Records, Note: "all single-turn types, as on the hub"},
		{Glob: "single-turn.json", Role: convert.Records, Note: "all single-turn types, as on the hub"},
		{Glob: "zh/single-turn/*.json", Role: convert.Extra, Note: "Chinese"},
		{Glob: "zh/single-turn.json", Role: convert.Extra, Note: "Chinese"},
		{Glob: "multi-turn/*.json", Role: convert.Extra, Note: "dialogues that fill slots, rejected"},
		{Glob: "HammerBench_*.json", Role: convert.Extra, Note: "dialogues that fill slots, rejected"},
		{Glob: "multi-turn.json", Role: convert.Extra, Note: "dialogues that fill slots, rejected"},
		{Glob: "snapshot_id/*.json", Role: convert.Side, Note: "indices of turns, not read"},
		{Glob: "snap_shot_id_*.json", Role: convert.Side, Note: "indices of turns, not read"},
	},
	Open: open,
}

// A converter holds the options of one conversion.
type converter struct {
	strict  bool
	foreign func(text string) bool
}

func open(_ context.Context, in convert.Input) (convert.Func, error) {
	foreign, err := convert.LanguageRule(in.Options.Language, "cjk")
	if err != nil {
		return nil, err
	}
	c := &converter{strict: in.Options.Profile == convert.Strict, foreign: foreign}
	return convert.One(c.record), nil
}

// record converts one element.
func (c *converter) record(el convert.Element) (qaoa.Record, *convert.Reject) {
	var rec qaoa.Record
	v, rej := convert.ParseObject(el)
	if rej != nil {
		return rec, rej
	}
	kind, index := typeOf(v, el.Pos)
	if kind != "" {
		rec.ID = fmt.Sprintf("single-turn_%04d_%s", index, kind)
	}
	messages, rej := convert.Field(v, "", "messages", qaoa.Array)
	if rej != nil {
		return rec, rej
	}
	if rej := wanted(kind, len(messages.Items)); rej != nil {
		rec.ID = "" // it would be named as a single turn
		if id, _ := v.Get("id"); id.Kind == qaoa.String {
			rec.ID = id.Text
		}
		return rec, rej
	}
	query, rej := c.query(messages)
	if rej != nil {
		return rec, rej
	}
	call, rej := callOf(messages)
	if rej != nil {
		return rec, rej
	}
	offered, found, rej := c.tools(v, call.Name)
	if rej != nil {
		return rec, rej
	}
	if kind == "" && !found {
		// A twin whose file was renamed is known by its missing tool.
		return rec, convert.Rejectf(convert.IrrelevantType, "/multiple_tools",
			"want a list with the tool %.60q that is called, have %d others", call.Name, len(offered))
	}
	rec.Tools = offered
	rec.Turns = []qaoa.Turn{{Query: query, Steps: []qaoa.Step{{Calls: []qaoa.Call{call}}}}}
	if kind != "" {
		rec.Meta = qaoa.ObjectValue(qaoa.Member{Name: "category", Value: qaoa.StringValue(kind)}).JSON()
	}
	if c.strict {
		return rec, convert.CheckStrict(rec)
	}
	return rec, nil
}

// typeOf returns the type of an element, as in ST-External, and the index of
// its conversation in that type. The type is "" if neither the id nor the name
// of the file tells it.
func typeOf(v qaoa.Value, pos qaoa.Pos) (kind string, index int) {
	if id, _ := v.Get("id"); id.Kind == qaoa.String {
		parts := strings.Split(id.Text, "_")
		if n := len(parts) - 2; n > 0 {
			conversation, err1 := strconv.Atoi(parts[n])
			_, err2 := strconv.Atoi(parts[n+1])
			if err1 == nil && err2 == nil && conversation >= 0 {
				return hyphens(strings.Join(parts[:n], "_")), conversation
			}
		}
	}
	name := path.Base(pos.File)
	for _, suffix := range []string{".gz", ".zst", ".json", ".jsonl"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if rest, ok := strings.CutPrefix(name, "HammerBench_"); ok {
		return hyphens(rest), pos.Index
	}
	if strings.HasPrefix(name, "ST_") || strings.HasPrefix(name, "ir_") || name == "multi-turn" {
		return hyphens(name), pos.Index
	}
	return "", pos.Index
}

// hyphens writes a type as the paper's IDs do.
func hyphens(kind string) string { return strings.ReplaceAll(kind, "_", "-") }

// wanted returns why elements of that type, with that many messages, are not
// converted.
func wanted(kind string, messages int) *convert.Reject {
	switch {
	case strings.HasPrefix(kind, "ir-"):
		return convert.Rejectf(convert.IrrelevantType, "", "want a type whose tool is on offer, have %.40q", kind)
	case kind != "" && !strings.HasPrefix(kind, "ST-"):
		return convert.Rejectf(convert.MultiTurnSlotFilling, "", "want a single-turn type (ST-Perfect, ST-Imperfect, ST-External), have %.40q", kind)
	case messages > 2:
		return convert.Rejectf(convert.MultiTurnSlotFilling, "/messages", "want a user message and a call, have %d messages", messages)
	}
	return nil
}

// query returns the text of the user.
func (c *converter) query(messages qaoa.Value) (string, *convert.Reject) {
	if len(messages.Items) == 0 {
		return "", convert.Rejectf(convert.NoQuery, "/messages", "want a user message, have no message")
	}
	m := messages.Items[0]
	role, _ := m.Get("role")
	content, _ := m.Get("content")
	if role.Text != "user" || content.Kind != qaoa.String || strings.TrimSpace(content.Text) == "" {
		return "", convert.Rejectf(convert.NoQuery, "/messages/0", "want a user message with a text, have %.80s", m.JSON())
	}
	if c.foreign(content.Text) {
		return "", convert.Rejectf(convert.NonEnglish, "/messages/0/content", "the query breaks the language rule: %.60q", content.Text)
	}
	return content.Text, nil
}

// callOf returns the call in the second message, an object or its JSON text.
func callOf(messages qaoa.Value) (qaoa.Call, *convert.Reject) {
	var call qaoa.Call
	if len(messages.Items) < 2 {
		return call, convert.Rejectf(convert.NoCall, "/messages", "want a call after the user message, have none")
	}
	m := messages.Items[1]
	if role, _ := m.Get("role"); role.Text != "function call" && role.Text != "function_call" {
		return call, convert.Rejectf(convert.NoCall, "/messages/1/role", "want a function call, have %.40q", role.Text)
	}
	content, _ := m.Get("content")
	if content.Kind == qaoa.String {
		inner, err := qaoa.ParseValue(content.Text)
		if err != nil {
			return call, convert.Rejectf(convert.BadCallJSON, "/messages/1/content", "want a call, have a text that is %v", err)
		}
		content = inner
	}
	name, _ := content.Get("name")
	if name.Kind != qaoa.String || name.Text == "" {
		return call, convert.Rejectf(convert.BadCallJSON, "/messages/1/content", "want an object with a name and arguments, have %.80s", content.JSON())
	}
	args, ok := content.Get("arguments")
	switch {
	case !ok || args.Kind == qaoa.Null:
		args = qaoa.ObjectValue()
	case args.Kind != qaoa.Object:
		return call, convert.Rejectf(convert.ArgumentsNotObject, "/messages/1/content/arguments", "want an object, have %.60s", args.JSON())
	}
	return qaoa.Call{Name: name.Text, Arguments: args.JSON()}, nil
}

// tools returns the tools on offer, and whether the one with that name is
// among them. The profile Paper offers no other.
func (c *converter) tools(v qaoa.Value, name string) (offered []qaoa.Tool, found bool, rej *convert.Reject) {
	list, rej := convert.Field(v, "", "multiple_tools", qaoa.Array)
	if rej != nil {
		return nil, false, rej
	}
	for i, item := range list.Items {
		have, _ := item.Get("name")
		called := have.Text == name
		if !c.strict && (!called || found) {
			continue
		}
		t, err := convert.NormalizeTool(item)
		if err != nil {
			return nil, false, convert.Rejectf(convert.ParseError, fmt.Sprintf("/multiple_tools/%d", i), "%v", err)
		}
		found = found || called
		offered = append(offered, t)
	}
	return offered, found, nil
}
