package view_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/page"
	"assay/qaoa"
	"assay/report"
	"assay/view"
)

const (
	own  = "127.0.0.1:8123"
	evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202egnp"
)

// many is a served report on n records under two runs: the first is right, the
// second wrong in every third record. Record 1 is hostile.
func many(t *testing.T, n int) *page.Report {
	t.Helper()
	records := func(_ context.Context) iter.Seq2[qaoa.Record, error] {
		return func(yield func(qaoa.Record, error) bool) {
			for i := range n {
				if !yield(record(i), nil) {
					return
				}
			}
		}
	}
	preset, err := match.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	in := page.Input{Title: "many", Preset: preset, Options: report.Options{Resamples: 20}, Paged: true}
	for _, model := range []string{"good", "bad"} {
		preds := func(context.Context) iter.Seq2[qaoa.Prediction, error] {
			return func(yield func(qaoa.Prediction, error) bool) {
				for i := range n {
					p := qaoa.Prediction{ID: record(i).ID, Turns: record(i).Turns}
					if model == "bad" && i%3 == 0 {
						p.Turns = []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "other", Arguments: `{"x":"secret"}`}}}}}}
					}
					if !yield(p, nil) {
						return
					}
				}
			}
		}
		scores, err := eval.Score(t.Context(), records(t.Context()), preds(t.Context()), eval.ScoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var lines []byte
		for p, err := range preds(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			said := []eval.Exchange{{Text: "I say: " + p.ID, Reasoning: model + " thought of " + p.ID, Class: "calls"}}
			lines = append(eval.AppendResult(lines, eval.Result{Prediction: p, Requests: said}), '\n')
		}
		path := filepath.Join(t.TempDir(), model+".jsonl")
		if err := os.WriteFile(path, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		in.Runs = append(in.Runs, page.Run{File: path, Run: report.Run{Name: model, Model: model, Setting: "gt", Seed: "1", Scores: scores[0], Predictions: model}, Data: "gold", Gold: records, Preds: preds})
	}
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

func record(i int) qaoa.Record {
	id, query := fmt.Sprintf("made/%d", i), fmt.Sprintf("Question %d", i)
	if i == 1 {
		id, query = "made/"+evil, evil+strings.Repeat("x", 1<<20)
	}
	return qaoa.Record{ID: id, Source: qaoa.Source{Name: "made"}, Turns: []qaoa.Turn{{Query: query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "f", Arguments: `{}`}}}}}}}
}

// get asks h and returns the status and the body.
func get(ctx context.Context, h http.Handler, method, path, host string) (*httptest.ResponseRecorder, string) {
	req := httptest.NewRequestWithContext(ctx, method, "http://"+own+"/", nil)
	req.Host = host
	at, query, _ := strings.Cut(path, "?")
	req.URL.Path, req.URL.RawQuery = at, query // as it comes, good or bad
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w, w.Body.String()
}

type reply struct {
	Total, Offset, At int
	Rows              []rowReply
	Row               *rowReply
}

type rowReply struct {
	Item, Turn int
	ID, Q      string
}

func (r reply) items() (list []int) {
	for _, row := range r.Rows {
		list = append(list, row.Item)
	}
	return list
}

// ask wants an answer of 200 and decodes it.
func ask(t *testing.T, h http.Handler, path string) (r reply) {
	t.Helper()
	w, body := get(t.Context(), h, "GET", path, own)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s = %d %s %.200s", path, w.Code, w.Header().Get("Content-Type"), body)
	}
	if strings.ContainsAny(body, "<>&") {
		t.Errorf("%s: the answer holds markup of the data: %.200s", path, body)
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%s: %v in %.200s", path, err, body)
	}
	return r
}

func TestItems(t *testing.T) {
	h := view.Handler(many(t, 30), address(own))
	tests := []struct {
		name, query string
		total       int
		items       []int
	}{
		{"a page begins where it is asked to", "offset=10&limit=3", 30, []int{10, 11, 12}},
		{"the last page is short", "offset=28&limit=100", 30, []int{28, 29}},
		{"beyond the end is nothing", "offset=2000000000", 30, nil},
		{"wrong is about the chosen run", "run=1&status=wrong&limit=4", 10, []int{0, 3, 6, 9}},
		{"and not about another", "run=0&status=wrong", 0, nil},
		{"gained looks at both", "run=0&against=1&status=gained&offset=9", 10, []int{27}},
		{"the second run is against the first", "status=gained&offset=9", 10, []int{27}},
		{"a class of errors", "run=1&cls=hallucinated_tool&limit=2", 10, []int{0, 3}},
		{"search finds words of what was predicted", "q=SECRET&limit=2", 10, []int{0, 3}},
		{"search finds words of a reply", "q=say:+MADE/7", 1, []int{7}},
		{"search finds words of a thought", "q=bad+thought+made/7", 1, []int{7}},
		{"search and filter go together", "q=question+2&run=1&status=wrong", 4, []int{12, 21, 24, 27}},
		{"a word is looked for anywhere in the text, past what the list shows", "q=xxxx", 1, []int{1}},
		{"no word is everything", "q=++&limit=1", 30, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, h, "/api/items?"+tt.query)
			if got.Total != tt.total || !slices.Equal(got.items(), tt.items) {
				t.Errorf("%s = %d, items %v; want %d, %v", tt.query, got.Total, got.items(), tt.total, tt.items)
			}
		})
	}
}

