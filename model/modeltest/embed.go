package modeltest

import (
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"assay/qaoa"
)

// EmbedDim is the dimension of the vectors of an [EmbedServer], unless told
// otherwise.
const EmbedDim = 16

// An EmbedRequest is one request for vectors as the server got it.
type EmbedRequest struct {
	N          int    // 0-based number among the requests for vectors
	Path       string // "/v1/embeddings" or "/api/embed"
	Header     http.Header
	Body       []byte
	Model      string
	Texts      []string
	Encoding   string // encoding_format, "" if it is not there
	Dimensions int    // 0 if it is not there
}

// An EmbedReply says what the server does with one request. The zero EmbedReply
// is the vectors of the texts as the protocol has them.
type EmbedReply struct {
	Status  int               // 0 is 200; from 400 on Text is sent as the error
	Text    string            // of the error
	Header  map[string]string // more headers, such as Retry-After
	Body    string            // sent instead of a JSON body, if it is not ""
	Cut     int               // the connection is cut after so many bytes of the body
	Vectors [][]float32       // sent instead of those of the texts, if not nil
	Shuffle bool              // OpenAI: items in reverse order, told by their index
	NoIndex bool              // OpenAI: items without an index
	Float   bool              // OpenAI: numbers whatever encoding was asked for
}

// An EmbedServer is a running server of vectors. Its fields may be set before
// the first request.
type EmbedServer struct {
	URL    string // "http://127.0.0.1:port"; OpenAI's base URL is URL + "/v1"
	Model  string
	Digest string // for Ollama
	Dim    int

	script func(EmbedRequest) EmbedReply
	http   *httptest.Server
	mu     sync.Mutex
	seen   []EmbedRequest
}

// NewEmbedServer starts a server that is closed when the test ends. A nil
// script never breaks anything. It is called from several goroutines at once.
func NewEmbedServer(tb testing.TB, script func(EmbedRequest) EmbedReply) *EmbedServer {
	tb.Helper()
	s := &EmbedServer{Model: ModelName, Digest: "sha256:0123456789ab", Dim: EmbedDim, script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.embed(openAIVectors, openAIError))
	mux.HandleFunc("POST /api/embed", s.embed(ollamaVectors, ollamaError))
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, object("models", qaoa.ArrayValue(object("name", s.Model+":latest", "digest", s.Digest))))
	})
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	tb.Cleanup(s.Close)
	return s
}

// Close stops the server before the test ends: who asks now finds no server.
func (s *EmbedServer) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the requests for vectors so far, in order of arrival.
func (s *EmbedServer) Requests() []EmbedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *EmbedServer) embed(body func(EmbedRequest, EmbedReply) qaoa.Value, fault func(Reply) qaoa.Value) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		data, err := io.ReadAll(hr.Body)
		if err != nil {
			return // the client went away
		}
		v, err := qaoa.ParseValue(data)
		if err != nil {
			writeJSON(w, http.StatusBadRequest, fault(Reply{Text: err.Error()}))
			return
		}
		req := readEmbed(v)
		req.Path, req.Header, req.Body = hr.URL.Path, hr.Header.Clone(), data
		s.mu.Lock()
		req.N = len(s.seen)
		s.seen = append(s.seen, req)
		s.mu.Unlock()
		if req.Model != s.Model {
			writeJSON(w, http.StatusNotFound, fault(Reply{Text: "model '" + req.Model + "' not found"}))
			return
		}
		var rep EmbedReply
		if s.script != nil {
			rep = s.script(req)
		}
		for k, v := range rep.Header {
			w.Header().Set(k, v)
		}
		if rep.Vectors == nil {
			dim := s.Dim
			if req.Dimensions > 0 {
				dim = req.Dimensions
			}
			for _, text := range req.Texts {
				rep.Vectors = append(rep.Vectors, EmbedVector(text, dim))
			}
		}
		out := []byte(rep.Body)
		switch {
		case rep.Body != "":
		case rep.Status >= 400:
			out = fault(Reply{Text: rep.Text}).Append(nil)
		default:
			out = body(req, rep).Append(nil)
		}
		send(w, hr, Reply{Status: rep.Status, Cut: rep.Cut}, out)
	}
}

func readEmbed(v qaoa.Value) EmbedRequest {
	m, _ := v.Get("model")
	format, _ := v.Get("encoding_format")
	dim, _ := v.Get("dimensions")
	req := EmbedRequest{Model: m.Text, Encoding: format.Text}
	req.Dimensions, _ = strconv.Atoi(dim.Text) // 0 if it is not there
	input, _ := v.Get("input")
	if input.Kind == qaoa.String {
		req.Texts = []string{input.Text}
	}
	for _, item := range input.Items {
		req.Texts = append(req.Texts, item.Text)
	}
	return req
}

// EmbedVector is the vector of a text: the sum of one random direction for each
// of its words, so texts that share words are near each other. It depends on
// the text and the dimension alone.
func EmbedVector(text string, dim int) []float32 {
	v := make([]float32, dim)
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		rng := rand.New(rand.NewPCG(xxh3.HashString(w), uint64(dim)))
		for i := range v {
			v[i] += float32(rng.NormFloat64())
		}
	}
	return v
}

func ollamaVectors(r EmbedRequest, rep EmbedReply) qaoa.Value {
	vectors := qaoa.Value{Kind: qaoa.Array}
	for _, v := range rep.Vectors {
		vectors.Items = append(vectors.Items, numbers(v))
	}
	return object("model", r.Model, "embeddings", vectors, "total_duration", 1000, "load_duration", 10, "prompt_eval_count", len(r.Texts))
}

func openAIVectors(r EmbedRequest, rep EmbedReply) qaoa.Value {
	data := qaoa.Value{Kind: qaoa.Array}
	for i, v := range rep.Vectors {
		vector := numbers(v)
		if r.Encoding == "base64" && !rep.Float {
			raw := make([]byte, 0, 4*len(v))
			for _, x := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			vector = qaoa.StringValue(base64.StdEncoding.EncodeToString(raw))
		}
		item := object("object", "embedding", "index", i, "embedding", vector)
		if rep.NoIndex {
			item = object("object", "embedding", "embedding", vector)
		}
		data.Items = append(data.Items, item)
	}
	if rep.Shuffle {
		slices.Reverse(data.Items)
	}
	return object("object", "list", "data", data, "model", r.Model,
		"usage", object("prompt_tokens", len(r.Texts), "total_tokens", len(r.Texts)))
}

func numbers(v []float32) qaoa.Value {
	out := qaoa.Value{Kind: qaoa.Array, Items: make([]qaoa.Value, len(v))}
	for i, x := range v {
		out.Items[i] = qaoa.Value{Kind: qaoa.Number, Text: strconv.FormatFloat(float64(x), 'g', -1, 32)}
	}
	return out
}
