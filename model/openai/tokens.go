package openai

import (
	"context"
	"fmt"
	"strconv"

	"assay/model"
	"assay/qaoa"
)

// PromptTokens implements [model.PromptTokenizer] where the server has a way
// beside the protocol. llama.cpp renders by /apply-template and makes tokens of
// the text by /tokenize, with the options that its chat endpoint uses; vLLM
// takes the conversation at /tokenize.
func (c *Client) PromptTokens(ctx context.Context, req model.Request) ([]int, error) {
	body := c.templateBody(req, true)
	prompt, err := c.beside(ctx, "/apply-template", c.templateBody(req, false), "prompt")
	switch {
	case err == nil:
		body = append(qaoa.AppendQuote([]byte(`{"content":`), prompt.Text), `,"add_special":true,"parse_special":true}`...)
	case !missing(err):
		return nil, err
	}
	list, err := c.beside(ctx, "/tokenize", body, "tokens")
	if missing(err) {
		return nil, &model.Error{Class: model.ClassRequest, Attempts: 1, Msg: fmt.Sprintf("openai/%s: %s tells in no way known here which tokens a prompt has; llama.cpp and vLLM do", c.model, c.base)}
	}
	if err != nil {
		return nil, err
	}
	ids := make([]int, len(list.Items))
	for i, item := range list.Items {
		if ids[i], err = strconv.Atoi(item.Text); err != nil || item.Kind != qaoa.Number {
			return nil, &model.Error{Class: model.ClassBadReply, Attempts: 1, Msg: fmt.Sprintf("openai/%s: answer of /tokenize: /tokens/%d: want the number of a token, have %s", c.model, i, item.Kind)}
		}
	}
	return ids, nil
}
