package convert_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"assay/convert"
	"assay/internal/raw"
	"assay/qaoa"

	json "github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
)

// acme is an invented source. An element is {"id"?, "n", "do"?}; n is how many
// records it makes.
var acme = convert.Source{
	Name: "acme",
	Kind: convert.Train,
	Files: []convert.File{
		{Glob: "acme*.json", Role: convert.Records, Note: "conversations"},
		{Glob: "old/acme*.json", Role: convert.Extra, Note: "the first edition"},
		{Glob: "tools.json", Role: convert.Side, Note: "tools"},
		{Glob: "acme_demo.json.txt", Role: convert.Trap, Note: "a page about them"},
		{Glob: "map.json", Role: convert.Records, Layout: convert.ObjectMap, Note: "a map"},
	},
	Open: func(_ context.Context, in convert.Input) (convert.Func, error) {
		if in.Options.Tools == "missing" {
			return nil, fs.ErrNotExist
		}
		return acmeFunc, nil
	},
}

func acmeFunc(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
	var in struct {
		ID string
		N  int
		Do string
	}
	if err := json.Unmarshal(el.Data, &in); err != nil {
		return nil, []*convert.Reject{convert.Rejectf(convert.ParseError, "", "want an object: %v", err)}
	}
	switch in.Do {
	case "panic":
		panic("for a test")
	case "reject":
		return nil, []*convert.Reject{convert.Rejectf(convert.NoCall, "/do", "want a call")}
	}
	var recs []qaoa.Record
	for range in.N {
		recs = append(recs, qaoa.Record{ID: in.ID, Turns: []qaoa.Turn{{Query: "q" + el.Key}}})
	}
	return recs, nil
}

// run converts files given as name, text pairs and describes each outcome.
func run(t *testing.T, opt convert.RunOptions, files ...string) (got []string, sum convert.Summary, end error) {
	t.Helper()
	fsys := fstest.MapFS{}
	in := convert.Input{FS: fsys}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		in.Files = append(in.Files, files[i])
	}
	for o, err := range convert.Run(t.Context(), acme, []convert.Input{in}, opt) {
		if end != nil {
			t.Fatalf("an outcome comes after the error %v", end)
		}
		if err != nil {
			end = err
			continue
		}
		sum.Add(o)
		for _, rec := range o.Records {
			if want := (qaoa.Source{Name: "acme", File: o.Pos.File, Index: o.Pos.Index, Split: "train"}); rec.Source != want {
				t.Errorf("source of %s is %+v, want %+v", rec.ID, rec.Source, want)
			}
			got = append(got, rec.ID)
		}
		for _, rej := range o.Rejects {
			got = append(got, string(rej.Stage)+" "+rej.Error())
		}
	}
	if err := sum.Check(); err != nil {
		t.Error(err)
	}
	return got, sum, end
}

