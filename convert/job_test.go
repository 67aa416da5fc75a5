package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"assay/convert"
	"assay/qaoa"
)

// numbered is a source whose elements are {"n": 7}: multiples of 5 are
// rejected, and multiples of 7 share an ID.
var numbered = convert.Source{
	Name: "numbered", Kind: convert.Test,
	Files: []convert.File{{Glob: "*.jsonl", Role: convert.Records}},
	Open: func(context.Context, convert.Input) (convert.Func, error) {
		return func(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
			var n int
			if _, err := fmt.Sscanf(string(el.Data), `{"n": %d}`, &n); err != nil || n%5 == 0 {
				return nil, []*convert.Reject{convert.Rejectf(convert.NoCall, "/n", "want a call, have %d", n)}
			}
			id := fmt.Sprint(n)
			if n%7 == 0 {
				id = "same"
			}
			return []qaoa.Record{{ID: id, Turns: []qaoa.Turn{{Query: strings.Repeat("q", n%50)}}}}, nil
		}, nil
	},
}

// jobIn returns a job over two files with 1,000 elements, into dir.
func jobIn(dir, suffix string, opt convert.RunOptions) convert.Job {
	var a, b strings.Builder
	for n := range 1000 {
		w := &a
		if n >= 400 {
			w = &b
		}
		fmt.Fprintf(w, "{\"n\": %d}\n", n)
	}
	fsys := fstest.MapFS{
		"a.jsonl": {Data: []byte(a.String()), ModTime: time.Unix(1, 0)},
		"b.jsonl": {Data: []byte(b.String()), ModTime: time.Unix(1, 0)},
	}
	return convert.Job{
		Source: numbered, Inputs: []convert.Input{{FS: fsys, Root: "in", Files: []string{"a.jsonl", "b.jsonl"}}},
		Options: opt, Output: filepath.Join(dir, "out"+suffix), Ledger: filepath.Join(dir, "ledger"+suffix),
		Form: "qaoa", Append: qaoa.AppendRecord, Every: 50,
	}
}

// files returns what is in dir by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// interrupted runs the job until it has made so many rejects.
func interrupted(t *testing.T, j convert.Job, rejects int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	j.OnReject = func(*convert.Reject) {
		if n++; n == rejects {
			cancel()
		}
	}
	if _, err := j.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("the interrupted job ended with %v", err)
	}
}

func TestJobResumes(t *testing.T) {
	for _, suffix := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		t.Run(suffix, func(t *testing.T) {
			whole := t.TempDir()
			want, err := jobIn(whole, suffix, convert.RunOptions{}).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want.Read != 1000 || want.Rejected != 200 || want.Check() != nil {
				t.Fatalf("the whole job counts %+v", want)
			}
			// Stopped twice, and cut as a kill would cut it: some bytes of each
			// file never arrived.
			for _, cut := range []int{0, 1, 40, 300, 1 << 20} {
				dir := t.TempDir()
				interrupted(t, jobIn(dir, suffix, convert.RunOptions{Workers: 2}), 30)
				for name := range files(t, dir) {
					shorten(t, filepath.Join(dir, name), cut)
				}
				interrupted(t, jobIn(dir, suffix, convert.RunOptions{Workers: 1}), 80)
				j := jobIn(dir, suffix, convert.RunOptions{Workers: 3})
				from := 0
				j.OnResume = func(elements int) { from = elements }
				got, err := j.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if from == 0 {
					t.Errorf("cut by %d: the job began again", cut)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("cut by %d: resumed counts %+v, want %+v", cut, got, want)
				}
				if a, b := files(t, dir), files(t, whole); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("cut by %d: the resumed job left other files than the whole one", cut)
				}
			}
		})
	}
}

func shorten(t *testing.T, path string, n int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, max(info.Size()-int64(n), 0)); err != nil {
		t.Fatal(err)
	}
}

func TestJobBeginsAgainWhenItIsAnother(t *testing.T) {
	dir, whole := t.TempDir(), t.TempDir()
	interrupted(t, jobIn(dir, ".jsonl", convert.RunOptions{}), 100)
	other := jobIn(dir, ".jsonl", convert.RunOptions{Limit: 700})
	other.OnResume = func(int) { t.Error("a job with another limit was resumed") }
	if _, err := other.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := jobIn(whole, ".jsonl", convert.RunOptions{Limit: 700}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := files(t, dir), files(t, whole); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the job over what another one left differs from a fresh one")
	}
}

func TestJobKeepsWhatWasGoodBeforeABreak(t *testing.T) {
	dir := t.TempDir()
	j := jobIn(dir, ".jsonl", convert.RunOptions{})
	j.Inputs[0].FS = fstest.MapFS{"a.jsonl": {Data: []byte(`[{"n": 1},{"n": 2},{"n": `)}}
	j.Inputs[0].Files = []string{"a.jsonl"}
	sum, err := j.Run(t.Context())
	if err == nil || sum.Converted != 2 {
		t.Fatalf("a cut array: %+v, %v; want 2 records and an error", sum, err)
	}
	got := files(t, dir)
	if n := bytes.Count([]byte(got["out.jsonl"]), []byte("\n")); n != 2 || len(got) != 2 {
		t.Errorf("%d lines in %d files, want 2 lines of records and the ledger", n, len(got))
	}
}
