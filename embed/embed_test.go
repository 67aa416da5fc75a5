package embed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/internal/filelock"
	"assay/model"
	"assay/model/modeltest"
	"assay/vector"
)

// open returns a source that asks s, with a short patience.
func open(t testing.TB, kind string, s *modeltest.EmbedServer, opt Options) Source {
	t.Helper()
	opt.BaseURL = s.URL
	if kind == "openai" {
		opt.BaseURL += "/v1"
	}
	opt.HTTP.Backoff = 1 // ns
	if opt.Retries == 0 {
		opt.Retries = 2
	}
	src, err := Open(kind+":"+modeltest.ModelName, opt)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func vectors(t testing.TB, s Source, texts []string) *vector.Matrix {
	t.Helper()
	m, err := s.Vectors(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// want returns the rows that a server of dim makes of texts.
func want(texts []string, dim int) *vector.Matrix {
	m := vector.NewMatrix(len(texts), dim)
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			copy(m.Row(i), modeltest.EmbedVector(text, dim))
		}
	}
	m.Normalize()
	return m
}

func equal(a, b *vector.Matrix) bool {
	if a.Rows() != b.Rows() || a.Dim() != b.Dim() {
		return false
	}
	for i := range a.Rows() {
		if !slices.Equal(a.Row(i), b.Row(i)) {
			return false
		}
	}
	return true
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("tool %d%s", i, strings.Repeat(" x", i%7))
	}
	return texts
}

var kinds = []string{"ollama", "openai"}

func TestVectors(t *testing.T) {
	for _, kind := range kinds {
		for _, workers := range []int{1, 2, 8} {
			t.Run(fmt.Sprint(kind, workers), func(t *testing.T) {
				s := modeltest.NewEmbedServer(t, func(modeltest.EmbedRequest) modeltest.EmbedReply {
					return modeltest.EmbedReply{Shuffle: true}
				})
				texts := numbered(50)
				texts = append(texts, " ", texts[3], "", texts[7], texts[3])
				src := open(t, kind, s, Options{Batch: 8, Workers: workers})
				if !equal(vectors(t, src, texts), want(texts, modeltest.EmbedDim)) {
					t.Error("the rows are not those of the texts")
				}
				var sent []string
				for _, r := range s.Requests() {
					sent = append(sent, r.Texts...)
				}
				slices.Sort(sent)
				if len(sent) != 50 || len(slices.Compact(sent)) != 50 {
					t.Errorf("%d texts were sent, want 50 distinct ones", len(sent))
				}
				if src.Name() != kind+":"+modeltest.ModelName {
					t.Errorf("name %q", src.Name())
				}
			})
		}
	}
}

// TestBatchesDoNotDependOnOrder: servers round differently in different
// company, so equal sets of texts must make equal requests.
func TestBatchesDoNotDependOnOrder(t *testing.T) {
	bodies := func(texts []string) []string {
		s := modeltest.NewEmbedServer(t, nil)
		vectors(t, open(t, "openai", s, Options{Batch: 4, Workers: 3}), texts)
		var all []string
		for _, r := range s.Requests() {
			all = append(all, string(r.Body))
		}
		slices.Sort(all)
		return all
	}
	texts := numbered(30)
	first := bodies(texts)
	slices.Reverse(texts)
	if !slices.Equal(first, bodies(texts)) {
		t.Error("another order of the texts made other requests")
	}
}

func TestNothingToAsk(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	src := open(t, "openai", s, Options{CacheFile: filepath.Join(t.TempDir(), "c")})
	for _, texts := range [][]string{nil, {"", "\n"}} {
		if m := vectors(t, src, texts); m.Rows() != len(texts) {
			t.Errorf("%d rows for %q", m.Rows(), texts)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

func TestCacheServesTheSecondCall(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := modeltest.NewEmbedServer(t, nil)
			path := filepath.Join(t.TempDir(), "vectors.cache")
			texts := numbered(20)
			first := vectors(t, open(t, kind, s, Options{CacheFile: path, Batch: 6}), texts)
			asked := len(s.Requests())
			slices.Reverse(texts)
			texts = append(texts, "a new one")
			src := open(t, kind, s, Options{CacheFile: path})
			second := vectors(t, src, texts)
			for i := range 20 {
				if !slices.Equal(first.Row(i), second.Row(19-i)) {
					t.Fatalf("row %d is another one when it comes from the cache", i)
				}
			}
			if sent := s.Requests()[asked:]; len(sent) != 1 || len(sent[0].Texts) != 1 {
				t.Errorf("the second call sent %d requests, want one for the new text", len(sent))
			}
			s.Close()
			if !equal(vectors(t, src, texts), second) {
				t.Error("without a server the rows are others")
			}
			if !equal(vectors(t, open(t, kind, s, Options{CacheFile: path}), texts), second) {
				t.Error("without a server, in a new source, the rows are others")
			}
		})
	}
}

func TestCacheRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *modeltest.EmbedServer, opt *Options)
		says   []string
	}{
		{"another model", func(s *modeltest.EmbedServer, _ *Options) { s.Model = "other" }, []string{"ollama:test-model (sha256:0123456789ab), 16 dimensions", "ollama:other"}},
		{"other weights", func(s *modeltest.EmbedServer, _ *Options) { s.Digest = "sha256:ff" }, []string{"sha256:0123456789ab", "ollama:test-model (sha256:ff)"}},
		{"another dimension asked", func(_ *modeltest.EmbedServer, opt *Options) { opt.Dimensions = 8 }, []string{"16 dimensions", "8 dimensions"}},
		{"another dimension received", func(s *modeltest.EmbedServer, _ *Options) { s.Dim = 24 }, []string{"16 dimensions", "24 dimensions"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewEmbedServer(t, nil)
			path := filepath.Join(t.TempDir(), "c")
			vectors(t, open(t, "ollama", s, Options{CacheFile: path}), numbered(3))
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			opt := Options{CacheFile: path, BaseURL: s.URL}
			tt.change(s, &opt)
			src, err := Open("ollama:"+s.Model, opt)
			if err != nil {
				t.Fatal(err)
			}
			_, err = src.Vectors(t.Context(), numbered(5))
			for _, part := range tt.says {
				if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), path) {
					t.Errorf("error %v, want one with %q and the file", err, part)
				}
			}
			if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestCacheOfAnotherKindIsNotTouched(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	for _, content := range []string{"my thesis", "my\nthesis\n", `{"format":"assay-vectors/9","model":"x","dim":3}` + "\n", `{"format":"assay-vectors/1","model":"x","dim":0}` + "\n", strings.Repeat("x", 1<<21)} {
		path := filepath.Join(t.TempDir(), "c")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, "openai", s, Options{CacheFile: path}).Vectors(t.Context(), []string{"x"})
		if !errors.Is(err, errNoCache) {
			t.Errorf("%.40q: error %v, want that it is no cache", content, err)
		}
		if after, _ := os.ReadFile(path); string(after) != content {
			t.Errorf("%.40q was changed", content)
		}
	}
}

// TestKilledAtAnyByte cuts the file at every length, as a kill during a write
// leaves it. The next call must end with the right rows, ask only for what is
// lost, and leave a file that the one after it can use.
func TestKilledAtAnyByte(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	s.Dim = 3
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	texts := numbered(4)
	vectors(t, open(t, "openai", s, Options{CacheFile: whole, Batch: 2}), texts)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	header := strings.IndexByte(string(data), '\n') + 1
	const entry = 32 + 3*4 + 8
	if len(data) != header+4*entry {
		t.Fatalf("%d bytes, want %d", len(data), header+4*entry)
	}
	path := filepath.Join(dir, "cut")
	for n := range len(data) {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		asked := len(s.Requests())
		if !equal(vectors(t, open(t, "openai", s, Options{CacheFile: path}), texts), want(texts, 3)) {
			t.Fatalf("cut at %d: wrong rows", n)
		}
		sent := 0
		for _, r := range s.Requests()[asked:] {
			sent += len(r.Texts)
		}
		if lost := 4 - max(n-header, 0)/entry; sent != lost {
			t.Errorf("cut at %d: %d texts asked again, want %d", n, sent, lost)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != int64(len(data)) {
			t.Errorf("cut at %d: %d bytes after it, want %d", n, info.Size(), len(data))
		}
	}
}

// TestDamagedEntries changes every byte in turn: what is damaged is asked
// again, and never served.
func TestDamagedEntries(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	s.Dim = 2
	path := filepath.Join(t.TempDir(), "c")
	texts := []string{"a", "b"}
	vectors(t, open(t, "openai", s, Options{CacheFile: path}), texts)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := strings.IndexByte(string(data), '\n') + 1; n < len(data); n++ {
		bad := slices.Clone(data)
		bad[n] ^= 0x40
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		asked := len(s.Requests())
		if !equal(vectors(t, open(t, "openai", s, Options{CacheFile: path}), texts), want(texts, 2)) {
			t.Fatalf("byte %d: wrong rows", n)
		}
		if sent := s.Requests()[asked:]; len(sent) != 1 || len(sent[0].Texts) != 1 {
			t.Errorf("byte %d: %d requests, want one for one text", n, len(sent))
		}
	}
}

func TestFailureKeepsWhatWasReceived(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	s := modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
		if broken.Load() && slices.Contains(r.Texts, "bad") {
			return modeltest.EmbedReply{Status: 401, Text: "no"}
		}
		return modeltest.EmbedReply{}
	})
	texts := append(numbered(40), "bad") // the shortest, so it comes last
	path := filepath.Join(t.TempDir(), "c")
	opt := Options{CacheFile: path, Batch: 4, Workers: 2}
	_, err := open(t, "openai", s, opt).Vectors(t.Context(), texts)
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Status != 401 || !strings.Contains(err.Error(), "40 of 41 texts are done and in "+path) {
		t.Fatalf("error %v, want the status and how much is done", err)
	}
	broken.Store(false)
	asked := len(s.Requests())
	if !equal(vectors(t, open(t, "openai", s, opt), texts), want(texts, modeltest.EmbedDim)) {
		t.Error("wrong rows")
	}
	if sent := s.Requests()[asked:]; len(sent) != 1 || !slices.Equal(sent[0].Texts, []string{"bad"}) {
		t.Errorf("the second call asked %d times, want once for what failed", len(sent))
	}
	_, err = open(t, "openai", modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
		return modeltest.EmbedReply{Status: 401 * min(r.N, 1)}
	}), Options{Batch: 4, Workers: 1}).Vectors(t.Context(), texts)
	if err == nil || !strings.Contains(err.Error(), "after 4 of 41 texts, which are lost") {
		t.Errorf("error %v, want what is lost", err)
	}
}

