package ollama

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/goccy/go-json"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// An EmbedConfig says whom to ask for vectors and how.
type EmbedConfig struct {
	Config
	// Dimensions is the length of the vectors to ask for, which only some
	// models can choose; 0 is the model's own. A server that gives another
	// length is an error.
	Dimensions int
	// NumCtx is the context length to ask for, in tokens; 0 leaves it to the
	// server. A text longer than it is an error, never cut.
	NumCtx int
}

// An Embedder asks one model for vectors by /api/embed. It is safe for
// concurrent use. It implements [model.Embedder].
type Embedder struct {
	c       *Client
	cfg     EmbedConfig
	halving model.Halving
	tokens  atomic.Int64
}

// NewEmbedder returns an Embedder, or an error if the configuration makes no
// sense. It sends nothing.
func NewEmbedder(cfg EmbedConfig) (*Embedder, error) {
	if cfg.Dimensions < 0 || cfg.NumCtx < 0 {
		return nil, fmt.Errorf("ollama: want dimensions and context length of 0 or more, have %d and %d", cfg.Dimensions, cfg.NumCtx)
	}
	c, err := New(cfg.Config)
	if err != nil {
		return nil, err
	}
	return &Embedder{c: c, cfg: cfg}, nil
}

// Close closes the connections that are kept open.
func (e *Embedder) Close() { e.c.Close() }

// Tokens returns how many tokens the server says it has read so far.
func (e *Embedder) Tokens() int64 { return e.tokens.Load() }

// Digest returns the digest of the model, "" if the server does not list the
// model or lists it without. It changes with the weights. Without retry the
// server is asked once, to see whether there is one.
func (e *Embedder) Digest(ctx context.Context, retry bool) (string, error) {
	via := e.c.http
	if !retry {
		via = via.WithoutRetries()
	}
	models, err := e.c.models(ctx, via)
	i := slices.IndexFunc(models, func(m Model) bool { return sameModel(m.Name, e.cfg.Model) })
	if err != nil || i < 0 {
		return "", err
	}
	return models[i].Digest, nil
}

// Embed implements [model.Embedder]. The server is told not to cut a text that
// is too long for the context: that is an error which names the text. A list
// that the server refuses is sent in halves, see [model.Halving].
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.halving.Embed(ctx, texts, e.ask)
}

func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	r := transport.Request{Method: http.MethodPost, URL: e.c.base + "/api/embed", Body: e.body(texts)}
	_, err := e.c.http.Do(ctx, r, func(ans transport.Answer) *model.Error {
		var fail *model.Error
		vectors, fail = e.read(ans, len(texts))
		if fail != nil && fail.Status == 0 {
			fail.Status = ans.Status
		}
		return model.OrHalve(fail, len(texts))
	})
	return vectors, err
}

// body returns the request body. The order of its members never changes.
func (e *Embedder) body(texts []string) []byte {
	b := qaoa.AppendQuote([]byte(`{"model":`), e.cfg.Model)
	b = append(b, `,"input":[`...)
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = qaoa.AppendQuote(b, text)
	}
	b = append(b, `],"truncate":false`...)
	if e.cfg.Dimensions > 0 {
		b = strconv.AppendInt(append(b, `,"dimensions":`...), int64(e.cfg.Dimensions), 10)
	}
	b = e.c.appendKeepAlive(b)
	sep := `,"options":{`
	for _, o := range []struct {
		name  string
		value int
	}{{"num_ctx", e.cfg.NumCtx}, {"num_thread", e.cfg.NumThread}} {
		if o.value > 0 {
			b = append(append(append(append(b, sep...), '"'), o.name...), `":`...)
			b = strconv.AppendInt(b, int64(o.value), 10)
			sep = ","
		}
	}
	if sep == "," {
		b = append(b, '}')
	}
	return append(b, '}')
}

// read returns the vectors in an answer. The long lists of numbers are not
// read as a tree, which takes fifty times their memory.
func (e *Embedder) read(ans transport.Answer, texts int) ([][]float32, *model.Error) {
	var out struct {
		Error      string            `json:"error"`
		Embeddings []json.RawMessage `json:"embeddings"`
		Tokens     int64             `json:"prompt_eval_count"`
	}
	good := ans.Status >= 200 && ans.Status < 300
	if err := json.Unmarshal(ans.Body, &out); !good || err != nil || out.Error != "" || out.Embeddings == nil {
		v, fail := e.c.tree(e.c.http, ans)
		switch {
		case fail == nil:
			return nil, e.c.badReply("/embeddings", "a list of vectors", transport.Get(v, "embeddings"))
		case fail.Class == model.ClassTruncated:
			fail.Msg = fmt.Sprintf("ollama/%s: status %d: %s; a text is longer than the context of the model: give the server a longer context, or shorten or drop the text", e.cfg.Model, ans.Status, transport.Excerpt(transport.Text(v, "error")))
		}
		return nil, fail
	}
	label := "ollama/" + e.cfg.Model
	vectors := make([][]float32, len(out.Embeddings))
	for i, raw := range out.Embeddings {
		v, err := model.DecodeVector(raw)
		if err != nil {
			return nil, &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("%s: answer: /embeddings/%d: %v; is %s an Ollama server?", label, i, err, e.c.base)}
		}
		vectors[i] = v
	}
	if fail := model.CheckVectors(label, vectors, texts, e.cfg.Dimensions); fail != nil {
		return nil, fail
	}
	e.tokens.Add(max(out.Tokens, 0))
	return vectors, nil
}
