package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

// settings returns options and the settings of a run over recs.
func settings(t *testing.T, opt eval.Options, recs ...qaoa.Record) eval.Settings {
	t.Helper()
	survey, err := eval.Look(t.Context(), each(recs...), opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := eval.NewSettings(opt, survey)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runFolder runs recs in dir to the end.
func runFolder(t *testing.T, dir string, m model.Chatter, opt eval.Options, recs ...qaoa.Record) (eval.Summary, error) {
	t.Helper()
	f, err := eval.Open(dir, settings(t, opt, recs...))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := f.Run(t.Context(), m, each(recs...), opt)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return sum, err
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFolderWholeRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	recs := many(6)
	opt := eval.Options{Model: "fake/gold", Repeats: 2, Workers: 4}
	sum, err := runFolder(t, dir, chatter(golden), opt, recs...)
	if err != nil {
		t.Fatal(err)
	}
	if c := sum.Counts; c.Planned != 12 || c.Finished != 12 || c.Failed != 0 || c.Parsed != 12 || c.Replies != 12*5 || c.PromptTokens != 600 || c.CompletionTokens != 120 {
		t.Errorf("counts %+v", c)
	}
	info, err := eval.ReadRun(dir)
	if err != nil || info.State != eval.StateComplete || info.Settings.Model != "fake/gold" || info.Settings.Records != 6 {
		t.Errorf("run.json %+v, %v", info, err)
	}
	lines := bytes.Split(bytes.TrimSuffix(read(t, dir, eval.PredictionsFile), []byte("\n")), []byte("\n"))
	if len(lines) != 12 {
		t.Fatalf("%d predictions; want 12", len(lines))
	}
	for i, line := range lines {
		p, err := qaoa.DecodePrediction(line)
		if err != nil || p.ID != recs[i/2].ID || p.Repeat != i%2 || shape(p.Turns) != shape(recs[i/2].Turns) {
			t.Errorf("line %d is %+v, %v; want the gold of %s", i+1, p, err, recs[i/2].ID)
		}
		if bytes.Contains(line, []byte("latency")) || bytes.Contains(line, []byte("attempts")) {
			t.Errorf("line %d holds what differs from run to run: %s", i+1, line)
		}
	}
}

func TestFolderSameBytesForAnyWorkers(t *testing.T) {
	var want []byte
	for _, workers := range []int{1, 2, 8} {
		dir := t.TempDir()
		if _, err := runFolder(t, dir, chatter(golden), eval.Options{Workers: workers, Repeats: 2}, many(10)...); err != nil {
			t.Fatal(err)
		}
		got := read(t, dir, eval.PredictionsFile)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("predictions of %d workers differ from those of one", workers)
		}
	}
}

// A kill leaves a journal that is cut at any byte. Whatever the cut, the run
// goes on to the same predictions, and asks about finished pairs no more.
func TestFolderResumesAfterAnyCut(t *testing.T) {
	recs := []qaoa.Record{record("a", "s", "f:1"), record("b\n\"é", "s", "")}
	opt := eval.Options{}
	whole := t.TempDir()
	if _, err := runFolder(t, whole, chatter(golden), opt, recs...); err != nil {
		t.Fatal(err)
	}
	journal, want := read(t, whole, eval.JournalFile), read(t, whole, eval.PredictionsFile)
	set := settings(t, opt, recs...)
	info := read(t, whole, eval.RunFile)

	resume := func(t *testing.T, cut int) {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(cut))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{eval.RunFile: info, eval.JournalFile: journal[:cut]} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := eval.Open(dir, set)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		finished := bytes.Count(journal[:cut], []byte("\n"))
		torn := int64(cut - (bytes.LastIndexByte(journal[:cut], '\n') + 1))
		if f.Dropped != torn || f.Finished() != finished {
			t.Fatalf("cut at %d: %d bytes dropped, %d pairs finished; want %d and %d", cut, f.Dropped, f.Finished(), torn, finished)
		}
		var asked counter
		if _, err := f.Run(t.Context(), asked.wrap(golden), each(recs...), opt); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, eval.PredictionsFile); !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: predictions\n%s\nwant\n%s", cut, got, want)
		}
		if len(asked.asked) != len(recs)-finished {
			t.Fatalf("cut at %d: asked about %v; want the %d unfinished", cut, asked.asked, len(recs)-finished)
		}
	}
	const lanes = 16 // the disk is what takes the time
	for lane := range lanes {
		t.Run(fmt.Sprint("lane ", lane), func(t *testing.T) {
			t.Parallel()
			for cut := lane; cut <= len(journal); cut += lanes {
				resume(t, cut)
			}
		})
	}
}

