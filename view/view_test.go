package view_test

import (
	"compress/gzip"
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/eval"
	"assay/match"
	"assay/page"
	"assay/qaoa"
	"assay/report"
	"assay/view"
)

// small is a report on one record.
func small(t *testing.T) *page.Report {
	t.Helper()
	rec := record(0)
	return reportOn(t, []qaoa.Record{rec})
}

// reportOn is a report on a run that is right about some records.
func reportOn(t *testing.T, recs []qaoa.Record) *page.Report {
	t.Helper()
	r := keptReport(t, recs...)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// keptReport is the same, and its caller closes it.
func keptReport(t testing.TB, recs ...qaoa.Record) *page.Report {
	t.Helper()
	gold := func(context.Context) iter.Seq2[qaoa.Record, error] {
		return func(yield func(qaoa.Record, error) bool) {
			for _, rec := range recs {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
	preds := func(context.Context) iter.Seq2[qaoa.Prediction, error] {
		return func(yield func(qaoa.Prediction, error) bool) {
			for _, rec := range recs {
				if !yield(qaoa.Prediction{ID: rec.ID, Turns: rec.Turns}, nil) {
					return
				}
			}
		}
	}
	scores, err := eval.Score(t.Context(), gold(t.Context()), preds(t.Context()), eval.ScoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	preset, err := match.Preset("paper")
	if err != nil {
		t.Fatal(err)
	}
	r, err := page.Build(t.Context(), page.Input{Title: "small", Paged: true, Preset: preset, Runs: []page.Run{{
		Run: report.Run{Name: "run", Model: "m", Setting: "gt", Scores: scores[0]}, Gold: gold, Preds: preds,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHandler(t *testing.T) {
	r := small(t)
	loop, everywhere := address("127.0.0.1:8123"), address("[::]:8123")
	tests := []struct {
		name, method, path, host string
		on                       net.Addr
		want                     int
	}{
		{"the page", "GET", "/", "127.0.0.1:8123", loop, 200},
		{"by name", "GET", "/", "localhost:8123", loop, 200},
		{"a blob", "GET", "/blob/0", "127.0.0.1:8123", loop, 200},
		{"no such blob", "GET", "/blob/99", "127.0.0.1:8123", loop, 404},
		{"a negative blob", "GET", "/blob/-1", "127.0.0.1:8123", loop, 404},
		{"a path for a blob", "GET", "/blob/..%2f..%2fetc%2fpasswd", "127.0.0.1:8123", loop, 404},
		{"another path", "GET", "/etc/passwd", "127.0.0.1:8123", loop, 404},
		{"nothing can be written", "POST", "/", "127.0.0.1:8123", loop, 405},
		{"a name that points here", "GET", "/", "evil.example:8123", loop, 403},
		{"another port", "GET", "/", "127.0.0.1:80", loop, 403},
		{"no host", "GET", "/", "", loop, 403},
		{"an outer address on loopback", "GET", "/", "192.0.2.1:8123", loop, 403},
		{"an address on all interfaces", "GET", "/", "192.0.2.1:8123", everywhere, 200},
		{"a name on all interfaces", "GET", "/", "evil.example:8123", everywhere, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, tt.path, nil)
			req.Host = tt.host
			w := httptest.NewRecorder()
			view.Handler(r, tt.on).ServeHTTP(w, req)
			if w.Code != tt.want {
				t.Errorf("%s %s with Host %q on %s = %d, want %d", tt.method, tt.path, tt.host, tt.on, w.Code, tt.want)
			}
			if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("policy %q: want one that admits nothing else", w.Header().Get("Content-Security-Policy"))
			}
		})
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

func TestServeEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- view.Serve(ctx, l, small(t)) }()
	res, err := http.Get("http://" + l.Addr().String() + "/blob/0")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil || res.Body.Close() != nil || len(data) == 0 || data[0] != '[' && data[0] != '{' {
		t.Errorf("blob 0 = %.60q, %v; want JSON", data, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v, want no error after an interrupt", err)
	}
	if again, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener still answers", again.Close())
	}
}