func TestStepPlaceAndItem(t *testing.T) {
	h := view.Handler(many(t, 30), address(own))
	steps := []struct {
		name, query string
		item, at    int // -1 for none
	}{
		{"the first comes at the start", "", 0, 0},
		{"the last comes at the start, going back", "back=1", 29, 29},
		{"the next one", "from=4", 5, 5},
		{"the one before", "from=4&back=1", 3, 3},
		{"none after the last", "from=29", -1, -1},
		{"none before the first", "from=0&back=1", -1, -1},
		{"far beyond the last is after it", "from=2000000000", -1, -1},
		{"and going back comes to the last", "from=2000000000&back=1", 29, 29},
		{"the next wrong one of the chosen run", "run=1&from=4&wrong=1", 6, 6},
		{"the wrong one before", "run=1&from=4&back=1&wrong=1", 3, 3},
		{"none that the first run got wrong", "run=0&wrong=1", -1, -1},
		{"in a filtered list, from an item that is not in it", "run=1&status=wrong&from=4", 6, 2},
		{"and back", "run=1&status=wrong&from=4&back=1", 3, 1},
	}
	for _, tt := range steps {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, h, "/api/step?"+tt.query)
			item := -1
			if got.Row != nil {
				item = got.Row.Item
			}
			if item != tt.item || got.At != tt.at {
				t.Errorf("step %s = item %d at %d, want item %d at %d", tt.query, item, got.At, tt.item, tt.at)
			}
		})
	}
	for query, want := range map[string]int{"item=9": 9, "item=9&run=1&status=wrong": 3, "item=10&run=1&status=wrong": -1, "item=2000000000": -1, "": -1} {
		if got := ask(t, h, "/api/place?"+query); got.At != want {
			t.Errorf("place %s = %d, want %d", query, got.At, want)
		}
	}
	if got := ask(t, h, "/api/item?"+url.Values{"id": {"made/" + evil}}.Encode()); got.Row == nil || got.Row.Item != 1 || got.Row.ID != "made/"+evil || len(got.Row.Q) > 1000 {
		t.Errorf("the hostile item is %+v, want number 1 with its id as it is and the start of its query", got.Row)
	}
	for _, query := range []string{"id=made/1", "id=made/2&turn=1", "id=", "", "id=%2e%2e%2f%2e%2e%2fetc%2fpasswd"} {
		if got := ask(t, h, "/api/item?"+query); got.Row != nil {
			t.Errorf("item %s = %+v, want none", query, got.Row)
		}
	}
}

func TestBadRequests(t *testing.T) {
	h := view.Handler(many(t, 3), address(own))
	for _, bad := range []string{
		"items?offset=-1", "items?offset=2147483648", "items?offset=99999999999999999999", "items?offset=1e3", "items?offset=x", "items?limit=0", "items?limit=501",
		"items?limit=-9223372036854775808", "items?run=2", "items?run=-1", "items?against=9", "items?status=no", "items?status=__proto__", "items?cls=no", "items?shape=no", "items?ds=no",
		"items?q=" + strings.Repeat("x", 1201), "items?unknown=1", "items?offset=1&offset=2", "items?q=%zz", "items?a;b",
		"items?status=" + url.QueryEscape(evil), "items?" + url.QueryEscape(evil) + "=1",
		"step?from=-2", "step?back=2", "step?wrong=yes", "step?run=7", "step?offset=1", "place?item=x", "place?ds=" + url.QueryEscape(evil), "item?turn=-1", "item?turn=x", "item?run=0", "item?id=a&id=b",
	} {
		w, body := get(t.Context(), h, "GET", "/api/"+bad, own)
		if w.Code != 400 || !strings.Contains(body, "want ") {
			t.Errorf("%.80s = %d %.200q, want 400 and what is wanted", bad, w.Code, body)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%.80s: the message is %q, want plain text that no browser takes for markup", bad, w.Header().Get("Content-Type"))
		}
		if len(body) > 1000 {
			t.Errorf("%.80s: a message of %d bytes", bad, len(body))
		}
	}
}