func TestRun(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		opt   convert.RunOptions
		want  []string
		err   string
	}{
		{"the source's own ID is completed", []string{"acme.json", `{"id":"a","n":1}`}, convert.RunOptions{}, []string{"acme/a"}, ""},
		{"an element without ID has its place", []string{"d/acme.v1.json.gz", "{\"n\":1}\n{\"n\":1}"}, convert.RunOptions{}, []string{"acme/d/acme.v1#0", "acme/d/acme.v1#1"}, ""},
		{
			"a second record of that ID has its place, a third a number",
			[]string{"acme.json", "{\"id\":\"a\",\"n\":1}\n{\"id\":\"a\",\"n\":3}"},
			convert.RunOptions{},
			[]string{"acme/a", "acme/acme#1", "acme/acme#1~2", "acme/acme#1~3"},
			"",
		},
		{
			"rejects have a place and a stage",
			[]string{"acme.json", "{\"n\":1}\n{\"do\":\"reject\"}\n{\"n\":1}"},
			convert.RunOptions{},
			[]string{"acme/acme#0", "convert acme.json:2: /do: no_call: want a call", "acme/acme#2"},
			"",
		},
		{
			"a source that panics or makes nothing costs one element",
			[]string{"acme.json", "{\"do\":\"panic\"}\n{\"n\":0}\n{\"n\":1}"},
			convert.RunOptions{},
			[]string{
				"convert acme.json:1: parse_error: the source failed on this element, which is a fault of the source: for a test",
				"convert acme.json:2: parse_error: the source made neither a record nor a reject of this element", "acme/acme#2",
			},
			"",
		},
		{
			"broken JSON never reaches the source",
			[]string{"acme.json", "{\"n\":1}\n{\"n\":\n{\"n\":1}"},
			convert.RunOptions{},
			[]string{"acme/acme#0", `read acme.json:2: parse_error: not valid JSON: the text ends before the value does; the element begins with "{\"n\":"`, "acme/acme#2"},
			"",
		},
		{
			"nor does an element that is nested too deep",
			[]string{"acme.json", `{"n":1,"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}\n{\"n\":1}"},
			convert.RunOptions{},
			[]string{`read acme.json:1: parse_error: not valid JSON at byte 10010: exceeded max depth; the element begins with "` +
				`{\"n\":1,\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["`, "acme/acme#1"},
			"",
		},
		{"invalid UTF-8 is mended", []string{"acme.json", "{\"id\":\"\xff\",\"n\":1}"}, convert.RunOptions{}, []string{"acme/\uFFFD"}, ""},
		{
			"a large element is rejected",
			[]string{"acme.json", "{\"n\":1}\n{\"n\":1,\"x\":\"aaaaaaaaaa\"}\n{\"n\":1}"},
			convert.RunOptions{MaxElement: 15},
			[]string{"acme/acme#0", "read acme.json:2: too_large: want at most 15 bytes, have 24", "acme/acme#2"},
			"",
		},
		{
			"a cut-off file ends the run after its elements",
			[]string{"acme.json", "{\"n\":1}\n{\"n\":1", "acme2.json", `{"n":1}`},
			convert.RunOptions{},
			[]string{"acme/acme#0"},
			"acme.json: byte 14: after 1 elements",
		},
		{"files follow each other", []string{"acme2.json", `[{"n":1}]`, "acme1.json", `{"n":1}`}, convert.RunOptions{}, []string{"acme/acme2#0", "acme/acme1#0"}, ""},
		{"a limit is for all files", []string{"acme2.json", `[{"n":1}]`, "acme1.json", "{\"n\":1}\n{\"n\":1}"}, convert.RunOptions{Limit: 2}, []string{"acme/acme2#0", "acme/acme1#0"}, ""},
		{"a file has the layout that its source says", []string{"map.json", `{"x":{"n":1}}`}, convert.RunOptions{}, []string{"acme/map#0"}, ""},
		{"a missing file is an error", []string{"acme.json", `{"n":1}`}, convert.RunOptions{Options: convert.Options{Tools: "missing"}}, nil, "acme: file does not exist"},
		{
			"unwanted elements are not broken",
			[]string{"acme.json", "{\"do\":\"reject\"}\n{\"n\":1}"},
			convert.RunOptions{MaxBad: -1},
			[]string{"convert acme.json:1: /do: no_call: want a call", "acme/acme#1"},
			"",
		},
		{
			"broken ones may be too many",
			[]string{"acme.json", "{\"n\":1}\n{\"do\":\"panic\"}\n{\"do\":\"panic\"}\n{\"n\":1}"},
			convert.RunOptions{MaxBad: 1},
			[]string{
				"acme/acme#0", "convert acme.json:2: parse_error: the source failed on this element, which is a fault of the source: for a test",
				"convert acme.json:3: parse_error: the source failed on this element, which is a fault of the source: for a test",
			},
			"more than 1 broken elements, the last one is acme.json:3",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{0, 1, 8} {
				tt.opt.Workers = workers
				got, _, err := run(t, tt.opt, tt.files...)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%d workers: (-want +got):\n%s", workers, diff)
				}
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%d workers: error %v, want %q", workers, err, tt.err)
				}
			}
		})
	}
}

