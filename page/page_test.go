package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/page"
	"assay/qaoa"
	"assay/report"
)

const evil = `</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>`

func each[T any](list ...T) func(context.Context) iter.Seq2[T, error] {
	return func(context.Context) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for _, v := range list {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

func calls(list ...qaoa.Call) []qaoa.Step {
	if len(list) == 0 {
		return nil
	}
	return []qaoa.Step{{Calls: list}}
}

func call(name, args string) qaoa.Call { return qaoa.Call{Name: name, Arguments: qaoa.JSON(args)} }

var tools = []qaoa.Tool{
	{Name: "weather", Description: "Tells the weather. " + evil, Parameters: `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`},
	{Name: "book", Description: "Books a table."},
}

// gold are three records: one call, two calls, and no call.
func gold() []qaoa.Record {
	rec := func(id string, steps []qaoa.Step) qaoa.Record {
		return qaoa.Record{ID: id, Source: qaoa.Source{Name: "made"}, Tools: tools, Turns: []qaoa.Turn{{Query: "Query of " + id, Steps: steps}}}
	}
	return []qaoa.Record{
		rec("made/1", calls(call("weather", `{"city":"Oslo","days":1.0}`))),
		rec("made/2"+evil, calls(call("weather", `{"city":"Rome"}`), call("book", `{}`))),
		rec("made/3", nil),
	}
}

// run scores predictions and makes a run of them, with a file of their lines.
func run(t *testing.T, name string, recs []qaoa.Record, preds ...qaoa.Prediction) page.Run {
	t.Helper()
	var items []eval.Item
	scores, err := eval.Score(t.Context(), each(recs...)(t.Context()), each(preds...)(t.Context()), eval.ScoreOptions{
		Item: func(_ string, it eval.Item) error { items = append(items, it); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for i, p := range preds {
		res := eval.Result{Prediction: p, Requests: []eval.Exchange{{Text: fmt.Sprintf("raw %d %s", i, evil), Class: "calls"}}}
		lines = append(eval.AppendResult(lines, res), '\n')
	}
	path := filepath.Join(t.TempDir(), "predictions.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	return page.Run{
		Run:  report.Run{Name: name, Model: name, Setting: "gt", Seed: "1", Scores: scores[0], Items: items, Predictions: name},
		Data: "gold", Gold: each(recs...), Preds: each(preds...), File: path, Presets: scores,
	}
}

func prediction(id string, steps []qaoa.Step) qaoa.Prediction {
	return qaoa.Prediction{ID: id, Turns: []qaoa.Turn{{Steps: steps}}}
}

// two are a run that makes errors of several kinds, and one that is right but
// lacks a record.
func two(t *testing.T) page.Input {
	t.Helper()
	recs := gold()
	preset, err := match.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	return page.Input{Title: "A title " + evil, Preset: preset, Options: report.Options{Resamples: 50}, Runs: []page.Run{
		run(t, "a", recs, prediction("made/1", calls(call("weather", `{"city":"Bergen","days":1}`))), prediction(recs[1].ID, calls(qaoa.Call{Raw: evil})), prediction("made/3", nil)),
		run(t, "b", recs, prediction("made/1", recs[0].Turns[0].Steps), prediction("made/3", calls(call("book", `{}`)))),
	}}
}

func build(t *testing.T, in page.Input) *page.Report {
	t.Helper()
	r, err := page.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func html(t *testing.T, r *page.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// blob returns blob n as JSON.
func blob(t *testing.T, r *page.Report, n int, to any) {
	t.Helper()
	data, err := r.Blob(n)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("blob %d: %v in %.200s", n, err, text)
	}
}

type overview struct {
	Records, Items int
	Blobs          struct{ Index, Details, Tools []int }
	Columns        []struct{ Label string }
	Classes        []struct{ Name string }
	Notes          []string
	Pairs          []struct {
		Counts []struct{ Cell string } `json:"flip_counts"`
	}
}

func overviewOf(t *testing.T, r *page.Report) (o overview) {
	t.Helper()
	if err := json.Unmarshal(r.Overview(), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPageIsTheSameEveryTime(t *testing.T) {
	in := two(t)
	first := html(t, build(t, in))
	if second := html(t, build(t, in)); first != second {
		t.Error("two reports on the same input differ")
	}
}

func TestPageHoldsNoMarkupFromData(t *testing.T) {
	text := html(t, build(t, two(t)))
	if n := strings.Count(text, "<script>"); n != 1 {
		t.Errorf("%d scripts can run, want the one of the page", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(1)>", "alert(1)</script>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q of the data as markup", bad)
		}
	}
	if !strings.Contains(text, "<title>A title &lt;/script&gt;") {
		t.Error("the title is not escaped")
	}
	for _, remote := range []string{"http://", "https://", "@import", "url("} {
		if strings.Contains(text, remote) {
			t.Errorf("the page holds %q, want nothing that a browser would fetch", remote)
		}
	}
	for _, unsafe := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
		if strings.Contains(text, unsafe) {
			t.Errorf("the script uses %s", unsafe)
		}
	}
	if m := regexp.MustCompile(`<[a-z][^<>]* (on[a-z]+|src)=`).FindString(text); m != "" {
		t.Errorf("a handler or an address stands in the markup: %s", m)
	}
}

// TestPolicyNamesWhatIsThere takes the hashes of the policy anew.
func TestPolicyNamesWhatIsThere(t *testing.T) {
	text := html(t, build(t, two(t)))
	for _, tag := range []string{"script", "style"} {
		m := regexp.MustCompile(`(?s)<` + tag + `>(.*?)</` + tag + `>`).FindStringSubmatch(text)
		sum := sha256.Sum256([]byte(m[1]))
		if want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(page.Policy(false), want) {
			t.Errorf("the policy lacks %s: %s", want, page.Policy(false))
		}
	}
	if !strings.Contains(page.Policy(false), "connect-src 'none'") || !strings.HasPrefix(page.Policy(true), "default-src 'none'") {
		t.Errorf("the policy admits too much: %s", page.Policy(false))
	}
}

type index struct {
	ID, Q, Tools             []string
	Cell, Shape, Blob, Place []int
	Runs                     []struct{ SPA, C, M []int }
}

func TestIndex(t *testing.T) {
	r := build(t, two(t))
	o := overviewOf(t, r)
	if o.Records != 3 || o.Items != 3 || len(o.Blobs.Index) != 1 || len(o.Columns) != 2 {
		t.Fatalf("overview %+v: want 3 records and items, and 2 columns", o)
	}
	var x index
	blob(t, r, o.Blobs.Index[0], &x)
	if !slices.Equal(x.Shape, []int{1, 2, 0}) || !slices.Equal(x.Cell, []int{0, 1, 2}) {
		t.Errorf("shapes %v, cells %v: want a single call, parallel calls and no call", x.Shape, x.Cell)
	}
	want := [][]string{{"wrong_value", "malformed", "right"}, {"right", "missing", "extra_call"}}
	for run := range want {
		var got []string
		for _, c := range x.Runs[run].C {
			got = append(got, o.Classes[c].Name)
		}
		if !slices.Equal(got, want[run]) {
			t.Errorf("run %d: classes %q, want %q", run, got, want[run])
		}
	}
	if got := x.Runs[0].SPA; !slices.Equal(got, []int{0, 0, 1000}) {
		t.Errorf("SPA %v in thousandths, want 0, 0 and 1000", got)
	}
	if len(o.Pairs) != 1 {
		t.Errorf("%d comparisons, want that of the two models; notes %q", len(o.Pairs), o.Notes)
	}
}

type detail struct {
	ID     string
	Offers [][]int
	Turns  []struct{ Q string }
	Runs   []*struct {
		Offer int
		Req   []struct{ Text string }
		Items []struct {
			Lines []struct {
				Class string
				Args  []struct{ K, G, P, S, Rule string }
			}
		}
	}
}

func TestDetail(t *testing.T) {
	r := build(t, two(t))
	var list []detail
	blob(t, r, overviewOf(t, r).Blobs.Details[0], &list)
	d := list[0]
	if d.ID != "made/1" || len(d.Offers) != 1 || len(d.Offers[0]) != 2 || d.Turns[0].Q != "Query of made/1" {
		t.Errorf("detail %+v: want the record and its two tools", d)
	}
	if got := d.Runs[0].Req[0].Text; got != "raw 0 "+evil {
		t.Errorf("raw text %q", got)
	}
	args := d.Runs[0].Items[0].Lines[0].Args
	if got := fmt.Sprint(args); got != `[{city "Oslo" "Bergen" no rouge} {days 1.0 1 yes number}]` {
		t.Errorf("arguments %s: want numbers as they were written, and the rule of each", got)
	}
	if list[1].Runs[1] == nil || len(list[1].Runs[1].Req) != 0 {
		t.Error("a record without a prediction has to be there, without text")
	}
}

func TestRecordsAskedWithOtherToolsAreOneItem(t *testing.T) {
	in := two(t)
	recs := gold()
	for i := range recs {
		recs[i].Tools = recs[i].Tools[:1]
	}
	in.Runs[1].Gold, in.Runs[1].Data = each(recs...), "hybrid"
	r := build(t, in)
	o := overviewOf(t, r)
	var list []detail
	blob(t, r, o.Blobs.Details[0], &list)
	if o.Records != 3 || len(list[0].Offers) != 2 || list[0].Runs[0].Offer == list[0].Runs[1].Offer {
		t.Errorf("%d records, offers %v: want 3 with a list of tools for each run", o.Records, list[0].Offers)
	}
	recs[0].Turns = []qaoa.Turn{{Query: "another"}}
	if got := overviewOf(t, build(t, in)).Records; got != 4 {
		t.Errorf("%d records, want 4: one id stands for two questions", got)
	}
}

func TestBuildErrors(t *testing.T) {
	if _, err := page.Build(t.Context(), page.Input{}); err == nil {
		t.Error("Build of no runs gives no error")
	}
	in := two(t)
	fault := fmt.Errorf("line 3 is broken")
	in.Runs[0].Gold = func(context.Context) iter.Seq2[qaoa.Record, error] {
		return func(yield func(qaoa.Record, error) bool) { yield(qaoa.Record{}, fault) }
	}
	if _, err := page.Build(t.Context(), in); err == nil || !strings.Contains(err.Error(), fault.Error()) {
		t.Errorf("Build = %v, want the error of the records", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := page.Build(ctx, two(t)); err == nil {
		t.Error("Build goes on after its context is done")
	}
}

func TestBlobBounds(t *testing.T) {
	r := build(t, two(t))
	for _, n := range []int{-1, r.Blobs()} {
		if _, err := r.Blob(n); err == nil {
			t.Errorf("Blob(%d) of %d gives no error", n, r.Blobs())
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	recs := make([]qaoa.Record, 1000)
	preds := make([]qaoa.Prediction, len(recs))
	for i := range recs {
		recs[i] = gold()[0]
		recs[i].ID = fmt.Sprintf("made/%d", i)
		preds[i] = prediction(recs[i].ID, calls(call("weather", `{"city":"Bergen"}`)))
	}
	scores, err := eval.Score(b.Context(), each(recs...)(b.Context()), each(preds...)(b.Context()), eval.ScoreOptions{})
	if err != nil {
		b.Fatal(err)
	}
	in := page.Input{Runs: []page.Run{{Run: report.Run{Name: "a", Model: "a", Scores: scores[0]}, Gold: each(recs...), Preds: each(preds...)}}}
	b.ReportAllocs()
	for b.Loop() {
		r, err := page.Build(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
