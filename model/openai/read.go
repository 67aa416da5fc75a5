package openai

import (
	"fmt"
	"strconv"
	"strings"

	"assay/model"
	"assay/model/transport"
	"assay/qaoa"
)

// badReply is the failure of an answer that is not the protocol.
func badReply(name, path, want string, have qaoa.Value) *model.Error {
	what := have.Kind.String()
	if have.Kind == qaoa.String {
		what += fmt.Sprintf(" %.40q", have.Text)
	}
	return &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("openai/%s: answer: %s: want %s, have %s; is the base URL that of chat completions?", name, path, want, what)}
}

// tree returns the answer as JSON, or the failure that it is.
func (c *Client) tree(ans transport.Answer) (qaoa.Value, *model.Error) {
	v, err := qaoa.ParseValue(ans.Body)
	if fail := c.http.Status(ans, errorText(v)); fail != nil {
		return v, fail
	}
	if err != nil {
		return v, &model.Error{Class: model.ClassBadReply, Msg: fmt.Sprintf("openai/%s: answer: %v, have %s; is the base URL that of an API?", c.model, err, transport.Excerpt(ans.Body))}
	}
	if v.Kind != qaoa.Object {
		return v, badReply(c.model, "/", "an object", v)
	}
	// Some gateways send errors with status 200.
	if e := transport.Get(v, "error"); e.Kind == qaoa.Object || e.Kind == qaoa.String {
		status := transport.Int(e, 500, "code")
		if status < 300 || status > 599 {
			status = 500
		}
		return v, c.http.Refusal(status, errorText(v))
	}
	return v, nil
}

// errorText returns what an error object says, "" if v holds none: message,
// type and code, where limits of length or quota are told.
func errorText(v qaoa.Value) string {
	e := transport.Get(v, "error")
	switch e.Kind {
	case qaoa.String:
		return e.Text
	case qaoa.Object:
		text := transport.Text(e, "message")
		for _, key := range []string{"type", "code", "param"} {
			if s := transport.Text(e, key); s != "" && !strings.Contains(text, s) {
				text += " (" + key + " " + s + ")"
			}
		}
		return text
	}
	// FastAPI, which many servers are made with.
	if d := transport.Get(v, "detail"); d.Kind != qaoa.Invalid {
		return d.JSON().Text()
	}
	return transport.Text(v, "message")
}

// read returns the reply in an answer, or the failure and what the server said.
func (c *Client) read(ans transport.Answer) (model.Reply, string, *model.Error) {
	v, fail := c.tree(ans)
	if fail != nil {
		text := errorText(v)
		if text == "" {
			text = string(ans.Body)
		}
		return model.Reply{}, text, fail
	}
	choices := transport.Get(v, "choices")
	if choices.Kind != qaoa.Array || len(choices.Items) == 0 {
		return model.Reply{}, "", badReply(c.model, "/choices", "a list of at least one choice", choices)
	}
	msg := transport.Get(choices.Items[0], "message")
	if msg.Kind != qaoa.Object {
		return model.Reply{}, "", badReply(c.model, "/choices/0/message", "an object", msg)
	}
	reply := model.Reply{
		Text:      content(transport.Get(msg, "content")),
		Reasoning: content(transport.Get(msg, "reasoning_content")),
		Finish:    transport.Text(choices.Items[0], "finish_reason"),
		Usage: model.Usage{
			Prompt:     transport.Int(v, -1, "usage", "prompt_tokens"),
			Completion: transport.Int(v, -1, "usage", "completion_tokens"),
		},
	}
	if reply.Reasoning == "" {
		reply.Reasoning = content(transport.Get(msg, "reasoning"))
	}
	if reply.Text == "" {
		reply.Text = transport.Text(msg, "refusal")
	}
	calls := transport.Get(msg, "tool_calls")
	if calls.Kind != qaoa.Array && calls.Kind != qaoa.Null && calls.Kind != qaoa.Invalid {
		return model.Reply{}, "", badReply(c.model, "/choices/0/message/tool_calls", "a list", calls)
	}
	for i, call := range calls.Items {
		f := transport.Get(call, "function")
		if f.Kind != qaoa.Object {
			return model.Reply{}, "", badReply(c.model, "/choices/0/message/tool_calls/"+strconv.Itoa(i)+"/function", "an object", f)
		}
		reply.Calls = append(reply.Calls, model.NativeCall(transport.Text(f, "name"), transport.Get(f, "arguments")))
	}
	return reply, "", nil
}

// content returns the text of a message: a string, or a list of parts of which
// the text parts count. Other kinds are no text.
func content(v qaoa.Value) string {
	if v.Kind == qaoa.String {
		return v.Text
	}
	var b strings.Builder
	for _, part := range v.Items {
		b.WriteString(transport.Text(part, "text"))
	}
	return b.String()
}