// TestEveryAddressIsGuarded asks each endpoint with a Host of somebody else, and
// tries to write.
func TestEveryAddressIsGuarded(t *testing.T) {
	h := view.Handler(many(t, 3), address(own))
	for _, path := range []string{"/", "/blob/0", "/api/items", "/api/step", "/api/place", "/api/item"} {
		for _, tt := range []struct {
			method, host string
			want         int
		}{{"GET", own, 200}, {"HEAD", own, 200}, {"GET", "evil.example:8123", 403}, {"GET", "", 403}, {"POST", own, 405}, {"PUT", own, 405}, {"DELETE", own, 405}, {"OPTIONS", own, 405}} {
			w, _ := get(t.Context(), h, tt.method, path, tt.host)
			if w.Code != tt.want {
				t.Errorf("%s %s with Host %q = %d, want %d", tt.method, path, tt.host, w.Code, tt.want)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": ""} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s %s: %s is %q, want %q", tt.method, path, name, got, want)
				}
			}
			if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s %s has no policy", tt.method, path)
			}
		}
	}
	for _, path := range []string{"/api/", "/api/items/", "/api/../etc/passwd", "/api/items/../../etc/passwd", "/api/%2e%2e", "/api/all"} {
		if w, body := get(t.Context(), h, "GET", path, own); w.Code == 200 {
			t.Errorf("%s = 200 %.80q, want nothing there", path, body)
		}
	}
}

func TestSearchEndsWithItsReader(t *testing.T) {
	h := view.Handler(many(t, 30), address(own))
	ctx, leave := context.WithCancel(t.Context())
	leave()
	for _, path := range []string{"/api/items?q=question", "/api/step?q=question", "/api/place?q=question"} {
		if w, body := get(ctx, h, "GET", path, own); w.Code == 200 {
			t.Errorf("%s = 200 %.80q after the reader has gone", path, body)
		}
	}
	if got := ask(t, h, "/api/items?q=question+29"); got.Total != 1 {
		t.Errorf("the same search for somebody who stays finds %d, want 1", got.Total)
	}
}

// TestLongRowsMakeShortPages wants that hostile ids do not make answers without
// bound, and that all of the rows can be had.
func TestLongRowsMakeShortPages(t *testing.T) {
	long := strings.Repeat("y", 1<<20)
	recs := make([]qaoa.Record, 12)
	for i := range recs {
		recs[i] = record(0)
		recs[i].ID = fmt.Sprint("made/", i, long)
	}
	h := view.Handler(reportOn(t, recs), address(own))
	seen := 0
	for seen < len(recs) {
		w, body := get(t.Context(), h, "GET", fmt.Sprint("/api/items?offset=", seen), own)
		var r reply
		if err := json.Unmarshal([]byte(body), &r); err != nil || w.Code != 200 {
			t.Fatalf("%d %v", w.Code, err)
		}
		if len(r.Rows) == 0 || len(body) > 6<<20 || r.Total != len(recs) {
			t.Fatalf("%d rows in %d bytes of %d, want some rows in few megabytes of %d", len(r.Rows), len(body), r.Total, len(recs))
		}
		seen += len(r.Rows)
	}
}

func TestHandlerWantsAPagedReport(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Handler takes a report without an index")
		}
	}()
	view.Handler(&page.Report{}, address(own))
}

// FuzzAPI sends any path and query: whatever comes is answered, by JSON or by
// a message.
func FuzzAPI(f *testing.F) {
	for _, seed := range []string{"items?q=a&offset=1", "step?from=1", "place?item=1", "item?id=made/1&turn=0", "items?q=%ff", "items?limit=1&status=wrong"} {
		f.Add(seed)
	}
	r := keptReport(f, record(0), record(2))
	f.Cleanup(func() {
		if err := r.Close(); err != nil {
			f.Error(err)
		}
	})
	h := view.Handler(r, address(own))
	f.Fuzz(func(t *testing.T, path string) {
		w, body := get(t.Context(), h, "GET", "/api/"+path, own)
		switch w.Code {
		case 200:
			if !json.Valid(bytes.TrimSpace([]byte(body))) {
				t.Errorf("%q: the answer is no JSON: %.200q", path, body)
			}
		case 301, 307, 308, 400, 404:
		default:
			t.Errorf("%q = %d %.200q", path, w.Code, body)
		}
	})
}