func TestRunIsOrdered(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "{\"id\":\"%d\",\"n\":%d}\n", i%4000, i%3)
	}
	want, sum, err := run(t, convert.RunOptions{Workers: 1}, "acme.json", text.String())
	if err != nil || sum.Rejected != 1667 || sum.Converted != 4999 {
		t.Fatalf("%d records, %d rejects, %v", sum.Converted, sum.Rejected, err)
	}
	var last convert.Progress
	got, _, err := run(t, convert.RunOptions{Workers: 7, Progress: func(p convert.Progress) { last = p }}, "acme.json", text.String())
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("seven workers differ from one: %v %s", err, cmp.Diff(want, got))
	}
	n := int64(text.Len())
	if want := (convert.Progress{File: "acme.json", Bytes: n, TotalBytes: n, Elements: 5000, Records: 4999, Rejects: 1667}); last != want {
		t.Errorf("progress at the end %+v, want %+v", last, want)
	}
}

// openFS counts the files that are open.
type openFS struct {
	fs.FS
	open int
}

type openFile struct {
	fs.File
	fsys *openFS
}

func (f *openFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	f.open++
	return openFile{file, f}, err
}

func (f openFile) Close() error {
	f.fsys.open--
	return f.File.Close()
}

func TestRunLeavesNothingOpen(t *testing.T) {
	fsys := &openFS{FS: fstest.MapFS{"acme.json": {Data: []byte(strings.Repeat("{\"n\":1}\n", 100_000))}}}
	inputs := []convert.Input{{FS: fsys, Files: []string{"acme.json"}}}
	n := 0
	for _, err := range convert.Run(t.Context(), acme, inputs, convert.RunOptions{}) {
		if n++; err != nil || n == 10 {
			break
		}
	}
	if fsys.open != 0 { // the race detector sees a goroutine that goes on
		t.Errorf("%d files are open after a break", fsys.open)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	var end error
	for _, err := range convert.Run(ctx, acme, inputs, convert.RunOptions{}) {
		if n++; n == 10 {
			cancel()
		}
		end = err
	}
	if fsys.open != 0 || !errors.Is(end, context.Canceled) || n > 80_000 {
		t.Errorf("after a cancellation %d files are open, %d outcomes, the error is %v", fsys.open, n, end)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a/acme_b.json.gz", "a/acme_a.json", "a/old/acme.json", "a/tools.json", "a/acme_demo.json.txt", "a/LICENSE", "a/.git/acme.json",
		"b/deep/acme.json", "c/old/acme.json", "d/x.json",
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name  string
		paths []string
		want  string // root: files; skipped
		err   string
	}{
		{"a folder gives its records, by name", []string{"a"}, "a: acme_a.json acme_b.json.gz; skipped LICENSE=, acme_demo.json.txt=trap, old/acme.json=extra, tools.json=side", ""},
		{"two folders are two inputs", []string{"b", "a/old/acme.json"}, "b: deep/acme.json; a/old: acme.json; skipped", ""},
		{"an extra file is converted when it is named", []string{"c/old/acme.json", "c/old/acme.json"}, "c/old: acme.json; skipped", ""},
		{"or matched", []string{"c/*/*.json"}, "c/old: acme.json; skipped", ""},
		{"a file that the source does not know is converted when it is named", []string{"d/x.json"}, "d: x.json; skipped", ""},
		{"standard input", []string{"-"}, ": stdin; skipped", ""},
		{"an extra file is not enough in a folder", []string{"c"}, "", "c: none of its 1 files holds records of acme; 1 files are converted only if they are named themselves; want one of: acme*.json (conversations), old/acme*.json"},
		{"a folder without records", []string{"a", "d"}, "", "d: none of its 1 files holds records of acme; want one of: acme*.json"},
		{"a trap", []string{"a/acme_demo.json.txt"}, "", "acme_demo.json.txt: not records of acme but a trap file (a page about them); name one of: acme*.json"},
		{"a side table", []string{"a/tools.json"}, "", "not records of acme but a side file (tools)"},
		{"a path that does not exist", []string{"nope"}, "", "no such file"},
		{"a pattern without a match", []string{"nope*"}, "", "no file matches this pattern"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths []string
			for _, p := range tt.paths {
				if p != "-" {
					p = filepath.Join(dir, filepath.FromSlash(p))
				}
				paths = append(paths, p)
			}
			inputs, skipped, err := convert.Find(acme, paths)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			var got []string
			for _, in := range inputs {
				root, _ := strings.CutPrefix(in.Root, dir)
				got = append(got, strings.TrimPrefix(filepath.ToSlash(root), "/")+": "+strings.Join(in.Files, " "))
			}
			var left []string
			for _, s := range skipped {
				left = append(left, s.Name+"="+string(s.Role))
			}
			if err == nil {
				got = append(got, strings.TrimSpace("skipped "+strings.Join(left, ", ")))
			}
			if s := strings.Join(got, "; "); s != tt.want {
				t.Errorf("found   %s\nwant    %s", s, tt.want)
			}
		})
	}
}

