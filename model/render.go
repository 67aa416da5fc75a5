package model

import "context"

// A Renderer can tell what a server makes of a request before the model reads
// it: the text after the server's chat template.
type Renderer interface {
	// RenderedPrompt returns the whole prompt of req as text, special tokens
	// included, without asking the model. A server that cannot tell is an
	// [Error] of class [ClassRequest].
	RenderedPrompt(ctx context.Context, req Request) (string, error)
}