func TestCancelledBetweenBatches(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := modeltest.NewEmbedServer(t, nil)
	path := filepath.Join(t.TempDir(), "c")
	opt := Options{CacheFile: path, Batch: 2, Workers: 1, Progress: func(done, total int) {
		if total != 20 {
			t.Errorf("%d texts in all, want 20", total)
		}
		if done == 6 {
			cancel()
		}
	}}
	_, err := open(t, "ollama", s, opt).Vectors(ctx, numbered(20))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of 20 texts are done") {
		t.Errorf("error %v, want that it was cancelled and how much is done", err)
	}
	opt.Progress = nil
	if !equal(vectors(t, open(t, "ollama", s, opt), numbered(20)), want(numbered(20), modeltest.EmbedDim)) {
		t.Error("wrong rows")
	}
}

func TestCacheIsLocked(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	path := filepath.Join(t.TempDir(), "c")
	lock, err := filelock.Take(path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	src := open(t, "openai", s, Options{CacheFile: path})
	if _, err := src.Vectors(t.Context(), []string{"x"}); err == nil || !strings.Contains(err.Error(), "another process is using this cache") {
		t.Errorf("error %v, want that the cache is in use", err)
	}
	if err := filelock.Release(lock); err != nil {
		t.Fatal(err)
	}
	vectors(t, src, []string{"x"})
}

// TestOneSourceFromManyGoroutines: calls take turns, and what one has paid for
// the next one finds.
func TestOneSourceFromManyGoroutines(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	src := open(t, "openai", s, Options{CacheFile: filepath.Join(t.TempDir(), "c"), Batch: 3})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			texts := numbered(10 + i)
			m, err := src.Vectors(t.Context(), texts)
			if err != nil || !equal(m, want(texts, modeltest.EmbedDim)) {
				t.Errorf("call %d: %v, or wrong rows", i, err)
			}
		})
	}
	wg.Wait()
	sent := 0
	for _, r := range s.Requests() {
		sent += len(r.Texts)
	}
	if sent != 17 {
		t.Errorf("%d texts were sent, want 17", sent)
	}
}

func TestAnotherProcessAddsInBetween(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	path := filepath.Join(t.TempDir(), "c")
	one, other := open(t, "openai", s, Options{CacheFile: path}), open(t, "openai", s, Options{CacheFile: path})
	vectors(t, one, numbered(3))
	vectors(t, other, numbered(6))
	vectors(t, one, numbered(8))
	vectors(t, other, numbered(8))
	sent := 0
	for _, r := range s.Requests() {
		sent += len(r.Texts)
	}
	if sent != 8 {
		t.Errorf("%d texts were sent, want 8", sent)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if !equal(vectors(t, one, numbered(4)), want(numbered(4), modeltest.EmbedDim)) {
		t.Error("wrong rows after the file was deleted")
	}
}

func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		spec string
		opt  Options
		says string // "" is no error
	}{
		{"lexical", Options{}, ""},
		{"", Options{}, ""},
		{"ollama:qwen3-embedding:8b", Options{}, ""},
		{"openai:text-embedding-3-small", Options{}, ""},
		{"bm25", Options{}, `"bm25": want lexical, ollama:MODEL or openai:MODEL`},
		{"ollama:", Options{}, "want lexical"},
		{"ollama/x", Options{}, "want lexical"},
		{"openai:x", Options{BaseURL: "nonsense"}, "base URL"},
		{"ollama:x", Options{BaseURL: "ftp://x"}, "OLLAMA_HOST"},
		{"lexical", Options{Batch: -1}, "want batch"},
	} {
		opt := tt.opt
		opt.Getenv = func(string) string { return "" }
		src, err := Open(tt.spec, opt)
		switch {
		case tt.says == "" && (err != nil || tt.spec != "" && src.Name() != tt.spec):
			t.Errorf("Open(%q) = %v, %v", tt.spec, src, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("Open(%q): error %v, want one with %q", tt.spec, err, tt.says)
		}
	}
}

