package parity

import (
	"context"
	"errors"

	"assay/model"
)

// served is what the server tells of a prompt.
type served struct {
	text  string // unless the method is MethodCounts
	ids   []int  // with MethodTokens
	count int    // with MethodCounts
}

// A server is asked for prompts in the best way that it knows.
type server struct {
	m      model.Chatter
	render model.Renderer
	tokens model.PromptTokenizer
	method Method
}

// openServer finds out what the server of m tells.
func openServer(ctx context.Context, m model.Chatter, counts bool) (*server, error) {
	s := &server{m: m, method: MethodCounts}
	if r, ok := model.As[model.Renderer](m); ok {
		_, err := r.RenderedPrompt(ctx, model.ProbeRequest())
		switch {
		case err == nil:
			s.render, s.method = r, MethodText
		case !unable(err):
			return nil, err
		}
	}
	if s.method == MethodCounts && !counts {
		return nil, ErrCountsOnly
	}
	if t, ok := model.As[model.PromptTokenizer](m); ok && s.render != nil && counts {
		_, err := t.PromptTokens(ctx, model.ProbeRequest())
		switch {
		case err == nil:
			s.tokens, s.method = t, MethodTokens
		case !unable(err):
			return nil, err
		}
	}
	return s, nil
}

// unable reports whether err says that the server knows no such thing.
func unable(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Class == model.ClassRequest
}

// prompt returns what the server makes of req.
func (s *server) prompt(ctx context.Context, req model.Request) (served, error) {
	var out served
	var err error
	if s.method == MethodCounts {
		req.Sampling.MaxTokens = 1
		reply, err := s.m.Chat(ctx, req)
		if err == nil && reply.Usage.Prompt < 0 {
			err = &model.Error{Class: model.ClassRequest, Attempts: 1, Msg: "the server tells neither text, tokens nor the number of tokens of a prompt; nothing can be compared"}
		}
		return served{count: reply.Usage.Prompt}, err
	}
	if out.text, err = s.render.RenderedPrompt(ctx, req); err != nil || s.method == MethodText {
		return out, err
	}
	out.ids, err = s.tokens.PromptTokens(ctx, req)
	return out, err
}
