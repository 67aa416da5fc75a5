package train_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/train"
)

func seqOf(recs ...qaoa.Record) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// trip is a record with everything that a row can lose.
func trip() qaoa.Record {
	return qaoa.Record{
		ID:     "demo/trip",
		Source: qaoa.Source{Name: "demo", Split: "train"},
		Tools: []qaoa.Tool{
			{Name: "weather", Description: "Weather of a <city>", Parameters: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`, Category: "query"},
			{Name: "now"},
			{Name: "ping", Parameters: `{}`},
		},
		Turns: []qaoa.Turn{
			{
				Query: "Weather in Oslo and Rome?",
				Steps: []qaoa.Step{
					{Calls: []qaoa.Call{{Name: "now"}}, Observations: []string{"noon"}},
					{
						Calls:        []qaoa.Call{{Name: "weather", Arguments: `{"city":"Oslo","x":1.0}`}, {Name: "weather", Arguments: `{"city":"Rome"}`}},
						Observations: []string{"rain", ""},
					},
				},
				Answer: "Rain in Oslo.",
			},
			{
				Query:  "And <think>Bergen</think>?",
				Steps:  []qaoa.Step{{Calls: []qaoa.Call{{Name: "weather", Arguments: `{"city":"<think>Bergen</think>"}`}}, Observations: []string{"sun"}}},
				Answer: "<answer>Sun.</answer>",
			},
		},
		System: "Be short.",
		Meta:   `{"k":1}`,
	}
}

func shard(t testing.TB, opt train.ShardOptions, recs ...qaoa.Record) train.Manifest {
	t.Helper()
	m, err := train.Shard(context.Background(), seqOf(recs...), opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readFile(t testing.TB, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// files returns the content of all files under dir.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out[filepath.ToSlash(rel)] = readFile(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// message is a message as anyone would read it.
type message struct{ From, Value string }

func (m message) String() string { return m.From + ": " + m.Value }

type line struct {
	ID, System, Tools string
	Conversations     []message
}

func lines(t testing.TB, text string) []line {
	t.Helper()
	var out []line
	for s := range strings.Lines(text) {
		var l line
		if err := json.Unmarshal([]byte(s), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func TestRows(t *testing.T) {
	tests := []struct {
		name   string
		opt    train.ShardOptions
		want   []string
		system string
		losses map[train.Loss]int
	}{
		{
			"action-only empties observations and answers", train.ShardOptions{},
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
			"", map[train.Loss]int{train.LostObservation: 3, train.LostAnswer: 2, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"a message for each call, as in the paper", train.ShardOptions{Grouping: train.EachCall, FinalAnswer: train.KeepAnswer, SystemPrompt: "Call tools."},
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
			"Call tools.", map[train.Loss]int{train.LostObservation: 3, train.LostAnswerTags: 1, train.LostGrouping: 1, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"full keeps what was said", train.ShardOptions{Projection: train.Full, KeepSystem: true, SystemPrompt: "Call tools."},
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
			"Be short.", map[train.Loss]int{train.LostAnswerTags: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
		},
		{
			"dropping the final answer ends on a call", train.ShardOptions{Projection: train.Full, FinalAnswer: train.DropAnswer, Grouping: train.EachCall},
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
			"", map[train.Loss]int{train.LostObservation: 1, train.LostAnswer: 2, train.LostGrouping: 1, train.LostSystem: 1, train.LostMeta: 1, train.LostToolFacts: 1, train.AddedArguments: 1, train.AddedSchema: 2},
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

func TestManifestAndInfo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "deep", "out")
	quiet := qaoa.Record{ID: "demo/quiet", Source: qaoa.Source{Name: "demo"}, Turns: []qaoa.Turn{{Query: "Hello", Answer: "Hi"}}}
	bad := trip()
	bad.ID, bad.Turns[1].Steps[0].Calls[0].Arguments = "demo/bad", `[1]`
	var rejects []train.Reject
	m := shard(t, train.ShardOptions{
		Out: out, Name: "trip-1", Version: "v1", Seed: 3, SystemPrompt: "S",
		Inputs:   func() []train.Input { return []train.Input{{Name: "in.jsonl", SHA256: "00", Bytes: 9, Records: 3}} },
		OnReject: func(r train.Reject) { rejects = append(rejects, r) },
	}, trip(), bad, quiet)

	if d := cmp.Diff([]train.Reject{{"demo/bad", "arguments_not_object", "/turns/1/steps/0/calls/0/arguments", `want an object, have "[1]"`}}, rejects); d != "" {
		t.Errorf("rejects: %s", d)
	}
	if m.Records != 3 || m.Rows != 2 || m.Rejected != 1 || m.Rejects["arguments_not_object"] != 1 || m.Sources["demo"] != 2 {
		t.Errorf("manifest = %+v", m)
	}
	text := readFile(t, out, "data", "train-00000-of-00001.jsonl")
	want := train.Counts{SingleTurn: 1, MultiTurn: 1, NoCallRows: 1, Turns: 3, SingleHop: 1, MultiHop: 1, NoCallTurns: 1, Steps: 3, ParallelSteps: 1, Calls: 4, Tools: 3, TextBytes: len(text)}
	if d := cmp.Diff(want, m.Counts); d != "" {
		t.Errorf("counts: -want +got\n%s", d)
	}
	sum := sha256.Sum256([]byte(text))
	if d := cmp.Diff([]train.File{{"data/train-00000-of-00001.jsonl", 2, int64(len(text)), hex.EncodeToString(sum[:])}}, m.Files); d != "" {
		t.Errorf("files: %s", d)
	}
	read, err := train.ReadManifest(out)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, read); d != "" {
		t.Errorf("the manifest reads back as another: %s", d)
	}
	const info = `{
  "trip-1": {
    "file_name": "data",
    "formatting": "sharegpt",
    "columns": {
      "messages": "conversations",
      "system": "system",
      "tools": "tools"
    },
    "tags": {
      "role_tag": "from",
      "content_tag": "value",
      "user_tag": "human",
      "assistant_tag": "gpt",
      "observation_tag": "observation",
      "function_tag": "function_call",
      "system_tag": "system"
    }
  }
}
`
	if got := readFile(t, out, "dataset_info.json"); got != info {
		t.Errorf("dataset_info.json = %s", got)
	}
	if n := len(files(t, out)); n != 3 {
		t.Errorf("%d files, want shard, dataset_info.json and manifest.json", n)
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

func genRecord(t *rapid.T) qaoa.Record {
	text := rapid.SampledFrom([]string{"", "x", "a \"b\"\n\\", "<answer>y</answer>", "</answer>", "<think>z</think>", "<tool_call>{}</tool_call>", "◁think▷", "é天😀\u2028", "bad\xff\xfe", "[1]", `["a","b"]`, "\x00\x1f"})
	query := rapid.SampledFrom([]string{"q", "<think>", " lead", "é天", "\xff"})
	args := rapid.SampledFrom([]qaoa.JSON{"", "{}", `{"a":1.0,"b":[null,true,"<think>a</think>"],"a":2}`, `{"◁":{"<":1e400}}`, `{"s":"\\\"\n"}`, `{"n":-0.10E+5}`, `[1]`, `"x"`})
	params := rapid.SampledFrom([]qaoa.JSON{"", "{}", `{"type":"object","properties":{"a":{"type":"string","enum":["<|x|>"]}},"required":["a"]}`, `{"x":{"properties":{}}}`, `[]`})
	call := rapid.Custom(func(t *rapid.T) qaoa.Call {
		if rapid.IntRange(0, 30).Draw(t, "raw") == 0 {
			return qaoa.Call{Raw: "{"}
		}
		return qaoa.Call{Name: rapid.SampledFrom([]string{"f", "get.x", "<tool_call>", "é\xff"}).Draw(t, "name"), Arguments: args.Draw(t, "arguments")}
	})
	step := rapid.Custom(func(t *rapid.T) qaoa.Step {
		s := qaoa.Step{Calls: rapid.SliceOfN(call, 1, 3).Draw(t, "calls")}
		if rapid.Bool().Draw(t, "observed") {
			s.Observations = rapid.SliceOfN(text, len(s.Calls), len(s.Calls)).Draw(t, "observations")
		}
		return s
	})
	turn := rapid.Custom(func(t *rapid.T) qaoa.Turn {
		return qaoa.Turn{Query: query.Draw(t, "query"), Steps: rapid.SliceOfN(step, 0, 3).Draw(t, "steps"), Answer: text.Draw(t, "answer")}
	})
	tool := rapid.Custom(func(t *rapid.T) qaoa.Tool {
		return qaoa.Tool{Name: text.Draw(t, "tool"), Description: text.Draw(t, "description"), Parameters: params.Draw(t, "parameters"), Domain: text.Draw(t, "domain")}
	})
	return qaoa.Record{
		ID:     fmt.Sprintf("src/%d", rapid.IntRange(0, 1000).Draw(t, "id")),
		Source: qaoa.Source{Name: "src"},
		Tools:  rapid.SliceOfN(tool, 0, 3).Draw(t, "tools"),
		Turns:  rapid.SliceOfN(turn, 1, 3).Draw(t, "turns"),
		System: text.Draw(t, "system"),
	}
}

func genOptions(t *rapid.T) train.ShardOptions {
	o := train.ShardOptions{
		Projection:  rapid.SampledFrom([]train.Projection{train.ActionOnly, train.Full}).Draw(t, "projection"),
		FinalAnswer: rapid.SampledFrom([]train.FinalAnswer{"", train.KeepAnswer, train.EmptyAnswer, train.DropAnswer}).Draw(t, "final"),
		Grouping:    rapid.SampledFrom([]train.Grouping{train.TogetherCalls, train.EachCall}).Draw(t, "grouping"),
		Container:   rapid.SampledFrom([]train.Container{train.JSONL, train.Gzip, train.Zstd}).Draw(t, "container"),
		KeepSystem:  rapid.Bool().Draw(t, "keep system"),
		Seed:        rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.Bool().Draw(t, "by order") {
		o.RowsPerShard = rapid.IntRange(1, 4).Draw(t, "rows")
	} else {
		o.Shards = rapid.IntRange(1, 4).Draw(t, "shards")
	}
	return o
}

// plain returns the text of a shard.
func plain(t testing.TB, name, data string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(data)
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		r, err = gzip.NewReader(r)
	case strings.HasSuffix(name, ".zst"):
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every record is a row or a reject, every row obeys the law of the trainer,
// and no number of workers changes a byte.
func TestShardProperties(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		recs := rapid.SliceOfN(rapid.Custom(genRecord), 0, 12).Draw(rt, "records")
		opt := genOptions(rt)
		n++
		opt.Out, opt.Workers = filepath.Join(dir, fmt.Sprint(n, "a")), 1
		var rejects int
		opt.OnReject = func(train.Reject) { rejects++ }
		m, err := train.Shard(t.Context(), seqOf(recs...), opt)
		if errors.Is(err, train.ErrNoRows) {
			if rejects != len(recs) {
				rt.Fatalf("%d of %d records rejected, and no rows", rejects, len(recs))
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if m.Records != len(recs) || m.Rows+m.Rejected != len(recs) || m.Rejected != rejects {
			rt.Fatalf("%d records, %d rows, %d rejects; manifest %+v", len(recs), m.Rows, rejects, m)
		}
		first := files(t, opt.Out)
		rows := 0
		for _, f := range m.Files {
			for _, l := range lines(t, plain(t, f.Name, first[f.Name])) {
				rows++
				obey(rt, l)
			}
		}
		if rows != m.Rows {
			rt.Fatalf("%d rows on disk, %d in the manifest", rows, m.Rows)
		}
		opt.Out, opt.Workers, opt.OnReject = filepath.Join(dir, fmt.Sprint(n, "b")), 3, nil
		if _, err := train.Shard(t.Context(), seqOf(recs...), opt); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(first, files(t, opt.Out)); d != "" {
			rt.Fatalf("three workers wrote other bytes: %s", d)
		}
	})
}

// obey holds the law of LLaMA-Factory's sharegpt converter and of its function
// formatter against one row.
func obey(t *rapid.T, l line) {
	if len(l.Conversations) == 0 || len(l.Conversations)%2 != 0 {
		t.Fatalf("%d messages", len(l.Conversations))
	}
	for i, m := range l.Conversations {
		places := [][]string{{"human", "observation"}, {"gpt", "function_call"}}[i%2]
		if m.From != places[0] && m.From != places[1] {
			t.Fatalf("message %d is from %s", i, m.From)
		}
		if m.From != "function_call" {
			continue
		}
		if strings.Contains(m.Value, "<think>") || strings.Contains(m.Value, "<tool_call>") || strings.Contains(m.Value, "◁") {
			t.Fatalf("the trainer would cut %s", m.Value)
		}
		v, err := qaoa.ParseValue(m.Value)
		if err != nil {
			t.Fatal(err)
		}
		calls := v.Items
		if v.Kind == qaoa.Object {
			calls = []qaoa.Value{v}
		}
		for _, c := range calls {
			name, _ := c.Get("name")
			if args, ok := c.Get("arguments"); !ok || args.Kind != qaoa.Object || name.Kind != qaoa.String {
				t.Fatalf("call %s", m.Value)
			}
		}
	}
	tools, err := qaoa.ParseValue(l.Tools)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Items {
		params, _ := tool.Get("parameters")
		if props, ok := params.Get("properties"); !ok || props.Kind != qaoa.Object {
			t.Fatalf("tool %s", tool.JSON())
		}
	}
}

// The row of one record stands in the shard that its ID and the seed say, with
// or without other records.
func TestMoreRecordsMoveNoRow(t *testing.T) {
	place := func(n int) map[string]string {
		out := filepath.Join(t.TempDir(), "out")
		var recs []qaoa.Record
		for i := range n {
			rec := trip()
			rec.ID = fmt.Sprint("demo/", i)
			recs = append(recs, rec)
		}
		m := shard(t, train.ShardOptions{Out: out, Shards: 8, Seed: 5}, recs...)
		at := map[string]string{}
		for _, f := range m.Files {
			for _, l := range lines(t, readFile(t, out, f.Name)) {
				at[l.ID] = f.Name
			}
		}
		return at
	}
	few, many := place(20), place(400)
	used := map[string]int{}
	for id, name := range many {
		used[name]++
		if was, ok := few[id]; ok && was != name {
			t.Errorf("%s moved from %s to %s", id, was, name)
		}
	}
	for name, n := range used {
		if n < 25 || n > 75 { // 50 on average, standard deviation under 7
			t.Errorf("%s holds %d of 400 rows", name, n)
		}
	}
	if len(used) != 8 || len(few) != 20 {
		t.Errorf("%d shards used, %d rows in the small set", len(used), len(few))
	}
}

func TestRowsPerShard(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var recs []qaoa.Record
	for i := range 7 {
		rec := trip()
		rec.ID = fmt.Sprint(i)
		recs = append(recs, rec)
	}
	m := shard(t, train.ShardOptions{Out: out, RowsPerShard: 3}, recs...)
	var got []string
	for _, f := range m.Files {
		for _, l := range lines(t, readFile(t, out, f.Name)) {
			got = append(got, f.Name[len("data/train-"):len("data/train-00000-of-00003")]+"/"+l.ID)
		}
	}
	want := "00000-of-00003/0 00000-of-00003/1 00000-of-00003/2 00001-of-00003/3 00001-of-00003/4 00001-of-00003/5 00002-of-00003/6"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("rows at %s\nwant    %s", s, want)
	}
}

func TestFolder(t *testing.T) {
	write := func(t *testing.T, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name      string
		before    func(t *testing.T, out string)
		overwrite bool
		want      string // in the error; "" is success
	}{
		{"a new folder", func(*testing.T, string) {}, false, ""},
		{"an empty one", func(t *testing.T, out string) {
			if err := os.Mkdir(out, 0o777); err != nil {
				t.Fatal(err)
			}
		}, false, ""},
		{"one of ours, without leave", func(t *testing.T, out string) { shard(t, train.ShardOptions{Out: out}, trip()) }, false, "is not empty"},
		{"one of ours", func(t *testing.T, out string) {
			shard(t, train.ShardOptions{Out: out, Shards: 5, Container: train.Gzip}, trip())
		}, true, ""},
		{"one of ours with a file of the user", func(t *testing.T, out string) {
			shard(t, train.ShardOptions{Out: out}, trip())
			write(t, filepath.Join(out, "notes.txt"))
		}, true, "holds notes.txt"},
		{"one of ours with a file among the shards", func(t *testing.T, out string) {
			shard(t, train.ShardOptions{Out: out}, trip())
			write(t, filepath.Join(out, "data", "x.jsonl"))
		}, true, "holds data/x.jsonl"},
		{"a folder of something else", func(t *testing.T, out string) { write(t, filepath.Join(out, "data", "x")) }, true, "holds data/x"},
		{"a manifest of something else", func(t *testing.T, out string) { write(t, filepath.Join(out, "manifest.json")) }, true, "not a manifest"},
		{"a trainer's folder with our file names", func(t *testing.T, out string) { write(t, filepath.Join(out, "dataset_info.json")) }, true, "no manifest"},
		{"a run that was killed", func(t *testing.T, out string) { write(t, filepath.Join(out, ".unfinished", "0.spool")) }, true, ""},
		{"a run that was killed, without leave", func(t *testing.T, out string) { write(t, filepath.Join(out, ".unfinished", "0.spool")) }, false, "is not empty"},
		{"a file", func(t *testing.T, out string) { write(t, out) }, true, "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			tt.before(t, out)
			before := files(t, dir)
			_, err := train.Shard(t.Context(), seqOf(trip()), train.ShardOptions{Out: out, Overwrite: tt.overwrite})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want one with %q", err, tt.want)
				}
				if d := cmp.Diff(before, files(t, dir)); d != "" {
					t.Errorf("a refused folder was changed: %s", d)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := files(t, out); len(got) != 3 || got["data/train-00000-of-00001.jsonl"] == "" {
				t.Errorf("the folder holds %d files", len(got))
			}
		})
	}
}

func TestFailuresLeaveNothing(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failing := func(yield func(qaoa.Record, error) bool) {
		if yield(trip(), nil) {
			yield(qaoa.Record{}, broken)
		}
	}
	canceling := func(yield func(qaoa.Record, error) bool) {
		for yield(trip(), nil) {
			cancel()
		}
	}
	damaged := trip()
	damaged.Turns[0].Steps[0].Calls[0].Arguments = `{"a":`
	tests := []struct {
		name string
		ctx  context.Context
		recs iter.Seq2[qaoa.Record, error]
		want string
	}{
		{"the records end in an error", t.Context(), failing, "broken"},
		{"the context ends", ctx, canceling, "canceled"},
		{"no records at all", t.Context(), seqOf(), "there were no records"},
		{"a row that does not read back", t.Context(), seqOf(damaged), "demo/trip: the row does not read back: /conversations/1: not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, "old")
			shard(t, train.ShardOptions{Out: old}, trip())
			before := files(t, old)
			for _, out := range []string{old, filepath.Join(dir, "new")} {
				_, err := train.Shard(tt.ctx, tt.recs, train.ShardOptions{Out: out, Overwrite: true})
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want one with %q", err, tt.want)
				}
			}
			if d := cmp.Diff(before, files(t, old)); d != "" {
				t.Errorf("what was there was changed: %s", d)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a folder was left behind: %v", err)
			}
		})
	}
}

func TestBadOptions(t *testing.T) {
	tests := []struct {
		opt  train.ShardOptions
		want string
	}{
		{train.ShardOptions{}, "no output folder"},
		{train.ShardOptions{Out: "x", Format: "f"}, "want llamafactory"},
		{train.ShardOptions{Out: "x", Projection: "p"}, "want action-only or full"},
		{train.ShardOptions{Out: "x", FinalAnswer: "a"}, "want keep, empty or drop"},
		{train.ShardOptions{Out: "x", Grouping: "g"}, "want together or each"},
		{train.ShardOptions{Out: "x", Container: "c"}, "want jsonl, jsonl.gz or jsonl.zst"},
		{train.ShardOptions{Out: "x", Name: "a,b"}, "data set name"},
		{train.ShardOptions{Out: "x", Shards: 2, RowsPerShard: 2}, "only one of the two"},
		{train.ShardOptions{Out: "x", Shards: -1}, "want 1 to 1024"},
		{train.ShardOptions{Out: "x", Shards: 1025}, "want 1 to 1024"},
		{train.ShardOptions{Out: "x", RowsPerShard: -1}, "want at least 1"},
	}
	for _, tt := range tests {
		_, err := train.Shard(t.Context(), seqOf(trip()), tt.opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: err = %v, want one with %q", tt.opt, err, tt.want)
		}
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

func BenchmarkShard(b *testing.B) {
	rec := trip()
	for range 17 {
		rec.Tools = append(rec.Tools, rec.Tools[0])
	}
	recs := make([]qaoa.Record, 2000)
	for i := range recs {
		recs[i] = rec
		recs[i].ID = fmt.Sprint(i)
	}
	dir := b.TempDir()
	var size int
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		m := shard(b, train.ShardOptions{Out: filepath.Join(dir, fmt.Sprint(i)), Shards: 8}, recs...)
		size = m.Counts.TextBytes
	}
	b.SetBytes(int64(size))
}

func ExampleShard() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rec := qaoa.Record{
		ID:    "demo/1",
		Turns: []qaoa.Turn{{Query: "Weather in Oslo?", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "weather", Arguments: `{"city":"Oslo"}`}}}}}},
	}
	m, err := train.Shard(context.Background(), seqOf(rec), train.ShardOptions{Out: filepath.Join(dir, "shards"), Shards: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range m.Files {
		fmt.Println(f.Name, f.Rows)
	}
	// Output:
	// data/train-00000-of-00002.jsonl 1
	// data/train-00001-of-00002.jsonl 0
}

// A long row is one line, however long.
func TestLongRow(t *testing.T) {
	rec := trip()
	rec.Turns[0].Query = strings.Repeat("long ", 1<<20)
	out := filepath.Join(t.TempDir(), "out")
	m := shard(t, train.ShardOptions{Out: out, Container: train.Zstd}, rec, trip())
	data := readFile(t, out, m.Files[0].Name)
	if rows := bytes.Count([]byte(plain(t, m.Files[0].Name, data)), []byte("\n")); rows != 2 {
		t.Errorf("%d lines, want 2", rows)
	}
}