func TestFolderRefusesADamagedMiddle(t *testing.T) {
	dir := t.TempDir()
	opt := eval.Options{}
	if _, err := runFolder(t, dir, chatter(golden), opt, many(4)...); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, eval.JournalFile)
	journal := read(t, path)
	lines := bytes.SplitAfter(journal, []byte("\n"))
	at := len(lines[0]) + len(lines[1])/2
	journal[at] ^= 1
	if err := os.WriteFile(path, journal, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := eval.Open(dir, settings(t, opt, many(4)...))
	if err == nil || !strings.Contains(err.Error(), eval.JournalFile+":2: ") {
		t.Fatalf("Open of a damaged journal: %v; want an error that names line 2", err)
	}
	// The remedy of the message works.
	rest := append(bytes.Clone(lines[0]), bytes.Join(lines[2:], nil)...)
	if err := os.WriteFile(path, rest, 0o644); err != nil {
		t.Fatal(err)
	}
	var asked counter
	if _, err := runFolder(t, dir, asked.wrap(golden), opt, many(4)...); err != nil {
		t.Fatal(err)
	}
	if len(asked.asked) != 1 {
		t.Errorf("asked about %v; want the deleted one", asked.asked)
	}
}

func TestFolderRetriesFailures(t *testing.T) {
	dir, whole := t.TempDir(), t.TempDir()
	recs, opt := many(5), eval.Options{Workers: 2}
	down := chatter(func(ctx context.Context, req model.Request) (model.Reply, error) {
		if id := req.Case.Record.ID; id == "set/001" || id == "set/003" && req.Turn == 1 {
			return model.Reply{}, &model.Error{Class: model.ClassTimeout, Msg: "no reply in 60s", Attempts: 4}
		}
		return golden(ctx, req)
	})
	sum, err := runFolder(t, dir, down, opt, recs...)
	if err != nil {
		t.Fatal(err)
	}
	if c := sum.Counts; c.Finished != 3 || c.Failed != 2 || c.Classes[model.ClassTimeout] != 2 || len(sum.Failed) != 2 || sum.Failed[0].ID != "set/001" {
		t.Errorf("summary %+v; want 2 timeouts", sum)
	}
	if got := bytes.Count(read(t, dir, eval.PredictionsFile), []byte("\n")); got != 3 {
		t.Errorf("%d predictions; want 3: a failure is no answer", got)
	}
	if info, err := eval.ReadRun(dir); err != nil || info.State != eval.StateIncomplete || info.Counts.Failed != 2 {
		t.Errorf("run.json %+v, %v; want an incomplete run", info, err)
	}
	var asked counter
	sum, err = runFolder(t, dir, asked.wrap(golden), opt, recs...)
	if err != nil || sum.Counts.Failed != 0 || sum.Counts.Finished != 5 || len(asked.asked) != 2 {
		t.Errorf("resumed: %+v, %v after asking %v; want the 2 failures asked again", sum.Counts, err, asked.asked)
	}
	if _, err := runFolder(t, whole, chatter(golden), opt, recs...); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, dir, eval.PredictionsFile), read(t, whole, eval.PredictionsFile)) {
		t.Error("predictions differ from those of a run without failures")
	}
}