func TestSummaryAndLedger(t *testing.T) {
	var sum convert.Summary
	sum.Source = "acme"
	call := qaoa.Call{Name: "f"}
	rec := qaoa.Record{Turns: []qaoa.Turn{{}, {Steps: []qaoa.Step{{Calls: []qaoa.Call{call}}, {Calls: []qaoa.Call{call, call}}}}}}
	rej := convert.Rejectf(convert.NoCall, "/a", "want <call>")
	sum.Add(convert.Outcome{Read: 2, Records: []qaoa.Record{rec}, Rejects: []*convert.Reject{rej}})
	got, err := json.Marshal(sum)
	const want = `{"source":"acme","read":2,"converted":1,"rejected":1,"codes":{"no_call":1},"calls":3,` +
		`"turns":{"single_hop":0,"multi_hop":1,"no_call":1},"conversations":{"single_turn":0,"multi_turn":1}}`
	if err != nil || string(got) != want {
		t.Errorf("summary %s, %v\nwant    %s", got, err, want)
	}
	sum.AddRecord(qaoa.Record{Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{call}}}}}}, "simple")
	if sum.RecordsByCategory["simple"] != 1 || sum.Turns.SingleHop != 1 || sum.Conversations.SingleTurn != 1 {
		t.Errorf("after a second record: %+v", sum)
	}
	if err := sum.Check(); err == nil || !strings.Contains(err.Error(), "2 converted and 1 rejected are not the 2 read") {
		t.Errorf("Check says %v of a record too many", err)
	}

	rej.Source, rej.Stage = "acme", convert.StageConvert
	rej.Pos = qaoa.Pos{File: "x/acme.json", Line: 3, Index: 2, Offset: 17}
	var b strings.Builder
	l := convert.NewLedger(&b)
	rej2 := *rej
	rej2.ID, rej2.Path, rej2.Detail = "i", "", strings.Repeat("é", 5000)
	if err := errors.Join(l.Write(rej), l.Write(&rej2)); err != nil {
		t.Fatal(err)
	}
	line1, line2, _ := strings.Cut(b.String(), "\n")
	if want := `{"source":"acme","file":"x/acme.json","index":2,"offset":17,"stage":"convert","code":"no_call","path":"/a","detail":"want <call>"}`; line1 != want {
		t.Errorf("ledger %s\nwant   %s", line1, want)
	}
	if !strings.HasPrefix(line2, `{"source":"acme","file":"x/acme.json","index":2,"offset":17,"id":"i","stage":"convert","code":"no_call","detail":"éé`) || len(line2) > 1200 {
		t.Errorf("a long detail makes a line of %d bytes: %.200s", len(line2), line2)
	}
}

