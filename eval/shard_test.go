package eval_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assay/eval"
)

func TestParseShard(t *testing.T) {
	tests := []struct {
		in   string
		want eval.Shard
		ok   bool
	}{
		{"", eval.Shard{}, true},
		{"0/1", eval.Shard{Index: 0, Count: 1}, true},
		{"7/8", eval.Shard{Index: 7, Count: 8}, true},
		{"8/8", eval.Shard{}, false},
		{"-1/8", eval.Shard{}, false},
		{"1", eval.Shard{}, false},
		{"1/0", eval.Shard{}, false},
		{"1/x", eval.Shard{}, false},
		{"1/2/3", eval.Shard{}, false},
		{"0/1000000", eval.Shard{}, false},
	}
	for _, tt := range tests {
		got, err := eval.ParseShard(tt.in)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("ParseShard(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if tt.ok && got.String() != tt.in {
			t.Errorf("ParseShard(%q).String() = %q", tt.in, got)
		}
	}
}

// Every id belongs to exactly one shard, and none gets much more than its share.
func TestShardsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		id := rapid.String().Draw(t, "id")
		takers := 0
		for i := range n {
			if (eval.Shard{Index: i, Count: n}).Takes(id) {
				takers++
			}
		}
		if takers != 1 {
			t.Errorf("%d of %d shards take %q", takers, n, id)
		}
	})
	const ids, shards = 6163, 8
	for i := range shards {
		n := 0
		for k := range ids {
			if (eval.Shard{Index: i, Count: shards}).Takes(fmt.Sprint("bfcl/simple-", k)) {
				n++
			}
		}
		if n < ids/shards*8/10 || n > ids/shards*12/10 {
			t.Errorf("shard %d has %d of %d records", i, n, ids)
		}
	}
}

// Shards that are absorbed by one folder make the predictions of one run, byte
// for byte, and the folder goes on as that of the whole run.
func TestAbsorbShards(t *testing.T) {
	recs, opt := many(30), eval.Options{Repeats: 2, Model: "m"}
	whole := t.TempDir()
	if _, err := runFolder(t, whole, chatter(golden), opt, recs...); err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for i := range 4 {
		part := opt
		part.Shard = eval.Shard{Index: i, Count: 4}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		sum, err := runFolder(t, dir, chatter(golden), part, recs...)
		if err != nil || sum.Counts.Finished != sum.Counts.Planned || sum.Counts.Planned%2 != 0 {
			t.Fatalf("shard %d: %+v, %v", i, sum.Counts, err)
		}
		dirs = append(dirs, dir)
	}
	out := filepath.Join(t.TempDir(), "out")
	f, err := eval.Open(out, settings(t, opt, recs...))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs[:3] {
		if err := f.Absorb(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Absorb(dirs[1]); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("the same shard again: %v; want an overlap", err)
	}
	busy, err := eval.Open(dirs[3], func() eval.Settings {
		part := opt
		part.Shard = eval.Shard{Index: 3, Count: 4}
		return settings(t, part, recs...)
	}())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Absorb(dirs[3]); !errors.Is(err, eval.ErrLocked) {
		t.Errorf("a folder in use: %v; want ErrLocked", err)
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Absorb(dirs[3]); err != nil {
		t.Fatal(err)
	}
	if sum, err := f.Finish(false); err != nil || sum.Counts.Finished != 60 {
		t.Fatalf("%+v, %v", sum.Counts, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, out, eval.PredictionsFile), read(t, whole, eval.PredictionsFile)) {
		t.Error("the predictions of the parts differ from those of the whole")
	}
	var asked counter
	if _, err := runFolder(t, out, asked.wrap(golden), opt, recs...); err != nil || len(asked.asked) != 0 {
		t.Errorf("the whole run in the new folder asked %v, %v; want nothing left", asked.asked, err)
	}
}