func TestEnvironment(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	env := map[string]string{"OPENAI_BASE_URL": s.URL + "/v1", "OLLAMA_HOST": s.URL, "MY_KEY": "sesame"}
	for _, kind := range kinds {
		src, err := Open(kind+":"+modeltest.ModelName, Options{KeyEnv: "MY_KEY", Getenv: func(k string) string { return env[k] }})
		if err != nil {
			t.Fatal(err)
		}
		vectors(t, src, []string{"x"})
	}
	if got := s.Requests()[1].Header.Get("Authorization"); got != "Bearer sesame" {
		t.Errorf("Authorization %q", got)
	}
}

func TestLexical(t *testing.T) {
	texts := append(numbered(200), "", "get_user_email", "getUserEmails", "plot a histogram")
	var first *vector.Matrix
	for _, workers := range []int{1, 2, 8} {
		src, err := Open(Lexical, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		m := vectors(t, src, texts)
		if first == nil {
			first = m
		}
		if m.Dim() != DefaultDimensions || !equal(first, m) {
			t.Errorf("%d workers: other rows", workers)
		}
	}
	hits, err := first.Neighbours(t.Context(), 1, vector.Options{})
	if err != nil || hits[201][0].Row != 202 {
		t.Errorf("the nearest of %q is %v, %v; want %q", texts[201], hits[201], err, texts[202])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src, err := Open(Lexical, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Vectors(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A fake is a model without a server.
type fake int

func (dim fake) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = modeltest.EmbedVector(text, int(dim))
	}
	return out, nil
}

// FuzzCacheFile: whatever is in the file, there are the right rows or an error,
// and no file of somebody else's is changed.
func FuzzCacheFile(f *testing.F) {
	at := func(path string) Source {
		return &remote{name: "openai:m", label: "openai/m", model: fake(2), opt: Options{CacheFile: path, Batch: 1, Workers: 1}}
	}
	path := filepath.Join(f.TempDir(), "c")
	vectors(f, at(path), []string{"a", "b"})
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-5])
	f.Add([]byte("{"))
	f.Add([]byte(`{"format":"assay-vectors/1","model":"openai:m","dim":1048576}` + "\nx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := at(path).Vectors(t.Context(), []string{"a", "b"})
		if err == nil && !equal(m, want([]string{"a", "b"}, 2)) {
			t.Error("wrong rows")
		}
		if after, _ := os.ReadFile(path); err != nil && !slices.Equal(after, data) {
			t.Errorf("the file was changed, and yet: %v", err)
		}
	})
}

func ExampleOpen() {
	src, err := Open("lexical", Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	texts := []string{"get_user_email", "getUserEmails", "plot a histogram"}
	m, err := src.Vectors(context.Background(), texts)
	if err != nil {
		fmt.Println(err)
		return
	}
	near, err := m.Neighbours(context.Background(), 1, vector.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s is nearest to %s\n", texts[near[0][0].Row], texts[0])
	// Output: getUserEmails is nearest to get_user_email
}

func BenchmarkCacheRead(b *testing.B) {
	s := modeltest.NewEmbedServer(b, nil)
	s.Dim = 1024
	texts := numbered(500)
	src := open(b, "openai", s, Options{CacheFile: filepath.Join(b.TempDir(), "c")})
	vectors(b, src, texts)
	b.ReportAllocs()
	b.SetBytes(int64(len(texts) * 4 * s.Dim))
	for b.Loop() {
		vectors(b, src, texts)
	}
}

func BenchmarkLexical(b *testing.B) {
	src, err := Open(Lexical, Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprintf("search_hotels_%d\nFinds hotels of a city by price, rating and distance to the centre, page %d", i, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		vectors(b, src, texts)
	}
}
