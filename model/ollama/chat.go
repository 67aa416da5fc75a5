package ollama

import (
	"fmt"
	"strconv"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// body returns the request body. The order of its members never changes.
func (c *Client) body(req model.Request) []byte {
	const frame = 320
	size := frame + transport.ToolsSize(req.Tools)
	for _, m := range req.Messages {
		size += frame/4 + len(m.Content) + len(m.Content)/8
	}
	b := append(make([]byte, 0, size), `{"model":`...)
	b = qaoa.AppendQuote(b, c.cfg.Model)
	b = append(b, `,"messages":`...)
	b = appendMessages(b, req.Messages)
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":`...)
		b = c.tools.Append(b, req.Tools)
	}
	b = append(b, `,"think":`...)
	b = strconv.AppendBool(b, req.Sampling.Think)
	// truncate: do not drop the front of a prompt that is too long. shift: do
	// not drop it either while the answer grows.
	b = append(b, `,"stream":false,"truncate":false,"shift":false`...)
	b = c.appendKeepAlive(b)
	b = append(b, `,"options":`...)
	b = c.appendOptions(b, req.Sampling)
	return append(b, '}')
}

func (c *Client) appendKeepAlive(b []byte) []byte {
	if c.cfg.KeepAlive == "" {
		return b
	}
	b = append(b, `,"keep_alive":`...)
	if _, err := strconv.Atoi(c.cfg.KeepAlive); err == nil {
		return append(b, c.cfg.KeepAlive...) // seconds
	}
	return qaoa.AppendQuote(b, c.cfg.KeepAlive)
}

func (c *Client) appendOptions(b []byte, s model.Sampling) []byte {
	b = append(b, `{"temperature":`...)
	b = transport.AppendFloat(b, s.Temperature)
	b = append(b, `,"seed":`...)
	b = strconv.AppendInt(b, s.Seed, 10)
	if s.TopP > 0 {
		b = append(b, `,"top_p":`...)
		b = transport.AppendFloat(b, s.TopP)
	}
	for _, o := range []struct {
		name  string
		value int
	}{{"num_predict", s.MaxTokens}, {"num_ctx", s.NumCtx}, {"num_thread", c.cfg.NumThread}} {
		if o.value > 0 {
			b = append(append(append(b, `,"`...), o.name...), `":`...)
			b = strconv.AppendInt(b, int64(o.value), 10)
		}
	}
	return append(b, '}')
}

// appendMessages writes the conversation. The protocol knows calls by the name
// of the tool and by position, not by ids.
func appendMessages(b []byte, messages []model.Message) []byte {
	b = append(b, '[')
	var pending []qaoa.Call
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = qaoa.AppendQuote(b, string(m.Role))
		b = append(b, `,"content":`...)
		b = qaoa.AppendQuote(b, m.Content)
		switch {
		case m.Role == model.Assistant && len(m.Calls) > 0:
			pending = m.Calls
			b = append(b, `,"tool_calls":[`...)
			for k, c := range m.Calls {
				if k > 0 {
					b = append(b, ',')
				}
				b = appendCall(b, c)
			}
			b = append(b, ']')
		case m.Role == model.ToolRole && len(pending) > 0:
			b = append(b, `,"tool_name":`...)
			b = qaoa.AppendQuote(b, nameOf(pending[0]))
			pending = pending[1:]
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendCall writes one call of the history. The server takes nothing but an
// object for arguments, so others are left out.
func appendCall(b []byte, c qaoa.Call) []byte {
	args := c.Arguments
	if args.Kind() != qaoa.Object {
		args = "{}"
	}
	b = append(b, `{"function":{"name":`...)
	b = qaoa.AppendQuote(b, nameOf(c))
	b = append(b, `,"arguments":`...)
	b = append(b, args...)
	return append(b, '}', '}')
}

// nameOf returns the name of a call, also of one that did not parse.
func nameOf(c qaoa.Call) string {
	if c.Raw == "" {
		return c.Name
	}
	if v, err := qaoa.ParseValue(c.Raw); err == nil && transport.Text(v, "name") != "" {
		return transport.Text(v, "name")
	}
	return "unparsable"
}

// read returns the reply in v. With a context of numCtx tokens, 0 if the server
// chose it, a prompt that fills it was cut.
func (c *Client) read(v qaoa.Value, numCtx int) (model.Reply, *model.Error) {
	msg := transport.Get(v, "message")
	if msg.Kind != qaoa.Object {
		return model.Reply{}, c.badReply("/message", "an object", msg)
	}
	reply := model.Reply{
		Text:      transport.Text(msg, "content"),
		Reasoning: transport.Text(msg, "thinking"),
		Finish:    transport.Text(v, "done_reason"),
		Usage: model.Usage{
			Prompt:     transport.Int(v, -1, "prompt_eval_count"),
			Completion: transport.Int(v, -1, "eval_count"),
		},
	}
	if numCtx > 0 && reply.Usage.Prompt >= numCtx {
		return model.Reply{}, &model.Error{Class: model.ClassTruncated, Msg: fmt.Sprintf("ollama/%s: the prompt was cut: the server read %d tokens with a context of %d; raise --num-ctx, or ask with fewer candidates", c.cfg.Model, reply.Usage.Prompt, numCtx)}
	}
	for i, call := range transport.Get(msg, "tool_calls").Items {
		f := transport.Get(call, "function")
		if f.Kind != qaoa.Object {
			return model.Reply{}, c.badReply("/message/tool_calls/"+strconv.Itoa(i)+"/function", "an object", f)
		}
		reply.Calls = append(reply.Calls, model.NativeCall(transport.Text(f, "name"), transport.Get(f, "arguments")))
	}
	return reply, nil
}
