package runs_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
	"assay/runs"
)

// An echo is a model that fails on the records that it is told to.
type echo struct{ fails string }

func (e echo) Chat(_ context.Context, req model.Request) (model.Reply, error) {
	if id := req.Case.Record.ID; id == e.fails {
		return model.Reply{}, &model.Error{Class: model.ClassServer, Msg: "down", Attempts: 1}
	}
	return model.Reply{Text: "It is " + req.Case.Record.ID, Attempts: 1}, nil
}

func records() iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for i := range 20 {
			if !yield(qaoa.Record{ID: fmt.Sprint("r", i), Turns: []qaoa.Turn{{Query: fmt.Sprint("Say ", i)}}}, nil) {
				return
			}
		}
	}
}

// open opens the folder of one shard with the rest of opt.
func open(t *testing.T, dir string, opt eval.Options) *eval.Folder {
	t.Helper()
	survey, err := eval.Look(t.Context(), records(), opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := eval.NewSettings(opt, survey)
	if err != nil {
		t.Fatal(err)
	}
	s.Environment = map[string]string{"server": "http://" + filepath.Base(dir), "setting": "gt"}
	f, err := eval.Open(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ask(t *testing.T, dir, shard, fails string, seed int64) string {
	t.Helper()
	var err error
	opt := eval.Options{Model: "test/echo", Sampling: model.Sampling{Seed: seed}}
	if opt.Shard, err = eval.ParseShard(shard); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, opt)
	if _, err := f.Run(t.Context(), echo{fails}, records(), opt); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// firstOf returns the id of a record that belongs to a shard.
func firstOf(shard eval.Shard) string {
	for rec, err := range records() {
		if err != nil {
			return ""
		}
		if shard.Takes(rec.ID) {
			return rec.ID
		}
	}
	return ""
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	whole := ask(t, at("whole"), "", "", 0)
	a, b, c := ask(t, at("a"), "0/3", "", 0), ask(t, at("b"), "1/3", "", 0), ask(t, at("c"), "2/3", "", 0)
	other := ask(t, at("other"), "2/3", "", 7)
	half := ask(t, at("half"), "2/3", firstOf(eval.Shard{Index: 2, Count: 3}), 0)
	four := ask(t, at("four"), "3/4", "", 0)
	// A shard that was killed says that it is running, and has half a journal.
	killed := ask(t, at("killed"), "2/3", "", 0)
	shorten(t, killed)
	tests := []struct {
		name  string
		in    []string
		gaps  bool
		says  string // part of the error, "" for none
		isGap bool
	}{
		{"all, in any order", []string{c, a, b}, false, "", false},
		{"one is missing", []string{a, c}, false, "no folder holds shard 1 of 3", true},
		{"one is missing, which is allowed", []string{a, c}, true, "", false},
		{"one has failures left", []string{a, b, half}, false, "half is incomplete", true},
		{"one was killed", []string{a, b, killed}, false, "killed holds", true},
		{"one was killed, which is allowed", []string{a, b, killed}, true, "", false},
		{"one twice", []string{a, b, c, half}, false, "overlap", false},
		{"another seed", []string{a, b, other}, false, "seed: now \"7\"", false},
		{"parts of other size", []string{a, b, four}, false, "want parts of one run", false},
		{"a whole run", []string{a, whole}, false, "no shard of one", false},
		{"no run at all", []string{a, dir}, false, "run.json", false},
		{"none", nil, false, "have none", false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := at(fmt.Sprint("out", i))
			sum, err := runs.Merge(out, tt.in, tt.gaps)
			if tt.says != "" {
				_, isGap := errors.AsType[*runs.GapError](err)
				if err == nil || !strings.Contains(err.Error(), tt.says) || isGap != tt.isGap {
					t.Errorf("Merge = %v; want %q", err, tt.says)
				}
				if _, err := os.Stat(out); err == nil {
					t.Error("a folder was left behind")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !tt.gaps && sum.Counts.Finished != 20 || tt.gaps && (sum.Counts.Finished == 0 || sum.Counts.Finished >= 20) {
				t.Errorf("%d of 20 finished", sum.Counts.Finished)
			}
			// Resuming asks for what is missing, and the result is that of one run.
			ask(t, out, "", "", 0)
			for _, name := range []string{eval.PredictionsFile} {
				if got, want := read(t, out, name), read(t, whole, name); got != want {
					t.Errorf("%s\n%s\nwant\n%s", name, got, want)
				}
			}
		})
	}
	info, err := eval.ReadRun(at("out0"))
	if err != nil || info.Settings.Environment["server"] != "http://a, http://b, http://c" || info.Settings.Environment["setting"] != "gt" {
		t.Errorf("environment %v, %v; want all servers and one setting", info.Settings.Environment, err)
	}
	if _, err := runs.Merge(at("out0"), []string{a, b, c}, false); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("into a folder with a run: %v", err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// shorten makes dir what a kill leaves.
func shorten(t *testing.T, dir string) {
	t.Helper()
	journal := read(t, dir, eval.JournalFile)
	for name, text := range map[string]string{
		eval.JournalFile: journal[:len(journal)/2],
		eval.RunFile:     strings.Replace(read(t, dir, eval.RunFile), `"complete"`, `"running"`, 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestList(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	ask(t, at("b"), "", "", 0)
	ask(t, at("deep/er/a"), "0/2", "", 0)
	ask(t, at("failed"), "", "r3", 0)
	ask(t, at(".hidden/x"), "", "", 0)
	ask(t, at("1/2/3/4/5/too-deep"), "", "", 0)
	shorten(t, ask(t, at("killed"), "", "", 0))
	busy := open(t, at("busy"), eval.Options{Model: "test/echo"})
	if err := os.MkdirAll(at("broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("broken/run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := runs.List(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		rel, err := filepath.Rel(root, r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel+" "+string(r.State))
		if r.Fault == "" && (r.Bytes == 0 || r.Updated.IsZero()) {
			t.Errorf("%s: %d bytes, updated %s", rel, r.Bytes, r.Updated)
		}
		if (r.Holder != "") != (rel == "busy") {
			t.Errorf("%s: held by %q", rel, r.Holder)
		}
	}
	const want = "b complete, broken , busy running, deep/er/a complete, failed incomplete, killed killed"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("List = %s\nwant %s", s, want)
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.List(t.Context(), at("nowhere")); err == nil {
		t.Error("a folder that is not there was listed")
	}
	if _, err := runs.Look(root); err == nil || !strings.Contains(err.Error(), "holds no run") {
		t.Errorf("Look of no run folder: %v", err)
	}
}

func TestRemove(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	good, extra, linked := ask(t, at("good"), "", "", 0), ask(t, at("extra"), "", "", 0), ask(t, at("linked"), "", "", 0)
	if err := os.WriteFile(filepath.Join(extra, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(linked, at("link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, dir, says string }{
		{"a run folder", good, ""},
		{"one that is gone", good, "no such file"},
		{"one with a file of somebody else", extra, "thesis.tex"},
		{"a link to one", at("link"), "a file or a link"},
		{"a folder above", root, "holds no run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := runs.Remove(tt.dir)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Remove = %v; want %q", err, tt.says)
			}
		})
	}
	for _, dir := range []string{extra, linked} {
		if _, err := runs.Look(dir); err != nil {
			t.Errorf("a refused folder was touched: %v", err)
		}
	}
	if _, err := os.Stat(good); err == nil {
		t.Error("the run folder is still there")
	}
}
