package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/goccy/go-json"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// An Encoding is how vectors travel.
type Encoding string

// The encodings. Both carry the numbers of a float32 exactly.
const (
	AnyEncoding    Encoding = ""       // Base64, and Float if the server refuses that
	Base64Encoding Encoding = "base64" // a third of the bytes
	FloatEncoding  Encoding = "float"
)

// An EmbedConfig says whom to ask for vectors and how.
type EmbedConfig struct {
	Config
	// Dimensions is the length of the vectors to ask for, which only some
	// models can choose; 0 is the model's own. A server that gives another
	// length is an error.
	Dimensions int
	// Encoding is what to ask for. An answer in the other one is read too,
	// since there are servers that do not look at it.
	Encoding Encoding
}

// An Embedder asks one model for vectors by /v1/embeddings. It is safe for
// concurrent use. It implements [model.Embedder].
type Embedder struct {
	c        *Client
	cfg      EmbedConfig
	halving  model.Halving
	tokens   atomic.Int64
	noBase64 atomic.Bool // refused once
}

// ownEmbed are the members of a request body that Extra may not hold, besides
// those of chats.
var ownEmbed = []string{"input", "encoding_format", "dimensions"}

// NewEmbedder returns an Embedder, or an error if the configuration makes no
// sense. It sends nothing.
func NewEmbedder(cfg EmbedConfig) (*Embedder, error) {
	if cfg.Dimensions < 0 {
		return nil, fmt.Errorf("openai: dimensions: want 0 or more, have %d", cfg.Dimensions)
	}
	if !slices.Contains([]Encoding{AnyEncoding, Base64Encoding, FloatEncoding}, cfg.Encoding) {
		return nil, fmt.Errorf("openai: encoding: want base64, float or nothing, have %q", cfg.Encoding)
	}
	c, err := New(cfg.Config)
	if err != nil {
		return nil, err
	}
	if cfg.Extra != "" {
		v, err := cfg.Extra.Value()
		if err != nil {
			return nil, fmt.Errorf("openai: extra members: %w", err)
		}
		for _, m := range v.Members {
			if slices.Contains(ownEmbed, m.Name) {
				return nil, fmt.Errorf("openai: extra members: %q is set by assay itself; use its option", m.Name)
			}
		}
	}
	return &Embedder{c: c, cfg: cfg}, nil
}

// Close closes the connections that are kept open.
func (e *Embedder) Close() { e.c.Close() }

// Tokens returns how many tokens the server says it has read so far.
func (e *Embedder) Tokens() int64 { return e.tokens.Load() }

// Embed implements [model.Embedder]. What a server does with a text that is
// too long for the model is its own: most refuse it, which is an error that
// names the text, and some cut it in silence. A list that the server refuses is
// sent in halves, see [model.Halving].
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.halving.Embed(ctx, texts, e.ask)
}

func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	for {
		encoding := e.encoding()
		var vectors [][]float32
		var refusal string
		r := transport.Request{Method: http.MethodPost, URL: e.c.base + "/embeddings", Header: e.c.header, Body: e.body(texts, encoding)}
		_, err := e.c.http.Do(ctx, r, func(ans transport.Answer) *model.Error {
			var fail *model.Error
			vectors, refusal, fail = e.read(ans, len(texts))
			if fail != nil && fail.Status == 0 {
				fail.Status = ans.Status
			}
			return model.OrHalve(fail, len(texts))
		})
		fail, ok := errors.AsType[*model.Error](err)
		if !ok {
			return vectors, err
		}
		if e.cfg.Encoding == AnyEncoding && encoding == Base64Encoding && fail.Class == model.ClassRequest &&
			(strings.Contains(refusal, "encoding_format") || strings.Contains(refusal, "base64")) {
			e.noBase64.Store(true)
			continue
		}
		e.c.redact(fail)
		return nil, fail
	}
}

// encoding returns the encoding to ask for.
func (e *Embedder) encoding() Encoding {
	switch {
	case e.cfg.Encoding != AnyEncoding:
		return e.cfg.Encoding
	case e.noBase64.Load():
		return FloatEncoding
	}
	return Base64Encoding
}

// body returns the request body. The order of its members never changes.
func (e *Embedder) body(texts []string, encoding Encoding) []byte {
	b := qaoa.AppendQuote([]byte(`{"model":`), e.cfg.Model)
	b = append(b, `,"input":[`...)
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = qaoa.AppendQuote(b, text)
	}
	b = append(b, `],"encoding_format":"`...)
	b = append(append(b, encoding...), '"')
	if e.cfg.Dimensions > 0 {
		b = strconv.AppendInt(append(b, `,"dimensions":`...), int64(e.cfg.Dimensions), 10)
	}
	if e.c.extra != "" {
		b = append(append(b, ','), e.c.extra...)
	}
	return append(b, '}')
}

// An embedding is one item of an answer.
type embedding struct {
	Index  *int            `json:"index"`
	Vector json.RawMessage `json:"embedding"`
}

// read returns the vectors in an answer in the order of the texts, or the
// failure and what the server said. The long lists of numbers are not read as a
// tree, which takes fifty times their memory.
func (e *Embedder) read(ans transport.Answer, texts int) ([][]float32, string, *model.Error) {
	var out struct {
		Error json.RawMessage `json:"error"`
		Data  []embedding     `json:"data"`
		Usage struct {
			Prompt int64 `json:"prompt_tokens"`
		} `json:"usage"`
	}
	good := ans.Status >= 200 && ans.Status < 300
	noError := func() bool { return len(out.Error) == 0 || string(out.Error) == "null" }
	if err := json.Unmarshal(ans.Body, &out); !good || err != nil || !noError() || out.Data == nil {
		v, fail := e.c.tree(ans)
		if fail == nil {
			return nil, "", e.bad("/data: want a list of vectors, have " + transport.Get(v, "data").Kind.String())
		}
		text := errorText(v)
		if fail.Class == model.ClassTruncated {
			fail.Msg = fmt.Sprintf("openai/%s: status %d: %s; a text is longer than the context of the model: serve the model with a longer context, or shorten or drop the text", e.cfg.Model, ans.Status, transport.Excerpt(text))
		}
		return nil, text, fail
	}
	label := "openai/" + e.cfg.Model
	if len(out.Data) != texts {
		return nil, "", model.CheckVectors(label, make([][]float32, len(out.Data)), texts, 0)
	}
	vectors := make([][]float32, texts)
	for i, item := range out.Data {
		at := i
		// Some servers leave the index out; then the order is all there is.
		if item.Index != nil {
			at = *item.Index
		}
		if at < 0 || at >= texts || vectors[at] != nil {
			return nil, "", e.bad(fmt.Sprintf("/data/%d/index: want each of 0 to %d once, have %d", i, texts-1, at))
		}
		v, err := decode(item.Vector)
		if err != nil {
			return nil, "", e.bad(fmt.Sprintf("/data/%d/embedding: %v", i, err))
		}
		if v == nil {
			v = []float32{} // which CheckVectors is to see
		}
		vectors[at] = v
	}
	if fail := model.CheckVectors(label, vectors, texts, e.cfg.Dimensions); fail != nil {
		return nil, "", fail
	}
	e.tokens.Add(max(out.Usage.Prompt, 0))
	return vectors, "", nil
}

func (e *Embedder) bad(what string) *model.Error {
	return &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("openai/%s: answer: %s; is the base URL that of embeddings?", e.cfg.Model, what)}
}

// decode returns a vector in either encoding.
func decode(raw []byte) ([]float32, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return model.DecodeVectorBase64(text)
	}
	return model.DecodeVector(raw)
}
