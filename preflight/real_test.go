package preflight_test

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/chat"
	"assay/convert"
	"assay/convert/all"
	"assay/preflight"
	"assay/qaoa"
	"assay/tokenizer"
	"assay/train"
)

// qwen3 returns the tokenizer of Qwen3, which bench/tokens/get.sh fetches.
func qwen3(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	dir := os.Getenv("ASSAY_TOKENIZERS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "assay-tokenizers")
	}
	tok, err := tokenizer.LoadFile(filepath.Join(dir, "qwen3", "tokenizer.json"))
	if os.IsNotExist(err) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no tokenizer of qwen3 in %s: run bench/tokens/get.sh", dir)
		}
		t.Skipf("no tokenizer of qwen3 in %s: bench/tokens/get.sh fetches it", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// realRecords are the records of some benchmarks.
func realRecords(t *testing.T) []qaoa.Record {
	t.Helper()
	root := filepath.Join("..", "..", "shared", "data", "raw")
	if _, err := os.Stat(root); err != nil {
		const how = "no ../shared/data/raw beside the project: download the files that \"assay sources\" names, see CONTRIBUTING.md"
		if os.Getenv("CI") == "true" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	var out []qaoa.Record
	for _, name := range []string{"toolalpaca", "api-bank", "acebench", "hammerbench"} {
		src, err := all.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs, _, err := convert.Find(src, []string{filepath.Join(root, name)})
		if err != nil {
			t.Fatal(err)
		}
		n := len(out)
		for o, err := range convert.Run(t.Context(), src, inputs, convert.RunOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o.Records...)
		}
		if len(out) == n {
			t.Errorf("no records of %s", name)
		}
	}
	return out
}

func seqOf(recs []qaoa.Record) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// simulate runs a trainer over a folder of shards.
func simulate(t *testing.T, dir string, opt preflight.Options) (preflight.Report, []preflight.Row) {
	t.Helper()
	in, err := preflight.Open(opt.Trainer, []string{dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	var rows []preflight.Row
	opt.OnRow = func(r preflight.Row) { rows = append(rows, r) }
	rep, err := preflight.Run(t.Context(), in, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Files { // of another folder in another run
		rep.Files[i] = filepath.Base(rep.Files[i])
	}
	return rep, rows
}

// formCodes say that a row is not as the trainer wants it. No shard has one.
var formCodes = []preflight.Code{
	preflight.NotJSON, preflight.FileType, preflight.NoMessages, preflight.OrderLaw, preflight.OddCount, preflight.UnknownRole, preflight.BadContent,
	preflight.BadTools, preflight.BadCall, preflight.ToolsList, preflight.TemplateError, preflight.ToolsNotShown, preflight.ArrowType,
}

// Real records go through a shard of each format to its trainer: no row is
// refused for its form, all rows are accounted for, only what is too long for
// the cutoff is cut or dropped, and the number of workers changes nothing.
func TestRealRowsReachTheTrainers(t *testing.T) {
	recs := realRecords(t)
	tok := qwen3(t)
	tmpl, err := chat.Builtin("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		trainer preflight.Trainer
		format  train.Format
		// Arguments that are objects make columns, and Arrow ends the run where
		// two tools give one name to values of two types.
		columns bool
	}{
		{preflight.LlamaFactory, train.LlamaFactory, false},
		{preflight.TRL, train.TRL, true},
		{preflight.TRL, train.OpenAI, false},
		{preflight.MSSwift, train.MSSwift, false},
		{preflight.Axolotl, train.Axolotl, false},
	} {
		t.Run(string(test.trainer)+" reads "+string(test.format), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "rows")
			choices := train.ShardOptions{Out: dir, Format: test.format, Projection: train.Full, Shards: 2}
			m, err := train.Shard(t.Context(), seqOf(recs), choices)
			if err != nil {
				t.Fatal(err)
			}
			opt := preflight.Options{Trainer: test.trainer, Template: tmpl, Tokenizer: tok, Cutoff: 700, Workers: 1}
			rep, rows := simulate(t, dir, opt)
			if rep.Rows != m.Rows || len(rows) != m.Rows || m.Rows < len(recs)*9/10 {
				t.Fatalf("%d rows told of and %d in the report, of %d rows and %d records", len(rows), rep.Rows, m.Rows, len(recs))
			}
			if sum := rep.Whole + rep.Cut + rep.Dropped + rep.Fails; sum != rep.Rows {
				t.Errorf("%d whole, %d cut, %d dropped, %d fail: %d of %d rows", rep.Whole, rep.Cut, rep.Dropped, rep.Fails, sum, rep.Rows)
			}
			for _, c := range rep.Codes {
				if slices.Contains(formCodes, c.Code) && (c.Code != preflight.ArrowType || !test.columns) {
					t.Errorf("%s in %d rows, first %v: %s", c.Code, c.Rows, c.Examples, c.First)
				}
			}
			if test.columns != (rep.Fails > 0) {
				t.Errorf("the run ends at %d rows; arguments make columns: %v", rep.Fails, test.columns)
			}
			checkLengths(t, opt.Cutoff, rep, rows)
			if test.format == train.TRL {
				checkTokens(t, choices, opt, recs, rows)
			}
			opt.Workers = 3
			again, rowsAgain := simulate(t, dir, opt)
			if one, three := encoded(t, rep, rows), encoded(t, again, rowsAgain); one != three {
				t.Errorf("three workers tell something else than one: %s", cmp.Diff(one, three))
			}
		})
	}
}

// checkLengths compares the rows with the cutoff and with the sums of the report.
func checkLengths(t *testing.T, cutoff int, rep preflight.Report, rows []preflight.Row) {
	t.Helper()
	var tokens, kept, trained, long int
	for _, r := range rows {
		tokens += r.Tokens
		kept += r.Kept
		trained += r.Trained
		if r.Tokens > cutoff {
			long++
		} else if r.Outcome == preflight.Fails {
			continue
		} else if r.Outcome != preflight.Whole || r.Kept != r.Tokens {
			t.Errorf("%s has %d of %d tokens and is %s: %d of them are kept", r.ID, r.Tokens, cutoff, r.Outcome, r.Kept)
		}
		if r.Kept > cutoff || r.Trained > r.Kept {
			t.Errorf("%s keeps %d tokens of at most %d, and trains %d", r.ID, r.Kept, cutoff, r.Trained)
		}
	}
	if tokens != rep.Tokens || kept != rep.Kept || trained != rep.Trained {
		t.Errorf("the rows have %d, %d and %d tokens, the report %d, %d and %d", tokens, kept, trained, rep.Tokens, rep.Kept, rep.Trained)
	}
	if long == 0 || long == len(rows) || rep.Trained == 0 {
		t.Errorf("%d of %d rows are too long, %d tokens are trained: the test shows nothing", long, len(rows), rep.Trained)
	}
}

// checkTokens counts the tokens of every row in another way: from the record,
// never from the row.
func checkTokens(t *testing.T, choices train.ShardOptions, opt preflight.Options, recs []qaoa.Record, rows []preflight.Row) {
	t.Helper()
	want := map[string]int{}
	for _, rec := range recs {
		c, rej, err := train.Conversation(rec, choices)
		if err != nil {
			t.Fatal(err)
		}
		if rej != nil {
			continue
		}
		text, err := opt.Template.Render(c, chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want[rec.ID] = opt.Tokenizer.Count(text.Text)
	}
	for _, r := range rows {
		if want[r.ID] != r.Tokens {
			t.Errorf("%s has %d tokens, its record %d", r.ID, r.Tokens, want[r.ID])
		}
	}
}

func encoded(t *testing.T, rep preflight.Report, rows []preflight.Row) string {
	t.Helper()
	data, err := json.MarshalIndent(map[string]any{"report": rep, "rows": rows}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
