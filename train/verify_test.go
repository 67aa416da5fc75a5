package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/chat"
	"assay/qaoa"
	"assay/toolset"
	"assay/train"
)

func TestVerify(t *testing.T) {
	edit := func(name string, change func(string) string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.WriteFile(path, []byte(change(readFile(t, path))), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(old, now string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, now, 1) }
	}
	const shard0 = "data/train-00000-of-00002.jsonl"
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   []string // of each fault, in order
	}{
		{"as written", func(*testing.T, string) {}, nil},
		{"a changed value of the same length", edit(shard0, replace("Weather in", "weather in")), []string{shard0 + ": want SHA-256"}},
		{"a row that is no row", edit(shard0, replace(`"human"`, `"huma"`)), []string{shard0 + ": row 0: reading back"}},
		{"a row too many", edit(shard0, func(s string) string { return s + s }), []string{shard0 + ": want "}},
		{"cut off", edit(shard0, func(s string) string { return s[:len(s)-9] }), []string{shard0 + ": row"}},
		{"a shard is gone", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(shard0))); err != nil {
				t.Fatal(err)
			}
		}, []string{shard0 + ": is missing"}},
		{"a file that the trainer would read too", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "data", "old.jsonl"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}, []string{"data/old.jsonl: is no shard"}},
		{"another name of the data set", edit("dataset_info.json", replace(`"assay"`, `"other"`)), []string{"dataset_info.json: want"}},
		{"no description of the data set", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "dataset_info.json")); err != nil {
				t.Fatal(err)
			}
		}, []string{"dataset_info.json: is missing"}},
		{"a description in other spacing", edit("dataset_info.json", func(s string) string { return strings.ReplaceAll(s, "\n", "\n\n") }), nil},
		{"counts that were changed", edit("manifest.json", replace(`"calls": 44`, `"calls": 45`)), []string{"manifest.json: want 45 calls, counted 44"}},
		{"a path for a name", edit("manifest.json", replace(shard0, "../../etc/passwd")), []string{"manifest.json: shard 0: want the name", shard0 + ": is no shard"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			var recs []qaoa.Record
			for id := range strings.SplitSeq("abcdefghijk", "") {
				rec := trip()
				rec.ID = id
				recs = append(recs, rec)
			}
			shard(t, train.ShardOptions{Out: dir, Shards: 2}, recs...)
			tt.damage(t, dir)
			m, faults, err := train.Verify(t.Context(), dir, nil)
			if err != nil || m.Rows != 11 {
				t.Fatalf("%d rows, %v", m.Rows, err)
			}
			if len(faults) != len(tt.want) {
				t.Fatalf("faults %q, want %q", faults, tt.want)
			}
			for i, f := range faults {
				if !strings.HasPrefix(f.String(), tt.want[i]) {
					t.Errorf("fault %q, want %q", f, tt.want[i])
				}
			}
		})
	}
	if _, _, err := train.Verify(t.Context(), t.TempDir(), nil); err == nil {
		t.Error("a folder without a manifest passes")
	}
}

func TestVerifyEveryFormat(t *testing.T) {
	for _, f := range train.Formats() {
		for _, c := range train.Containers() {
			dir := filepath.Join(t.TempDir(), "out")
			shard(t, train.ShardOptions{Out: dir, Format: f, Container: c, Projection: train.Full, PlainAnswers: true}, append(traps(), trip())...)
			read := 0
			if _, faults, err := train.Verify(t.Context(), dir, func(file train.File) { read += file.Rows }); err != nil || len(faults) > 0 || read == 0 {
				t.Errorf("%s as %s: %v, %v, %d rows read", f, c, faults, err, read)
			}
		}
	}
}

// The same bytes for any number of workers, after an interruption, and with
// everything on: selection, mixture, lists, splitting.
func TestSameBytes(t *testing.T) {
	recs := append(corpus("a", 300), corpus("b", 200)...)
	recs = append(recs, recs[:50]...) // repetitions
	pool, _, err := toolset.NewPool(toolset.ToolsOf(seqOf(recs...)), nil)
	if err != nil {
		t.Fatal(err)
	}
	make1 := func(ctx context.Context, dir string, c train.Container, workers int, onRow func(qaoa.Record, int)) error {
		sel := train.Selection{Dedup: train.DedupNear, Threshold: 0.95, Workers: workers}
		choice, err := train.Choose(ctx, opener(recs...), sel, train.Mixture{Total: 300, SourceShares: map[string]float64{"a": 1, "b": 2}, MaxRepeat: 2, Seed: 3})
		if err != nil {
			return err
		}
		lists := &train.Candidates{Options: toolset.Defaults(), Pool: pool}
		lists.K, lists.Easy = 3, 1
		_, err = train.Shard(ctx, choice.Records(ctx), train.ShardOptions{
			Out: dir, Format: train.OpenAI, Container: c, Shards: 3, Seed: 3, Workers: workers, Overwrite: true,
			Candidates: lists, Length: train.Length{Max: 150, OverLong: train.SplitLong},
			Selection: &choice.Selected, Mixture: &choice.Plan, OnRow: onRow,
		})
		return err
	}
	for _, c := range []train.Container{train.Zstd, train.Parquet} {
		root := t.TempDir()
		var first map[string]string
		for _, workers := range []int{1, 2, 8} {
			dir := filepath.Join(root, string(rune('0'+workers)))
			if workers == 2 { // interrupted first, in the middle of the rows
				ctx, cancel := context.WithCancel(t.Context())
				rows := 0
				stop := func(qaoa.Record, int) {
					if rows++; rows == 100 {
						cancel()
					}
				}
				if err := make1(ctx, dir, c, workers, stop); !errors.Is(err, context.Canceled) {
					t.Fatalf("err = %v", err)
				}
				cancel()
				if _, err := os.Stat(dir); err == nil {
					t.Error("an interrupted run left a folder")
				}
			}
			if err := make1(t.Context(), dir, c, workers, nil); err != nil {
				t.Fatal(err)
			}
			got := files(t, dir)
			if first == nil {
				first = got
			} else if d := cmp.Diff(first, got); d != "" {
				t.Errorf("%s: %d workers wrote other bytes", c, workers)
			}
		}
		if len(first) != 4 {
			t.Errorf("%d files, want three shards and the manifest", len(first))
		}
	}
}

