package modeltest

import (
	"io"
	"net/http"
	"slices"
	"strconv"

	"assay/qaoa"
)

// object returns an object of names and values in turn.
func object(pairs ...any) qaoa.Value {
	v := qaoa.ObjectValue()
	for i := 0; i < len(pairs); i += 2 {
		v.Members = append(v.Members, qaoa.Member{Name: pairs[i].(string), Value: value(pairs[i+1])})
	}
	return v
}

func value(x any) qaoa.Value {
	switch x := x.(type) {
	case string:
		return qaoa.StringValue(x)
	case int:
		return qaoa.NumberValue(strconv.Itoa(x))
	case bool:
		return qaoa.BoolValue(x)
	case qaoa.Value:
		return x
	case []qaoa.Value:
		return qaoa.ArrayValue(x...)
	}
	return qaoa.NullValue()
}

// counts returns the token counts of a reply.
func counts(req Request, rep Reply) (prompt, completion int) {
	prompt, completion = rep.Prompt, max(rep.Completion, 1)
	if prompt == 0 {
		prompt = len(req.Messages)
	}
	return prompt, completion
}

func finish(rep Reply) string {
	switch {
	case rep.Finish != "":
		return rep.Finish
	case len(rep.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func openAIBody(req Request, rep Reply) qaoa.Value {
	msg := object("role", "assistant", "content", rep.Text)
	if rep.Reasoning != "" {
		msg.Members = append(msg.Members, object("reasoning_content", rep.Reasoning).Members...)
	}
	var calls []qaoa.Value
	for i, c := range rep.Calls {
		args := string(c.Arguments)
		if c.Raw != "" {
			args = c.Raw
		}
		calls = append(calls, object("id", "call_"+strconv.Itoa(i), "type", "function", "function", object("name", c.Name, "arguments", args)))
	}
	if calls != nil {
		msg.Members = append(msg.Members, object("tool_calls", calls).Members...)
	}
	out := object("id", "chatcmpl-"+strconv.Itoa(req.N), "object", "chat.completion", "model", req.Model,
		"choices", []qaoa.Value{object("index", 0, "message", msg, "finish_reason", finish(rep))})
	if p, c := counts(req, rep); p >= 0 {
		out.Members = append(out.Members, object("usage", object("prompt_tokens", p, "completion_tokens", c, "total_tokens", p+c)).Members...)
	}
	return out
}

func openAIError(rep Reply) qaoa.Value {
	return object("error", object("message", rep.Text, "type", "server_error"))
}

func (s *Server) openAIModels(w http.ResponseWriter, _ *http.Request) {
	var list []qaoa.Value
	for _, m := range s.Models {
		list = append(list, object("id", m, "object", "model", "max_model_len", s.Context))
	}
	writeJSON(w, http.StatusOK, object("object", "list", "data", list))
}

func ollamaBody(req Request, rep Reply) qaoa.Value {
	msg := object("role", "assistant", "content", rep.Text)
	if rep.Reasoning != "" {
		msg.Members = append(msg.Members, object("thinking", rep.Reasoning).Members...)
	}
	var calls []qaoa.Value
	for _, c := range rep.Calls {
		args, err := c.Arguments.Value()
		if err != nil || args.Kind == qaoa.Invalid {
			args = qaoa.ObjectValue()
		}
		if c.Raw != "" {
			args = qaoa.StringValue(c.Raw)
		}
		calls = append(calls, object("function", object("name", c.Name, "arguments", args)))
	}
	if calls != nil {
		msg.Members = append(msg.Members, object("tool_calls", calls).Members...)
	}
	reason := finish(rep)
	if reason == "tool_calls" {
		reason = "stop" // Ollama has no such reason
	}
	out := object("model", req.Model, "message", msg, "done_reason", reason, "done", true)
	if p, c := counts(req, rep); p >= 0 {
		out.Members = append(out.Members, object("prompt_eval_count", p, "eval_count", c).Members...)
	}
	return out
}

func ollamaError(rep Reply) qaoa.Value { return object("error", rep.Text) }

func (s *Server) ollamaVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, object("version", s.Version))
}

func (s *Server) ollamaTags(w http.ResponseWriter, _ *http.Request) {
	var list []qaoa.Value
	for _, m := range s.Models {
		list = append(list, object("name", m, "model", m, "digest", s.Digest))
	}
	writeJSON(w, http.StatusOK, object("models", list))
}

func (s *Server) ollamaShow(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	body, err := qaoa.ParseValue(data)
	name, _ := body.Get("model")
	if err != nil || !slices.Contains(s.Models, name.Text) {
		writeJSON(w, http.StatusNotFound, object("error", "model '"+name.Text+"' not found"))
		return
	}
	writeJSON(w, http.StatusOK, object("capabilities", []qaoa.Value{value("completion"), value("tools")},
		"model_info", object("general.architecture", "test", "test.context_length", s.Context)))
}
