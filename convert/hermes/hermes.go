package hermes

import (
	"context"
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// Source is the source "hermes".
var Source = convert.Source{
	Name:    "hermes",
	Kind:    convert.Train,
	Home:    "https://huggingface.co/datasets/interstellarninja/hermes_reasoning_tool_use",
	Licence: "Apache-2.0",
	About:   "Hermes reasoning tool use (Tool-Calling): calls in tags, with reasoning before them",
	Files: []convert.File{
		{Glob: "train-*.parquet", Role: convert.Records, Note: "the 51,004 rows, one shard"},
		{Glob: "*UIGEN-X*.json", Role: convert.Records, Note: "the same grammar under the name of the paper's release"},
		{Glob: "*UIGEN-X*.jsonl", Role: convert.Records, Note: "the same grammar under the name of the paper's release"},
		{Glob: "*hermes*.json", Role: convert.Records, Note: "a dump"},
		{Glob: "*hermes*.jsonl", Role: convert.Records, Note: "a dump as JSON lines"},
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
	scenario := scenarioOf(v)
	if scenario == "relevance" {
		return rec, convert.Rejectf(convert.IrrelevantType, "/scenario_category", "the scenario relevance holds no calls")
	}
	list, path := convert.FirstOf(v, "conversations", "messages", "conversation")
	chat := convert.Chat{Tags: true}
	if rej := chat.AddAll(list, path); rej != nil {
		return rec, rej
	}
	var extra []qaoa.Member
	if scenario != "" {
		extra = append(extra, qaoa.Member{Name: "category", Value: qaoa.StringValue(scenario)})
	}
	for _, m := range []struct{ name, key string }{{"task", "task"}, {"topic", "category"}, {"seed", "source"}} {
		if s, _ := v.Get(m.key); s.Kind == qaoa.String && s.Text != "" {
			extra = append(extra, qaoa.Member{Name: m.name, Value: s})
		}
	}
	if rec.Tools, rej = readTools(v, &chat, path); rej != nil {
		return rec, rej
	}
	if rej := chat.Finish(&rec, path, extra...); rej != nil {
		return rec, rej
	}
	return rec, c.terms.Check(rec)
}

// readTools returns the tools of the column, or else of the system text.
func readTools(v qaoa.Value, chat *convert.Chat, path string) ([]qaoa.Tool, *convert.Reject) {
	column, _ := v.Get("tools")
	if column.Kind != qaoa.String || strings.TrimSpace(column.Text) != "" {
		list, rung := convert.DecodeValue(column)
		tools, rej := convert.ReadTools(list, "/tools")
		if rej != nil || len(tools) > 0 {
			chat.Notes.Rung(rung)
			return tools, rej
		}
	}
	// The text may speak of the tags before it uses them: those blocks hold no
	// tool.
	blocks, _, _ := convert.CutTags(chat.SystemText(), "tools")
	for _, block := range blocks {
		tools, rej := convert.ToolsInText(block, path, &chat.Notes)
		if rej != nil || len(tools) > 0 {
			return tools, rej
		}
	}
	return nil, nil
}

// scenarioOf returns the scenario in one spelling: the publisher writes
// multi_turn and multiturn, single_turn and single.
func scenarioOf(v qaoa.Value) string {
	s, _ := v.Get("scenario_category")
	word := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s.Text))
	if word == "singleturn" {
		return "single"
	}
	return word
}
