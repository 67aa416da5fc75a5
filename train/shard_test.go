package train_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

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

	if d := cmp.Diff([]train.Reject{{"demo/bad", "arguments_not_object", "/turns/1/steps/0/calls/0/arguments", `want an object, have "[1]"`, qaoa.Source{Name: "demo", Split: "train"}}}, rejects); d != "" {
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
