package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// RenderedPrompt implements [model.Renderer] where the server has a way beside
// the protocol: /apply-template of llama.cpp, or /tokenize and /detokenize of
// vLLM. Neither asks the model.
func (c *Client) RenderedPrompt(ctx context.Context, req model.Request) (string, error) {
	prompt, err := c.beside(ctx, "/apply-template", c.templateBody(req, false), "prompt")
	if !missing(err) {
		return prompt.Text, err
	}
	tokens, err := c.beside(ctx, "/tokenize", c.templateBody(req, true), "tokens")
	if missing(err) {
		return "", &model.Error{Class: model.ClassRequest, Attempts: 1, Msg: fmt.Sprintf("openai/%s: %s tells in no way known here how it renders a prompt; llama.cpp and vLLM do", c.model, c.base)}
	}
	if err != nil {
		return "", err
	}
	b := append(qaoa.AppendQuote([]byte(`{"model":`), c.model), `,"tokens":`...)
	b = append(tokens.Append(b), '}')
	prompt, err = c.beside(ctx, "/detokenize", b, "prompt")
	return prompt.Text, err
}

// templateBody is what both kinds of servers take to render a conversation.
func (c *Client) templateBody(req model.Request, named bool) []byte {
	b := []byte{'{'}
	if named {
		b = append(qaoa.AppendQuote(append(b, `"model":`...), c.model), ',')
	}
	b = append(b, `"messages":`...)
	b = appendMessages(b, req.Messages)
	if len(req.Tools) > 0 {
		b = transport.AppendTools(append(b, `,"tools":`...), req.Tools)
	}
	b = append(b, `,"add_generation_prompt":true`...)
	if !c.noThinking.Load() {
		b = append(b, `,"chat_template_kwargs":{"enable_thinking":`...)
		b = append(strconv.AppendBool(b, req.Sampling.Think), '}')
	}
	return append(b, '}')
}

// beside asks a path that stands beside the protocol, below the base URL
// without its "/v1", and returns one member of the answer.
func (c *Client) beside(ctx context.Context, path string, body []byte, member string) (qaoa.Value, error) {
	var out qaoa.Value
	_, err := c.http.Do(ctx, transport.Request{
		Method: http.MethodPost,
		URL:    strings.TrimSuffix(c.base, "/v1") + path,
		Header: c.header,
		Body:   body,
	}, func(ans transport.Answer) *model.Error {
		v, fail := c.tree(ans)
		if fail != nil {
			return fail
		}
		if out = transport.Get(v, member); out.Kind != qaoa.String && out.Kind != qaoa.Array {
			return &model.Error{Class: model.ClassRequest, Status: http.StatusNotFound, Msg: fmt.Sprintf("openai/%s: answer of %s: /%s: want a text or a list, have %s", c.model, path, member, out.Kind)}
		}
		return nil
	})
	if fail, ok := errors.AsType[*model.Error](err); ok {
		c.redact(fail)
	}
	return out, err
}

// missing reports whether err says that the server has no such path.
func missing(err error) bool {
	fail, ok := errors.AsType[*model.Error](err)
	return ok && (fail.Status == http.StatusNotFound || fail.Status == http.StatusMethodNotAllowed)
}
