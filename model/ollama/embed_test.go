package ollama_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/modeltest"
	"assay/model/ollama"
	"assay/model/transport"
)

func embedder(t *testing.T, s *modeltest.EmbedServer, cfg ollama.EmbedConfig) *ollama.Embedder {
	t.Helper()
	cfg.Host, cfg.HTTP.Backoff = s.URL, time.Millisecond
	if cfg.Model == "" {
		cfg.Model = modeltest.ModelName
	}
	e, err := ollama.NewEmbedder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestEmbed(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	cfg := ollama.EmbedConfig{Dimensions: 8, NumCtx: 512}
	cfg.KeepAlive, cfg.NumThread = "10m", 1
	e := embedder(t, s, cfg)
	got, err := e.Embed(t.Context(), []string{"a <b>", "é \"c\""})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float32{modeltest.EmbedVector("a <b>", 8), modeltest.EmbedVector("é \"c\"", 8)}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("vectors (-want +got):\n%s", d)
	}
	const body = `{"model":"test-model","input":["a <b>","é \"c\""],"truncate":false,"dimensions":8,"keep_alive":"10m","options":{"num_ctx":512,"num_thread":1}}`
	if sent := string(s.Requests()[0].Body); sent != body {
		t.Errorf("sent %s, want %s", sent, body)
	}
	if e.Tokens() != 2 {
		t.Errorf("%d tokens, want 2", e.Tokens())
	}
	if d, err := e.Digest(t.Context(), true); d != s.Digest || err != nil {
		t.Errorf("digest %q, %v; want %q", d, err, s.Digest)
	}
	plain := embedder(t, s, ollama.EmbedConfig{})
	if _, err := plain.Embed(t.Context(), []string{"x"}); err != nil {
		t.Fatal(err)
	}
	const least = `{"model":"test-model","input":["x"],"truncate":false}`
	if sent := string(s.Requests()[1].Body); sent != least {
		t.Errorf("sent %s, want %s", sent, least)
	}
	if none, err := plain.Embed(t.Context(), nil); len(none) != 0 || err != nil || len(s.Requests()) != 2 {
		t.Errorf("no texts: %v, %v after %d requests; want nothing asked", none, err, len(s.Requests()))
	}
}

func TestEmbedHalvesWhatIsRefused(t *testing.T) {
	s := modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
		if len(r.Texts) > 3 {
			return modeltest.EmbedReply{Status: 500, Text: "out of memory"}
		}
		return modeltest.EmbedReply{}
	})
	texts := strings.Fields("a b c d e f g h i j")
	e := embedder(t, s, ollama.EmbedConfig{Config: ollama.Config{HTTP: transport.Options{Retries: 5}}})
	got, err := e.Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	for i, text := range texts {
		if d := cmp.Diff(modeltest.EmbedVector(text, modeltest.EmbedDim), got[i]); d != "" {
			t.Errorf("vector %d (-want +got):\n%s", i, d)
		}
	}
	var lens []int
	for _, r := range s.Requests() {
		lens = append(lens, len(r.Texts))
	}
	if d := cmp.Diff([]int{10, 5, 3, 2, 5, 3, 2}, lens); d != "" {
		t.Errorf("lengths of requests (-want +got):\n%s", d)
	}
}

func TestEmbedFailures(t *testing.T) {
	good := []float32{1, 2}
	for _, tt := range []struct {
		name    string
		replies []modeltest.EmbedReply // the last one for ever
		dim     int
		class   model.Class // "" is no failure
		says    string
		asked   int // requests
	}{
		{"429 waits and is asked again", []modeltest.EmbedReply{{Status: 429, Text: "slow down", Header: map[string]string{"Retry-After": "0.01"}}, {}}, 0, "", "", 2},
		{"503 is asked again", []modeltest.EmbedReply{{Status: 503, Text: "loading"}, {}}, 0, "", "", 2},
		{"500 for one text is asked again", []modeltest.EmbedReply{{Status: 500, Text: "oops"}, {}}, 0, "", "", 2},
		{"a cut answer is asked again", []modeltest.EmbedReply{{Cut: 20}, {}}, 0, "", "", 2},
		{"cut JSON is asked again", []modeltest.EmbedReply{{Body: `{"embeddings":[[1,2`}, {}}, 0, "", "", 2},
		{"a text that is too long", []modeltest.EmbedReply{{Status: 400, Text: "the input length exceeds the context length"}}, 0, model.ClassTruncated, `begins "hello"`, 1},
		{"too few vectors", []modeltest.EmbedReply{{Vectors: [][]float32{}}}, 0, model.ClassBadReply, "want 1 vectors for 1 texts, have 0", 4},
		{"no list", []modeltest.EmbedReply{{Body: `{"embedding":[1]}`}}, 0, model.ClassBadReply, "/embeddings: want a list of vectors", 4},
		{"null among the numbers", []modeltest.EmbedReply{{Body: `{"embeddings":[[1,null]]}`}}, 0, model.ClassBadReply, "/embeddings/0: /1: want a number", 4},
		{"zeros", []modeltest.EmbedReply{{Vectors: [][]float32{{0, 0}}}}, 0, model.ClassRequest, "all zeros", 1},
		{"another dimension", []modeltest.EmbedReply{{Vectors: [][]float32{good}}}, 3, model.ClassRequest, "want 3 dimensions", 1},
		{"an error with status 200", []modeltest.EmbedReply{{Body: `{"error":"no vectors today"}`}}, 0, model.ClassServer, "no vectors today", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
				return tt.replies[min(r.N, len(tt.replies)-1)]
			})
			cfg := ollama.EmbedConfig{Dimensions: tt.dim}
			cfg.HTTP.Retries = 3
			got, err := embedder(t, s, cfg).Embed(t.Context(), []string{"hello"})
			fail, _ := errors.AsType[*model.Error](err)
			switch {
			case tt.class == "" && (err != nil || len(got) != 1):
				t.Errorf("%v, %v; want a vector", got, err)
			case tt.class != "" && (fail == nil || fail.Class != tt.class || !strings.Contains(fail.Msg, tt.says)):
				t.Errorf("error %v, want class %s with %q", err, tt.class, tt.says)
			}
			if n := len(s.Requests()); n != tt.asked {
				t.Errorf("%d requests, want %d", n, tt.asked)
			}
		})
	}
}

func TestEmbedNoSuchModel(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	cfg := ollama.EmbedConfig{}
	cfg.Model = "nobody"
	e := embedder(t, s, cfg)
	_, err := e.Embed(t.Context(), []string{"x"})
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassUnavailable || !strings.Contains(fail.Msg, "ollama pull nobody") {
		t.Errorf("error %v, want what to pull", err)
	}
	if d, err := e.Digest(t.Context(), false); d != "" || err != nil {
		t.Errorf("digest %q, %v; want none", d, err)
	}
}

func TestNewEmbedderRefuses(t *testing.T) {
	for _, cfg := range []ollama.EmbedConfig{{}, {Config: ollama.Config{Model: "m"}, Dimensions: -1}, {Config: ollama.Config{Model: "m"}, NumCtx: -1}} {
		if _, err := ollama.NewEmbedder(cfg); err == nil {
			t.Errorf("NewEmbedder(%+v): want an error", cfg)
		}
	}
}
