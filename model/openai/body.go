package openai

import (
	"fmt"
	"strconv"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// fields says which members the server is believed to know.
type fields struct {
	maxTokens   bool // else max_completion_tokens
	thinking    bool
	temperature bool
	topP        bool
	seed        bool
	parallel    bool // parallel_tool_calls
}

// body returns the request body. The order of its members never changes.
func (c *Client) body(req model.Request, f fields) []byte {
	const frame = 320
	size := frame + len(c.model) + len(c.extra) + transport.ToolsSize(req.Tools)
	for _, m := range req.Messages {
		size += frame/4 + len(m.Content) + len(m.Content)/8
	}
	b := append(make([]byte, 0, size), `{"model":`...)
	b = qaoa.AppendQuote(b, c.model)
	b = append(b, `,"messages":`...)
	b = appendMessages(b, req.Messages)
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":`...)
		b = c.tools.Append(b, req.Tools)
		if req.ToolChoice != "" {
			b = append(b, `,"tool_choice":`...)
			b = qaoa.AppendQuote(b, req.ToolChoice)
		}
		if req.ParallelCalls != "" && f.parallel {
			b = append(b, `,"parallel_tool_calls":`...)
			b = strconv.AppendBool(b, req.ParallelCalls == "on")
		}
	}
	s := req.Sampling
	if f.temperature {
		b = append(b, `,"temperature":`...)
		b = transport.AppendFloat(b, s.Temperature)
	}
	if s.TopP > 0 && f.topP {
		b = append(b, `,"top_p":`...)
		b = transport.AppendFloat(b, s.TopP)
	}
	if f.seed {
		b = append(b, `,"seed":`...)
		b = strconv.AppendInt(b, s.Seed, 10)
	}
	if s.MaxTokens > 0 {
		if f.maxTokens {
			b = append(b, `,"max_tokens":`...)
		} else {
			b = append(b, `,"max_completion_tokens":`...)
		}
		b = strconv.AppendInt(b, int64(s.MaxTokens), 10)
	}
	if f.thinking {
		b = append(b, `,"chat_template_kwargs":{"enable_thinking":`...)
		b = strconv.AppendBool(b, s.Think)
		b = append(b, '}')
	}
	b = append(b, `,"stream":false`...)
	if c.extra != "" {
		b = append(append(b, ','), c.extra...)
	}
	return append(b, '}')
}

// appendMessages writes the conversation. Calls need ids, which records do not
// have: the calls of an Assistant message take those of the ToolRole messages
// that follow it, by position, or else numbers of nine characters (the template
// of one family of models wants exactly nine).
func appendMessages(b []byte, messages []model.Message) []byte {
	b = append(b, '[')
	call := 0 // number of the next call without an id
	var pending []string
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
			pending = callIDs(messages[i+1:], len(m.Calls), call)
			call += len(m.Calls)
			b = append(b, `,"tool_calls":[`...)
			for k, c := range m.Calls {
				if k > 0 {
					b = append(b, ',')
				}
				b = appendCall(b, pending[k], c)
			}
			b = append(b, ']')
		case m.Role == model.ToolRole:
			id := m.CallID
			if len(pending) > 0 {
				id, pending = pending[0], pending[1:]
			}
			b = append(b, `,"tool_call_id":`...)
			b = qaoa.AppendQuote(b, id)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// callIDs returns the ids of n calls that are followed by the messages rest.
func callIDs(rest []model.Message, n, number int) []string {
	ids := make([]string, n)
	for k := range ids {
		if k < len(rest) && rest[k].Role == model.ToolRole && rest[k].CallID != "" {
			ids[k] = rest[k].CallID
			continue
		}
		ids[k] = fmt.Sprintf("call%05d", number+k)
	}
	return ids
}

// appendCall writes one call of the history. One that did not parse keeps what
// name it has and loses its arguments, since templates fail on arguments that
// are no JSON.
func appendCall(b []byte, id string, c qaoa.Call) []byte {
	if c.Raw != "" {
		c.Name, c.Arguments = "unparsable", ""
		if v, err := qaoa.ParseValue(c.Raw); err == nil && transport.Text(v, "name") != "" {
			c.Name = transport.Text(v, "name")
		}
	}
	if c.Arguments == "" {
		c.Arguments = "{}"
	}
	b = append(b, `{"id":`...)
	b = qaoa.AppendQuote(b, id)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = qaoa.AppendQuote(b, c.Name)
	b = append(b, `,"arguments":`...)
	b = qaoa.AppendQuote(b, string(c.Arguments))
	return append(b, '}', '}')
}
