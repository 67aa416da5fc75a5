package converttest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"assay/convert"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// Update reports whether the tests were started with -update, a flag that this
// package defines.
func Update() bool { return *update }

// Run tests src with the files in dir/raw, in both profiles, against
// dir/want.txt: every record and reject, in order. Nothing changes if files
// are read one byte at a time or converted by one, two or eight goroutines;
// IDs are unique, records are well formed and come back from their own
// encoding, converted + rejected = read, a loop may be left at any outcome, and
// a cancelled context ends the run.
func Run(t *testing.T, src convert.Source, dir string) {
	t.Helper()
	checkFacts(t, src)
	inputs, _, err := convert.Find(src, []string{filepath.Join(dir, "raw")})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, profile := range []convert.Profile{convert.Paper, convert.Strict} {
		fmt.Fprintf(&got, "# profile %s\n", profile)
		opt := convert.RunOptions{Options: convert.Options{Profile: profile}, Workers: 1}
		want := outcomes(t, src, inputs, opt)
		got.WriteString(want)
		for _, workers := range []int{2, 8} {
			opt.Workers = workers
			if diff := cmp.Diff(want, outcomes(t, src, inputs, opt)); diff != "" {
				t.Errorf("%s: %d workers make another result than one (-one +more):\n%s", profile, workers, diff)
			}
		}
		opt.Workers = 1
		slow := make([]convert.Input, len(inputs))
		for i, in := range inputs {
			in.FS = oneByteFS{in.FS}
			slow[i] = in
		}
		if diff := cmp.Diff(want, outcomes(t, src, slow, opt)); diff != "" {
			t.Errorf("%s: reading one byte at a time changes the result:\n%s", profile, diff)
		}
		checkBreak(t, src, inputs, opt)
	}
	compare(t, filepath.Join(dir, "want.txt"), got.String())
}

// checkFacts checks what a source says of itself.
func checkFacts(t *testing.T, src convert.Source) {
	t.Helper()
	if src.Name == "" || src.Name != strings.ToLower(src.Name) || strings.ContainsAny(src.Name, " /#") {
		t.Errorf("name %q: want lower case without blanks, / or #", src.Name)
	}
	if src.Kind != convert.Test && src.Kind != convert.Train {
		t.Errorf("kind %q: want test or train", src.Kind)
	}
	if src.Home == "" || src.Licence == "" || src.About == "" {
		t.Errorf("%s: Home, Licence and About must be filled in", src.Name)
	}
	records := 0
	for _, f := range src.Files {
		if _, err := path.Match(f.Glob, "x"); err != nil {
			t.Errorf("%s: pattern %q: %v", src.Name, f.Glob, err)
		}
		if f.Note == "" {
			t.Errorf("%s: pattern %q has no note", src.Name, f.Glob)
		}
		if f.Role == convert.Records {
			records++
		}
	}
	if records == 0 {
		t.Errorf("%s: no file has the role records", src.Name)
	}
}

// outcomes returns what src makes of inputs as text, and checks what holds for
// every record and reject.
func outcomes(t *testing.T, src convert.Source, inputs []convert.Input, opt convert.RunOptions) string {
	t.Helper()
	var b strings.Builder
	var sum convert.Summary
	ids := map[string]bool{}
	for o, err := range convert.Run(t.Context(), src, inputs, opt) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			continue
		}
		sum.Add(o)
		for _, rec := range o.Records {
			if ids[rec.ID] {
				t.Errorf("the ID %s is given out twice", rec.ID)
			}
			ids[rec.ID] = true
			line := qaoa.AppendRecord(nil, rec)
			fmt.Fprintf(&b, "record %s\n", line)
			checkRecord(t, src, rec, line)
		}
		for _, rej := range o.Rejects {
			fmt.Fprintf(&b, "reject %v\n", rej)
			checkReject(t, rej)
		}
	}
	if err := sum.Check(); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(&b, "# read %d, converted %d, rejected %d\n", sum.Read, sum.Converted, sum.Rejected)
	return b.String()
}

func checkRecord(t *testing.T, src convert.Source, rec qaoa.Record, line []byte) {
	t.Helper()
	if !strings.HasPrefix(rec.ID, src.Name+"/") || rec.Source.Name != src.Name || rec.Source.Split != string(src.Kind) {
		t.Errorf("%s: source %+v and ID must be those of %s (%s)", rec.ID, rec.Source, src.Name, src.Kind)
	}
	if rec.Source.File == "" || rec.Source.Index < 0 {
		t.Errorf("%s: place %q#%d", rec.ID, rec.Source.File, rec.Source.Index)
	}
	if len(rec.Turns) == 0 {
		t.Errorf("%s: a record has at least one turn", rec.ID)
	}
	for i, turn := range rec.Turns {
		for j, step := range turn.Steps {
			if len(step.Calls) == 0 {
				t.Errorf("%s: turn %d, step %d: a step has at least one call", rec.ID, i, j)
			}
			if n := len(step.Observations); n != 0 && n != len(step.Calls) {
				t.Errorf("%s: turn %d, step %d: %d observations for %d calls", rec.ID, i, j, n, len(step.Calls))
			}
		}
	}
	back, err := qaoa.DecodeRecord(line)
	if err != nil {
		t.Errorf("%s cannot be read again: %v", rec.ID, err)
	} else if again := qaoa.AppendRecord(nil, back); string(again) != string(line) {
		t.Errorf("%s changes when it is read and written again:\n%s\n%s", rec.ID, line, again)
	}
}

func checkReject(t *testing.T, rej *convert.Reject) {
	t.Helper()
	if rej.Code == "" || rej.Detail == "" || rej.Pos.File == "" || rej.Stage == "" || rej.Source == "" {
		t.Errorf("a reject lacks code, detail, place, stage or source: %+v", rej)
	}
	if rej.Path != "" && rej.Path[0] != '/' {
		t.Errorf("%v: the path is no JSON Pointer", rej)
	}
}

// checkBreak leaves a run after its first outcome, and cancels another.
func checkBreak(t *testing.T, src convert.Source, inputs []convert.Input, opt convert.RunOptions) {
	t.Helper()
	for _, err := range convert.Run(t.Context(), src, inputs, opt) {
		_ = err // the first outcome may be an error as well
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range convert.Run(ctx, src, inputs, opt) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a cancelled run ends in %v, want %v", last, context.Canceled)
	}
}

// compare compares got with the file, or rewrites it.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if Update() {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update to make it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); if the change is wanted, run the test with -update and read the difference:\n%s", file, diff)
	}
}

// oneByteFS reads one byte at a time.
type oneByteFS struct{ fs.FS }

func (f oneByteFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if dir, ok := file.(fs.ReadDirFile); ok {
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return oneByteFile{file}, nil
}

type oneByteFile struct{ fs.File }

func (f oneByteFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return f.File.Read(p[:1])
}
