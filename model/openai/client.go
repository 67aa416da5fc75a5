package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"assay/internal/near"
	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// A Config says whom to ask and how.
type Config struct {
	// BaseURL is the address before "/chat/completions", for most servers
	// with "/v1" at its end; "" is [DefaultBaseURL].
	BaseURL string
	// Key is sent as a bearer token if it is not "". It is in no message.
	Key   string
	Model string
	// Extra is a JSON object with more members for each request body, such as
	// {"reasoning_effort":"low"}, or absent.
	Extra qaoa.JSON
	HTTP  transport.Options
}

// A Client asks one model. It is safe for concurrent use. It implements
// [model.Chatter], [model.Prober] and [model.Renderer].
type Client struct {
	base   string
	key    string
	model  string
	extra  string // members of Config.Extra without the braces
	header http.Header
	http   *transport.Client
	tools  transport.ToolCache

	// What the server refused once is not sent again.
	noMaxTokens   atomic.Bool // max_completion_tokens instead
	noThinking    atomic.Bool // chat_template_kwargs
	noTemperature atomic.Bool
	noTopP        atomic.Bool
	noSeed        atomic.Bool
	noParallel    atomic.Bool // parallel_tool_calls
}

// own are the members of a request body that Extra may not hold.
var own = []string{"model", "messages", "stream", "temperature", "top_p", "seed", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls", "chat_template_kwargs"}

// New returns a client, or an error if the configuration makes no sense. It
// sends nothing.
func New(cfg Config) (*Client, error) {
	if cfg.Model == "" {
		return nil, errors.New("openai: want the name of a model, have none; give --model openai/NAME")
	}
	base, err := checkBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, key: cfg.Key, model: cfg.Model, header: http.Header{}}
	if cfg.Key != "" {
		if strings.ContainsAny(cfg.Key, "\r\n") {
			return nil, errors.New("openai: the key holds a line break; check OPENAI_API_KEY")
		}
		c.header.Set("Authorization", "Bearer "+cfg.Key)
	}
	if cfg.Extra != "" {
		v, err := cfg.Extra.Value()
		if err != nil || v.Kind != qaoa.Object {
			return nil, fmt.Errorf("openai: extra members: want a JSON object, have %.40q", string(cfg.Extra))
		}
		for _, m := range v.Members {
			if slices.Contains(own, m.Name) {
				return nil, fmt.Errorf("openai: extra members: %q is set by assay itself; use its flag", m.Name)
			}
		}
		text := string(v.JSON())
		c.extra = text[1 : len(text)-1]
	}
	cfg.HTTP.Secret = cfg.Key
	c.http = transport.New("openai/"+cfg.Model, "start the server, or give its address by --base-url or OPENAI_BASE_URL", cfg.HTTP)
	return c, nil
}

// checkBase returns the base URL without a slash at its end.
func checkBase(base string) (string, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", errors.New("openai: the base URL is no URL; want something like http://127.0.0.1:8000/v1")
	case u.User != nil:
		return "", fmt.Errorf("openai: base URL %s: want no user name and password; give the key by OPENAI_API_KEY", transport.SafeURL(base))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("openai: base URL %q: want something like http://127.0.0.1:8000/v1", transport.SafeURL(base))
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Base returns the address of the server, without credentials.
func (c *Client) Base() string { return c.base }

// Close closes the connections that are kept open.
func (c *Client) Close() { c.http.Close() }

// Notes says what the server refused and is not sent to it since, in words for
// the description of a run; nil if it took everything so far.
func (c *Client) Notes() []string {
	var notes []string
	if c.noMaxTokens.Load() {
		notes = append(notes, "the server refused max_tokens: max_completion_tokens is sent instead")
	}
	if c.noThinking.Load() {
		notes = append(notes, "the server refused chat_template_kwargs: thinking is as the server has it")
	}
	if c.noParallel.Load() {
		notes = append(notes, "the server refused parallel_tool_calls: how many calls a reply may hold is as the server has it")
	}
	for _, s := range []struct {
		refused *atomic.Bool
		member  string
	}{{&c.noTemperature, "temperature"}, {&c.noTopP, "top_p"}, {&c.noSeed, "seed"}} {
		if s.refused.Load() {
			notes = append(notes, "the server refused "+s.member+": it is as the server has it, and repeats may differ")
		}
	}
	return notes
}

// Chat asks the model once, retries of the transport aside. See
// [model.Request] for what is sent; Think is sent in the member
// chat_template_kwargs, which vLLM, SGLang and llama.cpp know. A server that
// refuses this member or max_tokens by name, or says that it does not support
// temperature, top_p or seed (reasoning models) or parallel_tool_calls, is asked again without it, and
// so are all later requests; [Client.Notes] tells.
func (c *Client) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	return c.chat(ctx, c.http, req)
}

func (c *Client) chat(ctx context.Context, via *transport.Client, req model.Request) (model.Reply, error) {
	attempts := 0
	for {
		f := fields{
			maxTokens: !c.noMaxTokens.Load(), thinking: !c.noThinking.Load(),
			temperature: !c.noTemperature.Load(), topP: !c.noTopP.Load(), seed: !c.noSeed.Load(),
			parallel: !c.noParallel.Load(),
		}
		var reply model.Reply
		var refusal string
		ans, err := via.Do(ctx, transport.Request{
			Method: http.MethodPost,
			URL:    c.base + "/chat/completions",
			Header: c.header,
			Body:   c.body(req, f),
		}, func(ans transport.Answer) *model.Error {
			var fail *model.Error
			reply, refusal, fail = c.read(ans)
			return fail
		})
		attempts += ans.Attempts
		if err == nil {
			reply.Latency = ans.Latency
			reply.Attempts = attempts
			return reply, nil
		}
		fail, ok := errors.AsType[*model.Error](err)
		if !ok {
			return model.Reply{}, err
		}
		if fail.Class == model.ClassRequest && c.learn(refusal, f, req) {
			continue
		}
		fail.Attempts = attempts
		c.redact(fail)
		return model.Reply{}, fail
	}
}

