package model

import "context"

// A PromptTokenizer can tell the tokens that a server makes of a request before
// the model reads them.
type PromptTokenizer interface {
	// PromptTokens returns the ids of the whole prompt of req, without asking
	// the model. A server that cannot tell is an [Error] of class
	// [ClassRequest].
	PromptTokens(ctx context.Context, req Request) ([]int, error)
}