// A corpus that is added later adds its rows, and leaves the others as they
// were, in their shards and their order.
func TestAddedCorpusAddsRows(t *testing.T) {
	rows := func(recs ...qaoa.Record) [][]string {
		dir := filepath.Join(t.TempDir(), "out")
		taken, _, err := train.Select(t.Context(), seqOf(recs...), train.Selection{Dedup: train.DedupNear, Threshold: 0.95})
		if err != nil {
			t.Fatal(err)
		}
		m, err := train.Shard(t.Context(), taken, train.ShardOptions{Out: dir, Shards: 4})
		if err != nil {
			t.Fatal(err)
		}
		var out [][]string
		for _, f := range m.Files {
			text := readFile(t, dir, filepath.FromSlash(f.Name))
			out = append(out, strings.SplitAfter(text, "\n"))
		}
		return out
	}
	few, many := rows(corpus("a", 100)...), rows(append(corpus("a", 100), corpus("b", 40)...)...)
	for i := range few {
		old := few[i][:len(few[i])-1] // what follows the last line break
		if d := cmp.Diff(old, many[i][:len(old)]); d != "" {
			t.Errorf("shard %d: rows of the first corpus changed: %s", i, d)
		}
		for _, line := range many[i][len(old):] {
			if line != "" && !strings.Contains(line, `"id":"b/`) {
				t.Errorf("shard %d: a new row is not of the new corpus: %.60s", i, line)
			}
		}
	}
}

