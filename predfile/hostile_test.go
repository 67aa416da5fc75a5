package predfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/predfile"
	"assay/qaoa"
)

// wrap returns a file of each form whose one model text, or one argument, is
// text.
func wrap(text string) map[predfile.Format]string {
	q := qaoa.Quote(text)
	args := qaoa.Quote(fmt.Sprintf(`{"x":%s}`, q))
	return map[predfile.Format]string{
		predfile.Assay:     fmt.Sprintf(`{"id":"a","turns":[{"steps":[{"calls":[{"name":"f","arguments":{"x":%s}}]}]}]}`, q),
		predfile.Plain:     fmt.Sprintf(`{"id":"a","calls":[%s,{"name":"f","arguments":%s}]}`, q, args),
		predfile.BFCL:      fmt.Sprintf(`{"id":"a","result":[[%s,{"f":%s}]]}`, q, args),
		predfile.Batch:     fmt.Sprintf(`{"custom_id":"a","response":{"body":{"choices":[{"message":{"content":%s}}]}}}`, q),
		predfile.Chat:      fmt.Sprintf(`{"id":"a","messages":[{"role":"assistant","content":%s,"tool_calls":[{"function":{"name":"f","arguments":%s}}]}]}`, q, args),
		predfile.EvalScope: fmt.Sprintf(`{"index":1,"metadata":{"id":"a"},"model_output":{"choices":[{"message":{"content":%s}}]}}`, q),
		predfile.Inspect:   fmt.Sprintf(`{"version":2,"eval":{},"samples":[{"id":"a","epoch":1,"messages":[{"role":"assistant","content":%s}]}]}`, q),
		predfile.Text:      fmt.Sprintf(`{"id":"a","text":%s}`, q),
	}
}

func TestEveryFormIsRecognised(t *testing.T) {
	for form, text := range wrap("hello") {
		var note predfile.FileNote
		got := read(t, "f", text, predfile.Options{Note: func(n predfile.FileNote) { note = n }})
		if note.Format != form || len(got) != 1 || !strings.HasPrefix(got[0], "a repeat 0:") {
			t.Errorf("%s: recognised as %q, %q", form, note.Format, got)
		}
	}
}

// TestHostileTexts: whatever a model wrote, each element is one prediction or
// one error.
func TestHostileTexts(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	for name, text := range map[string]string{
		"empty":                  "",
		"NUL and surrogates":     "\x00\xff\xed\xa0\x80",
		"brackets":               deep,
		"closed brackets":        deep + strings.Repeat("]", 20_000),
		"objects":                strings.Repeat(`{"a":`, 20_000),
		"open calls":             strings.Repeat("<tool_call>", 20_000),
		"open Python calls":      strings.Repeat("f(", 20_000),
		"a huge word":            strings.Repeat("x", 1<<20),
		"calls without end":      strings.Repeat("[f(a=1)]\n", 20_000),
		"JSON in JSON in JSON":   string(qaoa.Quote(string(qaoa.Quote(string(qaoa.Quote(`{"name":"f"}`)))))),
		"the end of a stop word": "<|im_end|>",
	} {
		for form, line := range wrap(text) {
			good, bad := 0, 0
			file := line + "\n" + line
			for _, err := range predfile.ReadFrom(t.Context(), strings.NewReader(file), "f", predfile.Options{}) {
				switch {
				case err == nil:
					good++
				case predfile.Skippable(err):
					bad++
				default:
					t.Errorf("%s in %s: %v", name, form, err)
				}
			}
			if good+bad != 2 {
				t.Errorf("%s in %s: %d predictions and %d errors of 2 elements", name, form, good, bad)
			}
		}
	}
}

func TestHostileNesting(t *testing.T) {
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for _, line := range []string{
		`{"id":"x","calls":` + deep + `}`,
		`{"id":"x","result":` + deep + `}`,
		`{"id":"x","text":` + deep + `}`,
		`{"id":"x","messages":[{"role":"assistant","content":` + deep + `}]}`,
	} {
		file := strings.Replace(line, deep, `[]`, 1) + "\n" + line + "\n" + strings.Replace(line, deep, `[]`, 1)
		got := read(t, "f", file, predfile.Options{})
		if len(got) != 3 || !strings.HasPrefix(got[1], "f:2: record 1:") || got[0] != got[2] {
			t.Errorf("%.40s…: %d lines, the second %.80q; want an error between two predictions", line, len(got), got)
		}
	}
}

