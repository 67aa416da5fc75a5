package train_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/train"
)

func genRecord(t *rapid.T) qaoa.Record {
	text := rapid.SampledFrom([]string{"", "x", "a \"b\"\n\\", "<answer>y</answer>", "</answer>", "<think>z</think>", "<tool_call>{}</tool_call>", "<|im_end|>", "</tool_response>", "◁think▷", "é天😀\u2028", "bad\xff\xfe", "[1]", `["a","b"]`, "\x00\x1f"})
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
		Meta: rapid.SampledFrom([]qaoa.JSON{
			"", `{"k":1}`, `{"side_text":[{"turn":0,"step":0,"text":"Let me see.\n"}]}`,
			`{"side_text":[{"turn":0,"step":1,"text":"é"},{"turn":0,"step":1,"text":"again"},{"turn":1,"step":0,"text":"<tool_call>\n{}"},{"turn":9,"step":0,"text":"x"},{"turn":"0"}]}`,
		}).Draw(t, "meta"),
	}
}

func genOptions(t *rapid.T) train.ShardOptions {
	o := train.ShardOptions{
		Format:       rapid.SampledFrom(train.Formats()).Draw(t, "format"),
		PlainAnswers: rapid.Bool().Draw(t, "plain"),
		Projection:   rapid.SampledFrom([]train.Projection{train.ActionOnly, train.Full}).Draw(t, "projection"),
		FinalAnswer:  rapid.SampledFrom([]train.FinalAnswer{"", train.KeepAnswer, train.EmptyAnswer, train.DropAnswer}).Draw(t, "final"),
		Grouping:     rapid.SampledFrom([]train.Grouping{train.TogetherCalls, train.EachCall}).Draw(t, "grouping"),
		Container:    rapid.SampledFrom(train.Containers()).Draw(t, "container"),
		KeepSystem:   rapid.Bool().Draw(t, "keep system"),
		Seed:         rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.Bool().Draw(t, "by order") {
		o.RowsPerShard = rapid.IntRange(3, 6).Draw(t, "rows")
	} else {
		o.Shards = rapid.IntRange(1, 3).Draw(t, "shards")
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
			if opt.Container == train.Parquet || opt.Format != train.LlamaFactory {
				rows += f.Rows
				continue
			}
			for _, l := range lines(t, plain(t, f.Name, first[f.Name])) {
				rows++
				obey(rt, l)
			}
		}
		if rows != m.Rows {
			rt.Fatalf("%d rows on disk, %d in the manifest", rows, m.Rows)
		}
		// A disk takes its time to be sure of so many small files.
		if rapid.IntRange(0, 3).Draw(rt, "again") != 0 {
			return
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