// learn reports whether a refusal names a member of the body that the client
// can do without, and remembers it.
func (c *Client) learn(refusal string, f fields, req model.Request) bool {
	s := req.Sampling
	switch {
	case f.maxTokens && s.MaxTokens > 0 && strings.Contains(refusal, "max_completion_tokens"):
		c.noMaxTokens.Store(true)
	case f.thinking && strings.Contains(refusal, "chat_template_kwargs"):
		c.noThinking.Store(true)
	case !unsupported(refusal):
		return false
	case f.temperature && strings.Contains(refusal, "temperature"):
		c.noTemperature.Store(true)
	case f.topP && s.TopP > 0 && strings.Contains(refusal, "top_p"):
		c.noTopP.Store(true)
	case f.seed && strings.Contains(refusal, "seed"):
		c.noSeed.Store(true)
	case f.parallel && req.ParallelCalls != "" && strings.Contains(refusal, "parallel_tool_calls"):
		c.noParallel.Store(true)
	default:
		return false
	}
	return true
}

// unsupported reports whether a refusal is about a member as such, and not
// about its value.
func unsupported(refusal string) bool {
	text := strings.ToLower(refusal)
	for _, phrase := range []string{"unsupported", "not support", "unrecognized", "unknown", "not permitted", "forbidden", "unexpected"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// redact takes the key out of a message: servers quote what they got. What they
// say is cut to a length, so the message may also hold the first part of it.
func (c *Client) redact(e *model.Error) {
	const telling = 4 // bytes of a key that are worth to hide
	if c.key != "" {
		e.Msg = strings.ReplaceAll(e.Msg, c.key, "[key]")
	}
	for n := len(c.key) - 1; n >= telling; n-- {
		for _, end := range []string{"…", `"`} { // of an excerpt, and of a quoted value
			e.Msg = strings.ReplaceAll(e.Msg, c.key[:n]+end, "[key]"+end)
		}
	}
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		e.Msg += "; set OPENAI_API_KEY"
	}
	if e.Status == http.StatusNotFound && !strings.HasSuffix(c.base, "/v1") {
		e.Msg += "; most base URLs end in /v1, this one is " + c.base
	}
}

// Models returns the names of the models that the server lists, sorted.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	list, err := c.list(ctx, c.http)
	return list.names, err
}

// A listing is what GET /models says.
type listing struct {
	names   []string
	context int // of the client's model, 0 if unknown
}

func (c *Client) list(ctx context.Context, via *transport.Client) (listing, error) {
	var out listing
	_, err := via.Do(ctx, transport.Request{Method: http.MethodGet, URL: c.base + "/models", Header: c.header}, func(ans transport.Answer) *model.Error {
		v, fail := c.tree(ans)
		if fail != nil {
			return fail
		}
		data := transport.Get(v, "data")
		if data.Kind != qaoa.Array {
			return badReply(c.model, "/data", "a list of models", data)
		}
		out = listing{}
		for _, item := range data.Items {
			id := transport.Text(item, "id")
			if id == "" {
				continue
			}
			out.names = append(out.names, id)
			if id == c.model {
				out.context = contextOf(item)
			}
		}
		slices.Sort(out.names)
		return nil
	})
	if fail, ok := errors.AsType[*model.Error](err); ok {
		c.redact(fail)
	}
	return out, err
}

// contextOf returns the context length in an entry of the list of models. The
// protocol has none, and each server calls it its own way.
func contextOf(item qaoa.Value) int {
	for _, path := range [][]string{{"max_model_len"}, {"context_length"}, {"context_window"}, {"max_context_length"}, {"meta", "n_ctx"}, {"meta", "n_ctx_train"}} {
		if n := transport.Int(item, 0, path...); n > 0 {
			return n
		}
	}
	return 0
}

// Ping checks that there is a server which lists models. It does not retry.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.list(ctx, c.http.WithoutRetries())
	return err
}

// Probe implements [model.Prober]. It does not retry. Servers that list no
// models, or list them under other names than they answer to, are no fault:
// the question decides.
func (c *Client) Probe(ctx context.Context) (model.Info, error) {
	info := model.Info{Server: c.base, Model: c.model}
	via := c.http.WithoutRetries()
	list, err := c.list(ctx, via)
	if err != nil {
		fail, ok := errors.AsType[*model.Error](err)
		if !ok || fail.Status == 0 || fail.Status == http.StatusUnauthorized || fail.Status == http.StatusForbidden {
			return info, err // the question would fail alike
		}
	}
	info.Models, info.Context = list.names, list.context
	info.Reply, err = c.chat(ctx, via, model.ProbeRequest())
	if fail, ok := errors.AsType[*model.Error](err); ok && len(list.names) > 0 && !slices.Contains(list.names, c.model) {
		fail.Class = model.ClassUnavailable
		fail.Msg += "; the server has " + someOf(list.names) + near.DidYouMean(c.model, list.names)
	}
	return info, err
}

// someOf names the first ten.
func someOf(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
