package train_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/qaoa"
	"assay/toolset"
	"assay/train"
)

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
		ctx  func() context.Context
		recs iter.Seq2[qaoa.Record, error]
		want string
	}{
		{"the records end in an error", t.Context, failing, "broken"},
		{"the context ends", func() context.Context { return ctx }, canceling, "canceled"},
		{"no records at all", t.Context, seqOf(), "there were no records"},
		{"a row that does not read back", t.Context, seqOf(damaged), "demo/trip: the row does not read back: /conversations/1: not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, "old")
			shard(t, train.ShardOptions{Out: old}, trip())
			before := files(t, old)
			for _, out := range []string{old, filepath.Join(dir, "new")} {
				_, err := train.Shard(tt.ctx(), tt.recs, train.ShardOptions{Out: out, Overwrite: true})
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
		{train.ShardOptions{Out: "x", Format: "f"}, "want llamafactory, openai, trl, ms-swift, axolotl or hermes"},
		{train.ShardOptions{Out: "x", Projection: "p"}, "want action-only or full"},
		{train.ShardOptions{Out: "x", FinalAnswer: "a"}, "want keep, empty or drop"},
		{train.ShardOptions{Out: "x", Grouping: "g"}, "want together or each"},
		{train.ShardOptions{Out: "x", Container: "c"}, "want jsonl, jsonl.gz, jsonl.zst or parquet"},
		{train.ShardOptions{Out: "x", Name: "a,b"}, "data set name"},
		{train.ShardOptions{Out: "x", Shards: 2, RowsPerShard: 2}, "only one of the two"},
		{train.ShardOptions{Out: "x", Shards: -1}, "want 1 to 1024"},
		{train.ShardOptions{Out: "x", Shards: 1025}, "want 1 to 1024"},
		{train.ShardOptions{Out: "x", RowsPerShard: -1}, "want at least 1"},
		{train.ShardOptions{Out: "x", Length: train.Length{Max: -1}}, "at most -1 tokens"},
		{train.ShardOptions{Out: "x", Length: train.Length{OverLong: "cut"}}, "want drop, split or keep"},
		{train.ShardOptions{Out: "x", Candidates: &train.Candidates{Options: toolset.Defaults()}}, "wants a pool of tools"},
		{train.ShardOptions{Out: "x", Candidates: &train.Candidates{}}, "candidate lists: "},
	}
	for _, tt := range tests {
		_, err := train.Shard(t.Context(), seqOf(trip()), tt.opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: err = %v, want one with %q", tt.opt, err, tt.want)
		}
		if check := tt.opt.Check(); check == nil || check.Error() != err.Error() {
			t.Errorf("%+v: Check = %v, want %v", tt.opt, check, err)
		}
	}
}
