//go:build e2e

package e2e

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/embed"
	"assay/model"
	"assay/vector"
)

// The tiny model is made for chats. Its vectors mean nothing, and are nearly the
// same for all texts, but the server computes, refuses and prints them as it
// does those of any model. That rows are in the order of texts is for the tests
// of package embed to hold.

func source(t *testing.T, spec string, opt embed.Options) embed.Source {
	t.Helper()
	opt.BaseURL = server(t)
	if strings.HasPrefix(spec, "openai:") {
		opt.BaseURL += "/v1"
	}
	opt.NumThread = 1
	opt.Getenv = func(string) string { return "" }
	src, err := embed.Open(spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func rows(t *testing.T, src embed.Source, texts []string) *vector.Matrix {
	t.Helper()
	m, err := src.Vectors(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if m.Rows() != len(texts) || m.Dim() == 0 {
		t.Fatalf("%d rows of %d dimensions for %d texts", m.Rows(), m.Dim(), len(texts))
	}
	return m
}

func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

var embedTexts = []string{
	"get_weather\nTells the weather of a city", "book_flight\nBooks a flight \"now\" <b> é",
	"x", "plot_histogram\nDraws bars", "get_weather\nTells the weather of a city",
}

func TestVectorsOfBothProtocols(t *testing.T) {
	a := rows(t, source(t, "ollama:tiny", embed.Options{Batch: 2}), embedTexts)
	b := rows(t, source(t, "openai:tiny", embed.Options{Batch: 3}), embedTexts)
	if a.Dim() != b.Dim() {
		t.Fatalf("%d and %d dimensions", a.Dim(), b.Dim())
	}
	for i := range embedTexts {
		if l := cosine(a.Row(i), a.Row(i)); math.Abs(l-1) > 1e-5 {
			t.Errorf("row %d has length² %v", i, l)
		}
		if c := cosine(a.Row(i), b.Row(i)); c < 0.9999 {
			t.Errorf("row %d: cosine of the two protocols' vectors %v, want 1", i, c)
		}
	}
	if c := cosine(a.Row(0), a.Row(4)); c < 0.999999 {
		t.Errorf("equal texts have cosine %v", c)
	}
}

func TestServerEncodesVectorsInBase64(t *testing.T) {
	vectors := map[string][]float32{}
	for _, encoding := range []string{"float", "base64"} {
		status, body := post(t, server(t)+"/v1/embeddings", `{"model":"tiny","input":["hello there"],"encoding_format":"`+encoding+`"}`)
		var got struct {
			Data []struct {
				Index     int             `json:"index"`
				Embedding json.RawMessage `json:"embedding"`
			} `json:"data"`
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(body, &got); err != nil || status != 200 || len(got.Data) != 1 || got.Usage.Prompt == 0 {
			t.Fatalf("%s: status %d, %v: %.200s", encoding, status, err, body)
		}
		raw := got.Data[0].Embedding
		var v []float32
		var err error
		if raw[0] == '"' {
			v, err = model.DecodeVectorBase64(strings.Trim(string(raw), `"`))
		} else {
			v, err = model.DecodeVector(raw)
		}
		if err != nil {
			t.Fatalf("%s: %v", encoding, err)
		}
		if (raw[0] == '"') != (encoding == "base64") {
			t.Errorf("%s was asked and %.20s sent", encoding, raw)
		}
		vectors[encoding] = v
	}
	for i, x := range vectors["float"] {
		if y := vectors["base64"][i]; x != y {
			t.Fatalf("number %d is %v as text and %v in base64", i, x, y)
		}
	}
}

func TestVectorsAreCached(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.cache")
	opt := embed.Options{CacheFile: path}
	first := rows(t, source(t, "ollama:tiny", opt), embedTexts[:2])
	second := rows(t, source(t, "ollama:tiny", opt), embedTexts)
	for i := range 2 {
		for k, x := range first.Row(i) {
			if x != second.Row(i)[k] {
				t.Fatalf("row %d changed on its way through the file", i)
			}
		}
	}
	head, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(head), `{"format":"assay-vectors/1","model":"ollama:tiny","digest":"`) {
		t.Errorf("the file begins %.120q, %v; want model and digest", head, err)
	}
	_, err = source(t, "ollama:tiny-long", opt).Vectors(t.Context(), embedTexts)
	if err == nil || !strings.Contains(err.Error(), "ollama:tiny-long") || !strings.Contains(err.Error(), "the cache holds vectors of ollama:tiny ") {
		t.Errorf("another model: %v, want both named", err)
	}
}

func TestTextThatIsTooLongIsNamed(t *testing.T) {
	long := "long " + words(3000)
	_, err := source(t, "ollama:tiny", embed.Options{NumCtx: 1024, Batch: 8}).Vectors(t.Context(), []string{"a", "b", long, "c", "d"})
	fail, ok := errors.AsType[*model.Error](err)
	if !ok || fail.Class != model.ClassTruncated || !strings.Contains(err.Error(), `begins "long the city`) {
		t.Errorf("error %v, want class truncated and the beginning of the text", err)
	}
}

func TestVectorsOfNoModel(t *testing.T) {
	for _, spec := range []string{"ollama:nobody", "openai:nobody"} {
		_, err := source(t, spec, embed.Options{}).Vectors(t.Context(), []string{"a"})
		if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Class != model.ClassUnavailable {
			t.Errorf("%s: %v, want class unavailable", spec, err)
		}
	}
}

// TestClassifyByAModelThatCannot holds the protocol, not the labels: the model
// says the same whatever it is asked, and that is no label.
func TestClassifyByAModelThatCannot(t *testing.T) {
	pool := filepath.Join(t.TempDir(), "pool.jsonl")
	line := `{"name":"get_weather","description":"Tells the weather.","parameters":{"type":"object","properties":{}},"category":"search","domain":"environment","labelled_by":"me"}` + "\n"
	if err := os.WriteFile(pool, []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--by", "ollama/tiny", "--num-thread", "1", "--num-ctx", "8192"}, {"--by", "openai/tiny-long", "--base-url", server(t) + "/v1"}} {
		o := mustAssay(t, ollamaAt(server(t)), append([]string{"tools", "classify", pool, "--tries", "2"}, args...)...)
		if !strings.Contains(o.stdout, `"category":"search","domain":"environment"`) || !strings.Contains(o.stdout, `"labelled_by":"me"`) {
			t.Errorf("%v: the tool lost its labels: %s", args, o.stdout)
		}
		if !strings.Contains(o.stderr, "1 without a usable answer") || !strings.Contains(o.stderr, "want one JSON array and nothing else") {
			t.Errorf("%v: %s", args, o.stderr)
		}
	}
}
