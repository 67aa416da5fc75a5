package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/internal/near"
	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// A Config says whom to ask and how.
type Config struct {
	Host  string // as in OLLAMA_HOST, see [BaseURL]
	Model string // with or without a tag: "qwen3:8b"
	// KeepAlive is how long the server keeps the model loaded, as it writes
	// durations ("10m", "-1" for ever); "" leaves it to the server.
	KeepAlive string
	// NumThread is how many threads the server computes with; 0 leaves it to
	// the server. On shared cores too many of them slow it down manyfold.
	NumThread int
	HTTP      transport.Options
}

// A Client asks one model. It is safe for concurrent use. It implements
// [model.Chatter], [model.Prober], [model.Renderer] and [model.SchemaHolder].
type Client struct {
	base  string
	cfg   Config
	http  *transport.Client
	tools transport.ToolCache
}

// New returns a client, or an error if the configuration makes no sense. It
// sends nothing.
func New(cfg Config) (*Client, error) {
	if cfg.Model == "" {
		return nil, errors.New("ollama: want the name of a model, have none; give --model ollama/NAME")
	}
	if cfg.NumThread < 0 {
		return nil, fmt.Errorf("ollama: number of threads: want 0 or more, have %d", cfg.NumThread)
	}
	base, err := BaseURL(cfg.Host)
	if err != nil {
		return nil, err
	}
	remedy := `start "ollama serve" or set OLLAMA_HOST, or give --model openai/NAME --base-url URL`
	return &Client{base: base, cfg: cfg, http: transport.New("ollama/"+cfg.Model, remedy, cfg.HTTP)}, nil
}

// Base returns the address of the server, without credentials.
func (c *Client) Base() string { return c.base }

// Close closes the connections that are kept open.
func (c *Client) Close() { c.http.Close() }

// Chat asks the model once, retries of the transport aside. A prompt that does
// not fit the context is a [model.Error] of class Truncated: the server is told
// not to shorten it, and if it does not know how to refuse (old versions), a
// prompt count that reaches Sampling.NumCtx gives it away.
func (c *Client) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	return c.chat(ctx, c.http, req)
}

func (c *Client) chat(ctx context.Context, via *transport.Client, req model.Request) (model.Reply, error) {
	var reply model.Reply
	ans, err := c.post(ctx, via, "/api/chat", c.body(req), func(v qaoa.Value) *model.Error {
		var fail *model.Error
		reply, fail = c.read(v, req.Sampling.NumCtx)
		return fail
	})
	if err != nil {
		return model.Reply{}, err
	}
	reply.Latency = ans.Latency
	reply.Attempts = ans.Attempts
	return reply, nil
}

func (c *Client) post(ctx context.Context, via *transport.Client, path string, body []byte, read func(qaoa.Value) *model.Error) (transport.Answer, error) {
	return c.do(ctx, via, transport.Request{Method: http.MethodPost, URL: c.base + path, Body: body}, read)
}

func (c *Client) get(ctx context.Context, via *transport.Client, path string, read func(qaoa.Value) *model.Error) error {
	_, err := c.do(ctx, via, transport.Request{Method: http.MethodGet, URL: c.base + path}, read)
	return err
}

// do sends a request and gives the JSON of a good answer to read.
func (c *Client) do(ctx context.Context, via *transport.Client, r transport.Request, read func(qaoa.Value) *model.Error) (transport.Answer, error) {
	return via.Do(ctx, r, func(ans transport.Answer) *model.Error {
		v, fail := c.tree(via, ans)
		if fail != nil {
			return fail
		}
		return read(v)
	})
}

// tree returns the JSON object of a good answer, or the failure that an answer
// is.
func (c *Client) tree(via *transport.Client, ans transport.Answer) (qaoa.Value, *model.Error) {
	v, err := qaoa.ParseValue(ans.Body)
	text := transport.Text(v, "error")
	if ans.Status == http.StatusNotFound && text != "" {
		return v, &model.Error{Class: model.ClassUnavailable, Msg: fmt.Sprintf("ollama/%s: %s has no such model (%s); run \"ollama pull %s\", or choose one of \"ollama list\"", c.cfg.Model, c.base, transport.Excerpt(text), c.cfg.Model)}
	}
	if fail := via.Status(ans, text); fail != nil {
		if fail.Class == model.ClassTruncated {
			fail.Msg += "; or raise --num-ctx"
		}
		return v, fail
	}
	switch {
	case err != nil:
		return v, &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("ollama/%s: answer: %v, have %s; is %s an Ollama server?", c.cfg.Model, err, transport.Excerpt(ans.Body), c.base)}
	case v.Kind != qaoa.Object:
		return v, c.badReply("/", "an object", v)
	case text != "":
		return v, via.Refusal(http.StatusInternalServerError, text)
	}
	return v, nil
}