func TestReadRecords(t *testing.T) {
	const native = `{"id":"x/1","source":{"name":"x","file":"f","index":0,"split":"test"},"tools":[],"turns":[{"query":"conversations \"conversations\": ","steps":[],"answer":""}]}`
	const interchange = `{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"ho"}],"tools":"[]","properties":{"id":"x/2"}}`
	text := native + "\n{\"id\":3}\n" + interchange + "\n{\n" + `{"id":"x/4","turns":[{"query":"","steps":[],"answer":""}],"meta":{"conversations":[]}}` + "\n[{"
	read := func(r io.Reader) (got []string, end error) {
		for rec, err := range convert.ReadRecords(t.Context(), r, "f") {
			if qe, ok := errors.AsType[*qaoa.Error](err); ok {
				got = append(got, fmt.Sprintf("line %d: %s", qe.Pos.Line, qe.Path))
			} else if err != nil {
				end = err
			} else {
				got = append(got, rec.ID)
			}
		}
		return got, end
	}
	want := []string{"x/1", "line 2: /id", "x/2", "line 4: ", "x/4"}
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		got, end := read(r)
		if !cmp.Equal(got, want) {
			t.Errorf("records %q, want %q", got, want)
		}
		if _, ok := errors.AsType[*raw.ContainerError](end); !ok {
			t.Errorf("the error of a cut-off file is %v", end)
		}
	}

	var ids []string
	for p, err := range convert.ReadPredictions(t.Context(), strings.NewReader(`[{"id":"a","turns":[]},{"id":"b","turns":[],"repeat":2}]`), "p") {
		ids = append(ids, fmt.Sprint(p.ID, p.Repeat, err))
	}
	if want := []string{"a0 <nil>", "b2 <nil>"}; !cmp.Equal(ids, want) {
		t.Errorf("predictions %q, want %q", ids, want)
	}
}

func TestReadPredictionFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": `{"id":"1","turns":[]}` + "\n" + `{"turns":[]}` + "\n",
		"b.jsonl": `{"conversations":[{"from":"human","value":""},{"from":"function_call","value":null}],"properties":{"id":"2"}}` + "\n" + `{"id":"3"`,
		"c.jsonl": `{"id":"4","turns":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for p, err := range convert.ReadPredictionFiles(t.Context(), []string{dir}) {
		s := p.ID
		if err != nil {
			s = fmt.Sprintf("%T", err)
		}
		got = append(got, s)
	}
	if want := []string{"1", "*qaoa.Error", "2", "*raw.ContainerError"}; !cmp.Equal(got, want) {
		t.Errorf("read %q, want %q: bad elements are passed over, a cut-off file is the end", got, want)
	}
	for _, err := range convert.ReadFiles(t.Context(), []string{filepath.Join(dir, "nope")}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file is %v", err)
		}
	}
}

func TestReadFilesAndOutput(t *testing.T) {
	dir := t.TempDir()
	const line = `{"id":"%s","turns":[{"query":"","steps":[],"answer":""}]}` + "\n"
	for _, name := range []string{"b.jsonl.zst", "a.jsonl", "c.jsonl.gz"} {
		var sizes [2][]byte
		for i := range sizes {
			o, err := convert.NewOutput(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				fmt.Fprintf(o, line, name)
			}
			if _, err := os.Stat(filepath.Join(dir, name)); i == 0 && err == nil {
				t.Errorf("%s is there before it is closed", name)
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			o.Abort() // does nothing
			if sizes[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if !cmp.Equal(sizes[0], sizes[1]) {
			t.Errorf("%s is not the same when it is written again", name)
		}
	}
	o, err := convert.NewOutput(filepath.Join(dir, "dropped.zst"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(o, line, "dropped")
	o.Abort()
	if err := o.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close after Abort returns %v", err)
	}

	var got []string
	for rec, err := range convert.ReadFiles(t.Context(), []string{dir}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.ID)
	}
	want := []string{"a.jsonl", "a.jsonl", "b.jsonl.zst", "b.jsonl.zst", "c.jsonl.gz", "c.jsonl.gz"}
	if !cmp.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("the folder holds %v, want three files", entries)
	}
	if _, err := convert.NewOutput(filepath.Join(dir, "no", "folder")); err == nil {
		t.Error("a file in a missing folder can be begun")
	}
}

func BenchmarkRun(b *testing.B) {
	text := strings.Repeat(`{"id":"a","n":1,"text":"`+strings.Repeat("word ", 500)+"\"}\n", 4000)
	inputs := []convert.Input{{FS: fstest.MapFS{"acme.json": {Data: []byte(text)}}, Files: []string{"acme.json"}}}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range convert.Run(b.Context(), acme, inputs, convert.RunOptions{Workers: workers}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