func TestLengths(t *testing.T) {
	words := func(n int) string { return strings.Repeat("word ", n) }
	rec := qaoa.Record{ID: "long", Turns: []qaoa.Turn{{Query: words(10)}, {Query: words(20)}, {Query: words(5)}, {Query: words(30)}}}
	counter := train.Length{Counter: wordCounter{}, Name: "words", Max: 30}
	tests := []struct {
		name    string
		what    train.OverLong
		max     int
		turns   []int // of each row
		tokens  int
		codes   string
		notices int
	}{
		{"short enough", train.DropLong, 69, []int{4}, 69, "", 0},
		{"dropped", train.DropLong, 68, nil, 0, "over_long", 0},
		{"kept", train.KeepLong, 30, []int{4}, 69, "", 1},
		{"split as late as can be", train.SplitLong, 32, []int{2, 1, 1}, 69, "", 1},
		{"split into single turns", train.SplitLong, 38, []int{3, 1}, 69, "", 1},
		{"a turn that is too long by itself", train.SplitLong, 30, nil, 0, "over_long", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := counter
			l.Max, l.OverLong = tt.max, tt.what
			var turns []int
			var codes string
			notices := 0
			m, err := train.Shard(t.Context(), seqOf(rec, qaoa.Record{ID: "x", Turns: []qaoa.Turn{{Query: "x"}}}), train.ShardOptions{
				Out: filepath.Join(t.TempDir(), "out"), Length: l,
				OnRow: func(r qaoa.Record, tokens int) {
					if r.ID != "x" {
						turns = append(turns, len(r.Turns))
					}
				},
				OnReject: func(r train.Reject) { codes += r.Code },
				OnNotice: func(r train.Reject) { notices++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.turns, turns); d != "" || codes != tt.codes || notices != tt.notices {
				t.Errorf("rows of %v turns, want %v; rejects %q, %d notices", turns, tt.turns, codes, notices)
			}
			if m.Tokens.Total != tt.tokens+2 || m.Records+m.Split != m.Rows+m.Rejected || m.Losses[train.LostHistory] != max(0, len(tt.turns)-1) {
				t.Errorf("manifest %+v, losses %v", m.Tokens, m.Losses)
			}
		})
	}
}

// A template adds its marks, and answers count with their tags.
func TestTemplateCounts(t *testing.T) {
	tmpl, err := chat.Builtin("qwen2.5")
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(format train.Format, tmpl *chat.Template, final train.FinalAnswer) int {
		m := shard(t, train.ShardOptions{
			Out: filepath.Join(t.TempDir(), "out"), Format: format, Projection: train.Full, FinalAnswer: final,
			Length: train.Length{Counter: byteCounter{}, Name: "bytes", Template: tmpl},
		}, trip())
		return m.Tokens.Total
	}
	one := func(name string, arguments qaoa.JSON) chat.Message {
		return chat.Message{Role: chat.Assistant, Calls: []qaoa.Call{{Name: name, Arguments: arguments}}}
	}
	two := one("weather", `{"city":"Oslo","x":1.0}`)
	two.Calls = append(two.Calls, qaoa.Call{Name: "weather", Arguments: `{"city":"Rome"}`})
	conv := chat.Conversation{Messages: []chat.Message{ // by hand, and as rows have them
		{Role: chat.User, Content: "Weather in Oslo and Rome?"},
		one("now", "{}"),
		{Role: chat.Tool, Content: "noon", Name: "now"},
		two,
		{Role: chat.Tool, Content: "rain", Name: "weather"},
		{Role: chat.Tool, Name: "weather"},
		{Role: chat.Assistant, Content: "<answer>Rain in Oslo.</answer>"},
		{Role: chat.User, Content: "And <think>Bergen</think>?"},
		one("weather", `{"city":"<think>Bergen</think>"}`),
		{Role: chat.Tool, Content: "sun", Name: "weather"},
		{Role: chat.Assistant, Content: "<answer>Sun.</answer>"},
	}}
	conv.Tools = []qaoa.Tool{
		{Name: "weather", Description: "Weather of a <city>", Parameters: trip().Tools[0].Parameters},
		{Name: "now", Parameters: `{"type":"object","properties":{}}`},
		{Name: "ping", Parameters: `{"properties":{}}`},
	}
	want, err := tmpl.Render(conv, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := tokens(train.LlamaFactory, tmpl, train.KeepAnswer)
	if whole != len(want.Text) {
		t.Errorf("%d bytes counted, the template makes %d", whole, len(want.Text))
	}
	if bare := tokens(train.LlamaFactory, nil, train.KeepAnswer); bare >= whole || bare == 0 {
		t.Errorf("%d bytes without a template, %d with it", bare, whole)
	}
	if open := tokens(train.TRL, tmpl, train.DropAnswer); open >= whole {
		t.Errorf("%d bytes without the last answer, %d with it", open, whole)
	}
	out := filepath.Join(t.TempDir(), "hermes")
	m := shard(t, train.ShardOptions{Out: out, Format: train.Hermes, Length: train.Length{Counter: byteCounter{}, Name: "bytes", Template: tmpl}}, trip())
	var row struct{ Text string }
	if err := json.Unmarshal([]byte(readFile(t, out, "data", "train-00000-of-00001.jsonl")), &row); err != nil || m.Tokens.Total != len(row.Text) {
		t.Errorf("%d bytes counted, the text has %d; %v", m.Tokens.Total, len(row.Text), err)
	}
}

// byteCounter counts bytes.
type byteCounter struct{}

func (byteCounter) Count(text string) int { return len(text) }

// wordCounter counts words.
type wordCounter struct{}

func (wordCounter) Count(text string) int { return len(strings.Fields(text)) }

func TestCandidateLists(t *testing.T) {
	recs := append(corpus("a", 8), corpus("b", 8)...)
	pool, _, err := toolset.NewPool(toolset.ToolsOf(seqOf(recs...)), nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := toolset.Defaults()
	opt.K, opt.Easy, opt.SameName = 2, 1, true
	m := shard(t, train.ShardOptions{Out: filepath.Join(t.TempDir(), "out"), Candidates: &train.Candidates{Options: opt, Pool: pool, PoolName: "p.jsonl"}}, recs...)
	if m.Counts.Tools != 2*len(recs) || m.Choices.Candidates.Pool != "p.jsonl" || m.Choices.Candidates.PoolTools != pool.Len() {
		t.Errorf("%d tools, candidates %+v", m.Counts.Tools, m.Choices.Candidates)
	}
}

// What a data card and a recipe add is part of the folder, and goes with it.
func TestFinishAddsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	opt := train.ShardOptions{Out: dir, Finish: func(m train.Manifest, dir string) error {
		return os.WriteFile(filepath.Join(dir, "README.md"), []byte("# card\n"), 0o666)
	}}
	shard(t, opt, trip())
	if got := readFile(t, dir, "README.md"); got != "# card\n" {
		t.Errorf("README.md = %q", got)
	}
	opt.Finish, opt.Overwrite = nil, true
	shard(t, opt, trip())
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err == nil {
		t.Error("the card of the old shards stands beside the new ones")
	}
	opt.Finish = func(train.Manifest, string) error { return errors.New("no card") }
	if _, err := train.Shard(t.Context(), seqOf(trip()), opt); err == nil || err.Error() != "no card" {
		t.Errorf("err = %v", err)
	}
}
