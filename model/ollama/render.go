package ollama

import (
	"context"
	"fmt"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// RenderedPrompt implements [model.Renderer]: the server is told to render the
// request by the template of the model and to answer with that instead of
// asking the model. Servers older than v0.12 do not know this and answer the
// request; their answer is cut after one token.
func (c *Client) RenderedPrompt(ctx context.Context, req model.Request) (string, error) {
	req.Sampling.MaxTokens = 1
	body := c.body(req)
	body = append(body[:len(body)-1], `,"_debug_render_only":true}`...)
	prompt := ""
	_, err := c.post(ctx, c.http, "/api/chat", body, func(v qaoa.Value) *model.Error {
		text := transport.Get(v, "_debug_info", "rendered_template")
		if text.Kind != qaoa.String {
			return &model.Error{Class: model.ClassRequest, Msg: fmt.Sprintf("ollama/%s: %s does not tell how it renders a prompt; take Ollama 0.12 or newer", c.cfg.Model, c.base)}
		}
		prompt = text.Text
		return nil
	})
	return prompt, err
}
