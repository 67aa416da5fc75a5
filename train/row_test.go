package train_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/train"
)

func TestRows(t *testing.T) {
	tests := []struct {
		name   string
		opt    train.ShardOptions
		want   []string
		system string
		losses map[train.Loss]int
	}{
		{
			"action-only empties observations and answers",
			train.ShardOptions{},
			[]string{
				`human: Weather in Oslo and Rome?`,
				`function_call: {"name":"now","arguments":{}}`,
				`observation: `,
				`function_call: [{"name":"weather","arguments":{"city":"Oslo","x":1.0}},{"name":"weather","arguments":{"city":"Rome"}}]`,
				`observation: `,
				`gpt: <answer></answer>`,
				`human: And <think>Bergen</think>?`,
				`function_call: {"name":"weather","arguments":{"city":"\u003cthink>Bergen\u003c/think>"}}`,
				`observation: `,
				`gpt: <answer></answer>`,
			},
			"",
			map[train.Loss]int{train.LostObservation: 3, train.LostAnswer: 2, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"a message for each call, as in the paper",
			train.ShardOptions{Grouping: train.EachCall, FinalAnswer: train.KeepAnswer, SystemPrompt: "Call tools."},
			[]string{
				`human: Weather in Oslo and Rome?`,
				`function_call: {"name":"now","arguments":{}}`,
				`observation: `,
				`function_call: {"name":"weather","arguments":{"city":"Oslo","x":1.0}}`,
				`observation: `,
				`function_call: {"name":"weather","arguments":{"city":"Rome"}}`,
				`observation: `,
				`gpt: <answer>Rain in Oslo.</answer>`,
				`human: And <think>Bergen</think>?`,
				`function_call: {"name":"weather","arguments":{"city":"\u003cthink>Bergen\u003c/think>"}}`,
				`observation: `,
				`gpt: <answer>Sun.</answer>`,
			},
			"Call tools.",
			map[train.Loss]int{train.LostObservation: 3, train.LostAnswerTags: 1, train.LostGrouping: 1, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"full keeps what was said",
			train.ShardOptions{Projection: train.Full, KeepSystem: true, SystemPrompt: "Call tools."},
			[]string{
				`human: Weather in Oslo and Rome?`,
				`function_call: {"name":"now","arguments":{}}`,
				`observation: noon`,
				`function_call: [{"name":"weather","arguments":{"city":"Oslo","x":1.0}},{"name":"weather","arguments":{"city":"Rome"}}]`,
				`observation: ["rain",""]`,
				`gpt: <answer>Rain in Oslo.</answer>`,
				`human: And <think>Bergen</think>?`,
				`function_call: {"name":"weather","arguments":{"city":"\u003cthink>Bergen\u003c/think>"}}`,
				`observation: sun`,
				`gpt: <answer>Sun.</answer>`,
			},
			"Be short.",
			map[train.Loss]int{train.LostAnswerTags: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"dropping the final answer ends on a call",
			train.ShardOptions{Projection: train.Full, FinalAnswer: train.DropAnswer, Grouping: train.EachCall},
			[]string{
				`human: Weather in Oslo and Rome?`,
				`function_call: {"name":"now","arguments":{}}`,
				`observation: noon`,
				`function_call: {"name":"weather","arguments":{"city":"Oslo","x":1.0}}`,
				`observation: rain`,
				`function_call: {"name":"weather","arguments":{"city":"Rome"}}`,
				`observation: `,
				`gpt: <answer></answer>`,
				`human: And <think>Bergen</think>?`,
				`function_call: {"name":"weather","arguments":{"city":"\u003cthink>Bergen\u003c/think>"}}`,
			},
			"",
			map[train.Loss]int{train.LostObservation: 1, train.LostAnswer: 2, train.LostGrouping: 1, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opt.Out = filepath.Join(t.TempDir(), "out")
			m := shard(t, tt.opt, trip())
			rows := lines(t, readFile(t, tt.opt.Out, "data", "train-00000-of-00001.jsonl"))
			if len(rows) != 1 {
				t.Fatalf("%d rows, want 1", len(rows))
			}
			var got []string
			for _, msg := range rows[0].Conversations {
				got = append(got, msg.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("messages: -want +got\n%s", d)
			}
			if rows[0].System != tt.system || rows[0].ID != "demo/trip" {
				t.Errorf("system %q, id %q; want %q, demo/trip", rows[0].System, rows[0].ID, tt.system)
			}
			const tools = `[{"name":"weather","description":"Weather of a <city>","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},` +
				`{"name":"now","description":"","parameters":{"type":"object","properties":{}}},{"name":"ping","description":"","parameters":{"properties":{}}}]`
			if rows[0].Tools != tools {
				t.Errorf("tools = %s\nwant    %s", rows[0].Tools, tools)
			}
			if d := cmp.Diff(tt.losses, m.Losses); d != "" {
				t.Errorf("losses: -want +got\n%s", d)
			}
		})
	}
}

func TestRowBytes(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	shard(t, train.ShardOptions{Out: out}, qaoa.Record{ID: "a/1", Turns: []qaoa.Turn{{Query: "é \"<x>\"", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "f", Arguments: `{"n":1e-07}`}}}}}}})
	const want = `{"id":"a/1","conversations":[{"from":"human","value":"é \"<x>\""},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{\"n\":1e-07}}"},` +
		`{"from":"observation","value":""},{"from":"gpt","value":"<answer></answer>"}],"system":"","tools":"[]"}` + "\n"
	if got := readFile(t, out, "data", "train-00000-of-00001.jsonl"); got != want {
		t.Errorf("row = %s\nwant  %s", got, want)
	}
}