func (c *Client) badReply(path, want string, have qaoa.Value) *model.Error {
	return &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("ollama/%s: answer: %s: want %s, have %s; is %s an Ollama server?", c.cfg.Model, path, want, have.Kind, c.base)}
}

// Version returns the version of the server.
func (c *Client) Version(ctx context.Context) (string, error) { return c.version(ctx, c.http) }

func (c *Client) version(ctx context.Context, via *transport.Client) (version string, err error) {
	err = c.get(ctx, via, "/api/version", func(v qaoa.Value) *model.Error {
		if version = transport.Text(v, "version"); version == "" {
			return c.badReply("/version", "a string", transport.Get(v, "version"))
		}
		return nil
	})
	return version, err
}

// Ping checks that there is an Ollama server. It does not retry.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.version(ctx, c.http.WithoutRetries())
	return err
}

// A Model is one model that the server has.
type Model struct {
	Name   string // with its tag
	Digest string // of the manifest, which changes with weights and template
}

// Models returns the models of the server, sorted by name.
func (c *Client) Models(ctx context.Context) ([]Model, error) { return c.models(ctx, c.http) }

func (c *Client) models(ctx context.Context, via *transport.Client) (models []Model, err error) {
	err = c.get(ctx, via, "/api/tags", func(v qaoa.Value) *model.Error {
		list := transport.Get(v, "models")
		if list.Kind != qaoa.Array && list.Kind != qaoa.Null {
			return c.badReply("/models", "a list", list)
		}
		models = nil
		for _, item := range list.Items {
			if name := transport.Text(item, "name"); name != "" {
				models = append(models, Model{name, transport.Text(item, "digest")})
			}
		}
		slices.SortFunc(models, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return models, err
}

// A Show is what the server says of the client's model.
type Show struct {
	Context int // longest context in tokens, 0 if the server does not say
	// Can is what the model can do ("completion", "tools", "thinking", …),
	// sorted; nil if the server does not say, as old ones do.
	Can []string
}

// Show asks what the server says of the client's model.
func (c *Client) Show(ctx context.Context) (Show, error) { return c.show(ctx, c.http) }

// ContextLength returns the longest context of the client's model in tokens, 0
// if the server does not say.
func (c *Client) ContextLength(ctx context.Context) (int, error) {
	s, err := c.show(ctx, c.http)
	return s.Context, err
}

// Capabilities implements [model.Capable].
func (c *Client) Capabilities(ctx context.Context) ([]string, error) {
	s, err := c.show(ctx, c.http)
	return s.Can, err
}

func (c *Client) show(ctx context.Context, via *transport.Client) (s Show, err error) {
	body := append(qaoa.AppendQuote([]byte(`{"model":`), c.cfg.Model), '}')
	_, err = c.post(ctx, via, "/api/show", body, func(v qaoa.Value) *model.Error {
		s = Show{}
		// The name begins with the architecture: "qwen3.context_length".
		for _, m := range transport.Get(v, "model_info").Members {
			if strings.HasSuffix(m.Name, ".context_length") {
				s.Context = transport.Int(m.Value, 0)
			}
		}
		for _, item := range transport.Get(v, "capabilities").Items {
			if item.Kind == qaoa.String {
				s.Can = append(s.Can, item.Text)
			}
		}
		slices.Sort(s.Can)
		return nil
	})
	return s, err
}

// Probe implements [model.Prober]. It does not retry. The question makes the
// server load the model, which may take as long as a timeout allows.
func (c *Client) Probe(ctx context.Context) (model.Info, error) {
	info := model.Info{Server: c.base, Model: c.cfg.Model}
	via := c.http.WithoutRetries()
	var err error
	if info.Version, err = c.version(ctx, via); err != nil {
		return info, err
	}
	models, err := c.models(ctx, via)
	if err != nil {
		return info, err
	}
	for _, m := range models {
		info.Models = append(info.Models, m.Name)
		if sameModel(m.Name, c.cfg.Model) {
			info.Model, info.Digest = m.Name, m.Digest
		}
	}
	show, err := c.show(ctx, via)
	if err != nil {
		if fail, ok := errors.AsType[*model.Error](err); ok && fail.Class == model.ClassUnavailable {
			fail.Msg += near.DidYouMean(c.cfg.Model, info.Models)
		}
		return info, err
	}
	info.Context = show.Context
	info.Reply, err = c.chat(ctx, via, model.ProbeRequest())
	return info, err
}

// sameModel reports whether a listed name is the one asked for, where the tag
// "latest" may be left out.
func sameModel(listed, asked string) bool {
	return strings.EqualFold(strings.TrimSuffix(listed, ":latest"), strings.TrimSuffix(asked, ":latest"))
}