func TestElementsOverTheLimit(t *testing.T) {
	long := `{"id":"b","text":"` + strings.Repeat("x", 2000) + `"}`
	file := `{"id":"a","text":"x"}` + "\n" + long + "\n" + `{"id":"c","text":"x"}`
	got := read(t, "f", file, predfile.Options{MaxElement: 1000})
	want := []string{`a repeat 0: { "x"}`, "f:2: record 1: f:2: the element has 2020 bytes, more than the limit of 1000", `c repeat 0: { "x"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = read(t, "f", `{"status":"success","eval":{},"plan":`+long+`,"samples":[{"id":"a","epoch":1,"output":{"choices":[{"message":{"content":"x"}}]}},`+strings.Repeat(long+",", 80)+`{}]}`, predfile.Options{MaxElement: 1000})
	if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "f: after ") || !strings.HasSuffix(got[len(got)-1], "a sample has more than the limit of 1000 bytes") {
		t.Errorf("a log of Inspect: %q, want the limit", got)
	}
}

func TestCutFiles(t *testing.T) {
	for form, line := range wrap("hello") {
		if form == predfile.Inspect {
			line = strings.Replace(line, `"samples":[`, `"samples":[{"id":"b","epoch":1,"output":{"choices":[{"message":{"content":"x"}}]}},`, 1)
		} else {
			line = "[" + line + "," + line + "]"
		}
		var last error
		n := 0
		for _, err := range predfile.ReadFrom(t.Context(), strings.NewReader(line[:len(line)-5]), "f", predfile.Options{}) {
			n++
			last = err
		}
		if n != 2 || last == nil || predfile.Skippable(last) {
			t.Errorf("%s, cut: %d yields, the last %v; want a prediction, then an error that ends", form, n, last)
		}
	}
}

func TestFaultyReader(t *testing.T) {
	broken := errors.New("the disk is gone")
	for form, line := range wrap("hello") {
		for _, keep := range []int{0, len(line) - 3} {
			r := io.MultiReader(strings.NewReader(line[:keep]), iotest.ErrReader(broken))
			var last error
			for _, err := range predfile.ReadFrom(t.Context(), iotest.OneByteReader(r), "f", predfile.Options{Format: form}) {
				last = err
			}
			if !errors.Is(last, broken) {
				t.Errorf("%s, after %d bytes: %v, want the error of the reader", form, keep, last)
			}
		}
	}
}

func TestTheCallerMayStop(t *testing.T) {
	for form, line := range wrap("hello") {
		file := line + "\n" + line
		if form == predfile.Inspect {
			file = line + line
		}
		n := 0
		for _, err := range predfile.ReadFrom(t.Context(), strings.NewReader(file), "f", predfile.Options{Note: func(predfile.FileNote) { n += 10 }}) {
			if err != nil {
				t.Error(err)
			}
			n++
			break
		}
		if n != 1 {
			t.Errorf("%s: %d, want one prediction and no note", form, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var last error
		for _, err := range predfile.ReadFrom(ctx, strings.NewReader(file), "f", predfile.Options{}) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%s: %v, want the end of the context", form, last)
		}
	}
}

func TestFoldersAndCompression(t *testing.T) {
	dir := t.TempDir()
	forms := wrap("hello")
	var want []string
	for _, form := range slices.Sorted(func(yield func(predfile.Format) bool) {
		for f := range forms {
			if !yield(f) {
				return
			}
		}
	}) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, forms[form]); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, string(form)+".json.gz"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		want = append(want, read(t, "f", forms[form], predfile.Options{})...)
	}
	var got []string
	for p, err := range predfile.Read(t.Context(), []string{dir}, predfile.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line(p))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, err := range predfile.Read(t.Context(), []string{filepath.Join(dir, "none")}, predfile.Options{}) {
		if err == nil || predfile.Skippable(err) {
			t.Errorf("a path that does not exist: %v", err)
		}
	}
}

// TestCallsSurviveEveryForm: the same calls, written in each form, are read
// back, arguments byte for byte, the way package qaoa reads them.
func TestCallsSurviveEveryForm(t *testing.T) {
	name := rapid.StringMatching(`[a-z][a-z_.]{0,8}`)
	args := rapid.Custom(func(t *rapid.T) qaoa.JSON {
		v := qaoa.ObjectValue()
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			v.Members = append(v.Members, qaoa.Member{
				Name: fmt.Sprintf("k%d", i),
				Value: rapid.OneOf(
					rapid.Map(rapid.String(), qaoa.StringValue),
					rapid.Just(qaoa.NumberValue("9007199254740993")),
					rapid.Just(qaoa.NumberValue("1.0")),
					rapid.Just(qaoa.ArrayValue(qaoa.NullValue(), qaoa.BoolValue(true))),
				).Draw(t, "value"),
			})
		}
		return v.JSON()
	})
	rapid.Check(t, func(t *rapid.T) {
		var calls []qaoa.Call
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			calls = append(calls, qaoa.Call{Name: name.Draw(t, "name"), Arguments: args.Draw(t, "args")})
		}
		for form, text := range render(calls) {
			for p, err := range predfile.ReadFrom(context.Background(), strings.NewReader(text), "f", predfile.Options{}) {
				if err != nil || len(p.Turns) != 1 {
					t.Fatalf("%s: %v, %d turns: %s", form, err, len(p.Turns), text)
				}
				if diff := cmp.Diff(calls, p.Turns[0].Calls()); diff != "" {
					t.Fatalf("%s: -want +got:\n%s\n%s", form, diff, text)
				}
			}
		}
	})
}

// render writes calls in each form that has calls as such.
func render(calls []qaoa.Call) map[string]string {
	var native, openai, bfcl, inspect, items []string
	for _, c := range calls {
		n, a, s := qaoa.Quote(c.Name), c.Arguments, qaoa.Quote(string(c.Arguments))
		native = append(native, fmt.Sprintf(`{"name":%s,"arguments":%s}`, n, a))
		openai = append(openai, fmt.Sprintf(`{"id":"c","type":"function","function":{"name":%s,"arguments":%s}}`, n, s))
		bfcl = append(bfcl, fmt.Sprintf(`{%s:%s}`, n, s))
		inspect = append(inspect, fmt.Sprintf(`{"id":"c","function":%s,"arguments":%s,"parse_error":null}`, n, a))
		items = append(items, fmt.Sprintf(`{"type":"function_call","name":%s,"arguments":%s}`, n, s))
	}
	list := func(s []string) string { return "[" + strings.Join(s, ",") + "]" }
	message := fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":%s}`, list(openai))
	nested := "[" + list([]string{list(bfcl)}) + "]"
	return map[string]string{
		"assay":              fmt.Sprintf(`{"id":"a","turns":[{"steps":[{"calls":%s}]}]}`, list(native)),
		"plain":              fmt.Sprintf(`{"id":"a","calls":%s}`, list(native)),
		"plain, OpenAI":      fmt.Sprintf(`{"id":"a","calls":%s}`, list(openai)),
		"bfcl":               fmt.Sprintf(`{"id":"a","result":%s}`, list(bfcl)),
		"bfcl, multi-turn":   fmt.Sprintf(`{"id":"a","result":%s}`, nested),
		"batch":              fmt.Sprintf(`{"custom_id":"a","response":{"body":{"choices":[{"message":%s}]}}}`, message),
		"batch, Responses":   fmt.Sprintf(`{"custom_id":"a","response":{"body":{"output":%s}}}`, list(items)),
		"chat":               fmt.Sprintf(`{"id":"a","choices":[{"message":%s}]}`, message),
		"chat, conversation": fmt.Sprintf(`{"id":"a","messages":[{"role":"user","content":"q"},%s]}`, message),
		"evalscope":          fmt.Sprintf(`{"index":0,"metadata":{"id":"a"},"model_output":{"choices":[{"message":%s}]}}`, message),
		"evalscope, BFCL":    fmt.Sprintf(`{"index":0,"metadata":{"id":"a"},"model_output":{"choices":[{"message":{"content":%s}}]}}`, qaoa.Quote(nested)),
		"evalscope, review":  fmt.Sprintf(`{"index":0,"sample_score":{"sample_id":0,"score":{"prediction":%s}}}`, qaoa.Quote(nested)),
		"inspect":            fmt.Sprintf(`{"id":"a","epoch":1,"messages":[{"role":"assistant","content":"","tool_calls":%s}]}`, list(inspect)),
	}
}

// FuzzRead: no input makes the package panic, what it yields has an id, a call
// that did not parse has nothing else, and nothing follows an error that ends the stream.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
		f.Add(data)
	}
	ids := predfile.NewIDs(slices.Values([]string{"set/a", "set/b", "bfcl/simple_0"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []predfile.Options{{}, {IDs: ids, MaxElement: 4096}} {
			ended := false
			for p, err := range predfile.ReadFrom(context.Background(), bytes.NewReader(data), "f_run1.jsonl", opt) {
				if ended {
					t.Fatal("something follows an error that ends the stream")
				}
				if err != nil {
					ended = !predfile.Skippable(err)
					_ = err.Error()
					continue
				}
				if p.ID == "" || p.Repeat < 0 {
					t.Fatalf("id %q, repeat %d", p.ID, p.Repeat)
				}
				for _, turn := range p.Turns {
					for _, c := range turn.Calls() {
						if c.Raw != "" && (c.Name != "" || c.Arguments != "") {
							t.Fatalf("call %+v", c)
						}
					}
				}
			}
		}
	})
}

// BenchmarkRead reads 2,000 elements of each form.
func BenchmarkRead(b *testing.B) {
	forms := render([]qaoa.Call{{Name: "weather.get", Arguments: `{"city":"Oslo","days":3}`}, {Name: "weather.get", Arguments: `{"city":"Bergen","days":3}`}})
	forms["text"] = `{"id":"a","text":"[weather.get(city='Oslo', days=3), weather.get(city='Bergen', days=3)]"}`
	names := make([]string, 0, len(forms))
	for name := range forms {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			data := strings.Repeat(forms[name]+"\n", 2000)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range predfile.ReadFrom(context.Background(), strings.NewReader(data), "f", predfile.Options{}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 2000 {
					b.Fatalf("%d predictions, want 2000", n)
				}
			}
		})
	}
}