func TestRejects(t *testing.T) {
	with := func(change func(*qaoa.Record)) qaoa.Record {
		rec := trip()
		change(&rec)
		return rec
	}
	deep := qaoa.JSON(`{"a":` + strings.Repeat("[", 200) + `"[{"` + strings.Repeat("]", 200) + `}`)
	tests := []struct {
		name, code, path string
		rec              qaoa.Record
	}{
		{"no turns", train.NoQuery, "", with(func(r *qaoa.Record) { r.Turns = nil })},
		{"a blank query", train.NoQuery, "/turns/1/query", with(func(r *qaoa.Record) { r.Turns[1].Query = " \n" })},
		{"a step without calls", train.BadFlow, "/turns/0/steps/0", with(func(r *qaoa.Record) { r.Turns[0].Steps[0] = qaoa.Step{} })},
		{"a call that did not parse", train.BadCallJSON, "/turns/0/steps/0/calls/0", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0] = qaoa.Call{Raw: "{"} })},
		{"a call without a name", train.BadCallJSON, "/turns/0/steps/0/calls/0/name", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Name = "" })},
		{"arguments in a string", train.ArgumentsNotObject, "/turns/0/steps/0/calls/0/arguments", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Arguments = `"{}"` })},
		{"null arguments", train.ArgumentsNotObject, "/turns/0/steps/0/calls/0/arguments", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Arguments = `null` })},
		{"too few observations", train.ObservationCount, "/turns/0/steps/1/observations", with(func(r *qaoa.Record) { r.Turns[0].Steps[1].Observations = []string{"x"} })},
		{"parameters in a list", train.BadSchema, "/tools/1/parameters", with(func(r *qaoa.Record) { r.Tools[1].Parameters = `[]` })},
		{"properties in a list", train.BadSchema, "/tools/1/parameters/properties", with(func(r *qaoa.Record) { r.Tools[1].Parameters = `{"type":"object","properties":[]}` })},
		{"deep arguments", train.TooDeep, "/turns/0/steps/0/calls/0/arguments", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Arguments = deep })},
		{"a number that would be trained as Infinity", train.TooLarge, "/turns/0/steps/0/calls/0/arguments", with(func(r *qaoa.Record) { r.Turns[0].Steps[0].Calls[0].Arguments = `{"a":"1e400","b":[1,-1e400]}` })},
		{"an integer too long for the trainer", train.TooLarge, "/turns/0/steps/0/calls/0/arguments", with(func(r *qaoa.Record) {
			r.Turns[0].Steps[0].Calls[0].Arguments = qaoa.JSON(`{"a":-` + strings.Repeat("9", 4301) + `}`)
		})},
		{"a bound that is too large", train.TooLarge, "/tools/0/parameters", with(func(r *qaoa.Record) { r.Tools[0].Parameters = `{"maximum":1e309}` })},
		{"deep parameters", train.TooDeep, "/tools/0/parameters", with(func(r *qaoa.Record) { r.Tools[0].Parameters = deep })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []train.Reject
			opt := train.ShardOptions{Out: filepath.Join(t.TempDir(), "out"), OnReject: func(r train.Reject) { got = append(got, r) }}
			_, err := train.Shard(t.Context(), seqOf(tt.rec), opt)
			if !errors.Is(err, train.ErrNoRows) || !strings.Contains(err.Error(), "1 with "+tt.code) {
				t.Errorf("err = %v, want %v", err, train.ErrNoRows)
			}
			if len(got) != 1 || got[0].Code != tt.code || got[0].Path != tt.path || got[0].ID != "demo/trip" || got[0].Detail == "" {
				t.Fatalf("rejects = %+v, want %s at %q", got, tt.code, tt.path)
			}
			if s := got[0].Error(); !strings.HasPrefix(s, "demo/trip: "+tt.path) || !strings.Contains(s, tt.code) {
				t.Errorf("Error() = %s", s)
			}
			if _, err := os.Stat(opt.Out); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a folder was left behind: %v", err)
			}
		})
	}
}

// The released multi-turn sample: its rows under EachCall are those of the
// published training projection, observations and answers emptied.
func TestRealRecord(t *testing.T) {
	path := filepath.Join("..", "..", "shared", "data", "unitoolcall", "multi-turn_dataset.first1.json")
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no ../shared/data: put the raw data beside the checkout")
	}
	var elems []json.RawMessage
	if err := json.Unmarshal(data, &elems); err != nil {
		t.Fatal(err)
	}
	rec, err := qaoa.DecodeInterchange(elems[0])
	if err != nil {
		t.Fatal(err)
	}
	rec.ID = "sample"
	var want line
	if err := json.Unmarshal(elems[0], &want); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	m := shard(t, train.ShardOptions{Out: out, Grouping: train.EachCall, KeepSystem: true}, rec)
	got := lines(t, readFile(t, out, m.Files[0].Name))[0]
	if len(got.Conversations) != len(want.Conversations) || got.System != want.System || m.Counts.Calls != 9 || m.Counts.Turns != 3 {
		t.Fatalf("%d messages of %d, %d calls in %d turns", len(got.Conversations), len(want.Conversations), m.Counts.Calls, m.Counts.Turns)
	}
	for i, w := range want.Conversations {
		switch w.From {
		case "observation":
			w.Value = ""
		case "gpt":
			w.Value = "<answer></answer>"
		case "function_call":
			j, err := qaoa.Compact(w.Value)
			if err != nil {
				t.Fatal(err)
			}
			w.Value = string(j)
		}
		if got.Conversations[i] != w {
			t.Errorf("message %d = %v, want %v", i, got.Conversations[i], w)
		}
	}
}
