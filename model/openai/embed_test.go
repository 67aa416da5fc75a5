package openai_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/model"
	"assay/model/modeltest"
	"assay/model/openai"
)

func embedder(t *testing.T, s *modeltest.EmbedServer, cfg openai.EmbedConfig) *openai.Embedder {
	t.Helper()
	cfg.BaseURL, cfg.Key, cfg.Model, cfg.HTTP.Backoff = s.URL+"/v1", key, modeltest.ModelName, time.Millisecond
	e, err := openai.NewEmbedder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestEmbed(t *testing.T) {
	texts := []string{"book a table", "a <b> & é", "third"}
	for _, tt := range []struct {
		name     string
		reply    modeltest.EmbedReply
		encoding openai.Encoding
		asks     string
	}{
		{"base64 is asked first", modeltest.EmbedReply{}, openai.AnyEncoding, "base64"},
		{"numbers are read though base64 was asked", modeltest.EmbedReply{Float: true}, openai.AnyEncoding, "base64"},
		{"numbers on demand", modeltest.EmbedReply{}, openai.FloatEncoding, "float"},
		{"the order of items is not trusted", modeltest.EmbedReply{Shuffle: true}, openai.AnyEncoding, "base64"},
		{"without an index the order counts", modeltest.EmbedReply{NoIndex: true}, openai.AnyEncoding, "base64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewEmbedServer(t, func(modeltest.EmbedRequest) modeltest.EmbedReply { return tt.reply })
			e := embedder(t, s, openai.EmbedConfig{Encoding: tt.encoding, Dimensions: 5})
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				if d := cmp.Diff(modeltest.EmbedVector(text, 5), got[i]); d != "" {
					t.Errorf("vector %d (-want +got):\n%s", i, d)
				}
			}
			r := s.Requests()[0]
			if r.Encoding != tt.asks || r.Header.Get("Authorization") != "Bearer "+key || e.Tokens() != 3 {
				t.Errorf("encoding %q, header %v, %d tokens", r.Encoding, r.Header, e.Tokens())
			}
		})
	}
}

func TestEmbedBodyIsFixed(t *testing.T) {
	s := modeltest.NewEmbedServer(t, nil)
	e := embedder(t, s, openai.EmbedConfig{Config: openai.Config{Extra: `{"user":"u"}`}, Dimensions: 4})
	if _, err := e.Embed(t.Context(), []string{"a \"b\""}); err != nil {
		t.Fatal(err)
	}
	const body = `{"model":"test-model","input":["a \"b\""],"encoding_format":"base64","dimensions":4,"user":"u"}`
	if sent := string(s.Requests()[0].Body); sent != body {
		t.Errorf("sent %s, want %s", sent, body)
	}
}

func TestEmbedWithoutBase64(t *testing.T) {
	s := modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
		if r.Encoding == "base64" {
			return modeltest.EmbedReply{Status: 422, Text: "encoding_format: unexpected value"}
		}
		return modeltest.EmbedReply{}
	})
	e := embedder(t, s, openai.EmbedConfig{})
	for range 2 {
		if _, err := e.Embed(t.Context(), []string{"x"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests, want one refused and two good", n)
	}
}

func TestEmbedFailures(t *testing.T) {
	body := func(items string) []modeltest.EmbedReply {
		return []modeltest.EmbedReply{{Body: `{"object":"list","data":[` + items + `]}`}}
	}
	for _, tt := range []struct {
		name    string
		replies []modeltest.EmbedReply // the last one for ever
		class   model.Class            // "" is no failure
		says    string
		asked   int
	}{
		{"429 waits and is asked again", []modeltest.EmbedReply{{Status: 429, Text: "slow down", Header: map[string]string{"Retry-After": "0.01"}}, {}}, "", "", 2},
		{"cut JSON is asked again", []modeltest.EmbedReply{{Body: `{"data":[{"ind`}, {}}, "", "", 2},
		{"a batch that is too large is halved", []modeltest.EmbedReply{{Status: 413, Text: "too large"}, {}}, "", "", 3},
		{"an index twice", body(`{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}`), model.ClassBadReply, "/data/1/index: want each of 0 to 1 once, have 0", 3},
		{"an index out of range", body(`{"index":2,"embedding":[1]},{"index":0,"embedding":[2]}`), model.ClassBadReply, "/data/0/index", 3},
		{"too few items", body(`{"index":0,"embedding":[1]}`), model.ClassBadReply, "want 2 vectors for 2 texts, have 1", 3},
		{"NaN in base64", body(`{"index":0,"embedding":"AADAfw=="},{"index":1,"embedding":[1]}`), model.ClassBadReply, "/data/0/embedding: /0: want a finite number", 3},
		{"null in a vector", body(`{"index":0,"embedding":[null]},{"index":1,"embedding":[1]}`), model.ClassBadReply, "/data/0/embedding: /0", 3},
		{"two dimensions", body(`{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}`), model.ClassRequest, "those before it 2", 1},
		{"an empty vector", body(`{"index":0,"embedding":[]},{"index":1,"embedding":[1]}`), model.ClassRequest, "is empty", 1},
		{"no list", []modeltest.EmbedReply{{Body: `{"object":"list"}`}}, model.ClassBadReply, "/data: want a list", 3},
		{"the key is not told", []modeltest.EmbedReply{{Status: 401, Text: "bad key " + key}}, model.ClassRequest, "[key]", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := modeltest.NewEmbedServer(t, func(r modeltest.EmbedRequest) modeltest.EmbedReply {
				return tt.replies[min(r.N, len(tt.replies)-1)]
			})
			var cfg openai.EmbedConfig
			cfg.HTTP.Retries = 2
			got, err := embedder(t, s, cfg).Embed(t.Context(), []string{"hello", "world"})
			fail, _ := errors.AsType[*model.Error](err)
			switch {
			case tt.class == "" && (err != nil || len(got) != 2):
				t.Errorf("%v, %v; want two vectors", got, err)
			case tt.class != "" && (fail == nil || fail.Class != tt.class || !strings.Contains(fail.Msg, tt.says) || strings.Contains(fail.Msg, key)):
				t.Errorf("error %v, want class %s with %q", err, tt.class, tt.says)
			}
			if n := len(s.Requests()); n != tt.asked {
				t.Errorf("%d requests, want %d", n, tt.asked)
			}
		})
	}
}

func TestNewEmbedderRefuses(t *testing.T) {
	for _, cfg := range []openai.EmbedConfig{
		{},
		{Config: openai.Config{Model: "m"}, Dimensions: -1},
		{Config: openai.Config{Model: "m"}, Encoding: "hex"},
		{Config: openai.Config{Model: "m", Extra: `{"input":"x"}`}},
	} {
		if _, err := openai.NewEmbedder(cfg); err == nil {
			t.Errorf("NewEmbedder(%+v): want an error", cfg)
		}
	}
}