func TestFolderInterrupted(t *testing.T) {
	dir := t.TempDir()
	recs, opt := many(9), eval.Options{Workers: 2}
	ctx, cancel := context.WithCancel(t.Context())
	stopping := opt
	stopping.Progress = func(p eval.Progress) {
		if p.Done == 3 {
			cancel()
		}
	}
	f, err := eval.Open(dir, settings(t, opt, recs...))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := f.Run(ctx, chatter(golden), each(recs...), stopping)
	if !eval.Interrupted(err) || sum.Counts.Finished < 3 || sum.Counts.Finished == 9 {
		t.Errorf("Run = %+v, %v; want an interrupt after some", sum.Counts, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := eval.ReadRun(dir); err != nil || info.State != eval.StateInterrupted {
		t.Errorf("state %q, %v; want interrupted", info.State, err)
	}
	var asked counter
	resumed, err := runFolder(t, dir, asked.wrap(golden), opt, recs...)
	if err != nil || resumed.Counts.Finished != 9 || len(asked.asked) != 9-sum.Counts.Finished {
		t.Errorf("resumed: %+v, %v, asked %v", resumed.Counts, err, asked.asked)
	}
}

func TestOpenRefuses(t *testing.T) {
	opt := eval.Options{Model: "m"}
	set := settings(t, opt, many(2)...)

	t.Run("a folder in use", func(t *testing.T) {
		dir := t.TempDir()
		f, err := eval.Open(dir, set)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eval.Open(dir, set); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("second Open: %v; want it refused", err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f, err = eval.Open(dir, set)
		if err != nil {
			t.Fatalf("Open after Close: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("other settings", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := runFolder(t, dir, chatter(golden), opt, many(2)...); err != nil {
			t.Fatal(err)
		}
		before := read(t, dir, eval.RunFile)
		other := opt
		other.Model, other.Sampling.Temperature = "n", 0.7
		_, err := eval.Open(dir, settings(t, other, many(3)...))
		differ, ok := errors.AsType[*eval.SettingsError](err)
		if !ok {
			t.Fatalf("Open: %v; want a SettingsError", err)
		}
		want := []string{`model: now "n", in the folder "m"`, `data: `, `candidate lists: `, `records: now "3"`, `temperature: now "0.7"`}
		if len(differ.Diffs) != len(want) {
			t.Fatalf("differences %q; want %q", differ.Diffs, want)
		}
		for i, prefix := range want {
			if !strings.HasPrefix(differ.Diffs[i], prefix) {
				t.Errorf("difference %q; want %q", differ.Diffs[i], prefix)
			}
		}
		if !bytes.Equal(before, read(t, dir, eval.RunFile)) {
			t.Error("a refused Open changed run.json")
		}
	})
	t.Run("a folder that is no run", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.Open(dir, set); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
			t.Errorf("Open: %v; want an error that names the file", err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("a refused Open left %v (%v) in the folder; want what was there", files, err)
		}
	})
	t.Run("a run.json that is none", func(t *testing.T) {
		for _, text := range []string{"{", `{"format":"assay-run/99"}`, `[]`} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, eval.RunFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := eval.Open(dir, set); err == nil || !strings.Contains(err.Error(), eval.RunFile) {
				t.Errorf("Open with run.json %q: %v; want an error that names it", text, err)
			}
		}
	})
	t.Run("reading no run", func(t *testing.T) {
		if _, err := eval.ReadRun(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadRun of an empty folder: %v; want fs.ErrNotExist", err)
		}
	})
}

func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	opt := eval.Options{}
	recs := many(2)
	survey, err := eval.Look(context.Background(), each(recs...), opt)
	if err != nil {
		f.Fatal(err)
	}
	set, err := eval.NewSettings(opt, survey)
	if err != nil {
		f.Fatal(err)
	}
	folder, err := eval.Open(dir, set)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := folder.Run(context.Background(), chatter(golden), each(recs...), opt); err != nil {
		f.Fatal(err)
	}
	if err := folder.Close(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, eval.JournalFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(""))
	f.Add([]byte("\n\n{}"))
	f.Add([]byte(`{"sum":"0000000000000000",}` + "\n"))
	f.Add(good[:len(good)/2])
	// Whatever follows good lines, they are kept, or the file is refused.
	f.Fuzz(func(t *testing.T, tail []byte) {
		path := filepath.Join(dir, eval.JournalFile)
		if err := os.WriteFile(path, append(bytes.Clone(good), tail...), 0o644); err != nil {
			t.Fatal(err)
		}
		folder, err := eval.Open(dir, set)
		if err != nil {
			return
		}
		if n := folder.Finished(); n < 2 {
			t.Errorf("%d finished pairs with tail %q; want both", n, tail)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFinishThatCannotWriteSaysWhatIsSafe(t *testing.T) {
	dir := t.TempDir()
	opt := eval.Options{Model: "m"}
	recs := many(3)
	f, err := eval.Open(dir, settings(t, opt, recs...))
	if err != nil {
		t.Fatal(err)
	}
	// No file can take the place of a folder that is not empty.
	if err := os.MkdirAll(filepath.Join(dir, eval.PredictionsFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	sum, err := f.Run(t.Context(), chatter(golden), each(recs...), opt)
	if err == nil {
		t.Error("Run returned no error; want that of the file")
	}
	if sum.Counts.Planned != 3 || sum.Counts.Finished != 3 {
		t.Errorf("counts %+v; want 3 planned and 3 finished", sum.Counts)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, eval.PredictionsFile)); err != nil {
		t.Fatal(err)
	}
	sum, err = runFolder(t, dir, chatter(func(context.Context, model.Request) (model.Reply, error) {
		t.Error("a finished pair was asked again")
		return model.Reply{}, nil
	}), opt, recs...)
	if err != nil || sum.Counts.Finished != 3 {
		t.Errorf("after the fault is mended: %+v, %v; want 3 finished", sum.Counts, err)
	}
}
