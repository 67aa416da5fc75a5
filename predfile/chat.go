package predfile

import (
	"fmt"
	"strings"

	"assay/qaoa"
	"assay/toolcall"
)

// none is the path of a completion that is not there.
const none = "none"

// completionOf returns the object that holds the choices of a chat completion,
// or the output of OpenAI's Responses interface, in v or in one of the members
// that logs keep it in. The path is none if there is none.
func completionOf(v qaoa.Value, path string) (qaoa.Value, string) {
	if choices, ok := v.Get("choices"); ok && choices.Kind == qaoa.Array {
		return v, path
	}
	if output, ok := v.Get("output"); ok && output.Kind == qaoa.Array && isItems(output) {
		return v, path
	}
	for _, name := range []string{"response", "completion", "body"} {
		if m, ok := v.Get(name); ok && m.Kind == qaoa.Object {
			if found, at := completionOf(m, path+"/"+name); at != none {
				return found, at
			}
		}
	}
	return qaoa.Value{}, none
}

// isItems reports whether v is the output of the Responses interface.
func isItems(v qaoa.Value) bool {
	for _, item := range v.Items {
		if kind, ok := item.Get("type"); ok && kind.Kind == qaoa.String {
			return true
		}
	}
	return false
}

// fault returns the message and the path of an error that v records.
func fault(v qaoa.Value, path string) (msg, at string, ok bool) {
	if e, ok := v.Get("error"); ok && !isBlank(e) {
		if m, ok := e.Get("message"); ok && m.Kind == qaoa.String && m.Text != "" {
			return m.Text, path + "/error/message", true
		}
		return e.JSON().Text(), path + "/error", true
	}
	if code, ok := v.Get("status_code"); ok && code.Kind == qaoa.Number && len(code.Text) == 3 && code.Text >= "400" {
		return "the server answered with status " + code.Text, path + "/status_code", true
	}
	return "", "", false
}

// isBlank reports whether v says that there is nothing to say.
func isBlank(v qaoa.Value) bool {
	switch v.Kind {
	case qaoa.Invalid, qaoa.Null:
		return true
	case qaoa.Bool:
		return v.Text == "false"
	case qaoa.String:
		return strings.TrimSpace(v.Text) == ""
	case qaoa.Array, qaoa.Object:
		return len(v.Items)+len(v.Members) == 0
	}
	return false
}

// batch reads a line of an output file of OpenAI's batch interface.
func (d *decoder) batch(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "custom_id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	if msg, at, ok := fault(v, ""); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	response, _ := v.Get("response")
	if response.Kind != qaoa.Object {
		return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/response", Msg: fmt.Sprintf("want an object with a body, have %s", response.Kind)})
	}
	body, _ := response.Get("body")
	if msg, at, ok := fault(body, "/response/body"); ok { // says more than the status
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	if msg, at, ok := fault(response, "/response"); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	return d.completion(pos, who, response, "/response")
}

// chat reads a logged chat completion or conversation.
func (d *decoder) chat(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "custom_id", "record_id", "sample_id", "metadata.id", "id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	if msg, at, ok := fault(v, ""); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	if _, at := completionOf(v, ""); at != none {
		return d.completion(pos, who, v, "")
	}
	for _, name := range []string{"response", "completion", "output"} {
		if m, ok := v.Get(name); ok && m.Kind == qaoa.String {
			return d.emit(pos, who.prediction(textTurn(m.Text, d.tools(who.id))), nil)
		}
	}
	messages, _ := v.Get("messages")
	if messages.Kind != qaoa.Array {
		return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/choices", Msg: `want "choices", or "messages" with those of an assistant, have neither`})
	}
	turns, answered, err := foldMessages(messages.Items, "/messages", d.tools(who.id))
	if err == nil && !answered {
		err = &qaoa.Error{Path: "/messages", Msg: "want at least one message of an assistant, have none"}
	}
	return d.emit(pos, who.prediction(turns...), err)
}

// completion yields the choices of the completion in v, each as a repeat.
func (d *decoder) completion(pos qaoa.Pos, who identity, v qaoa.Value, path string) bool {
	body, at := completionOf(v, path)
	if at == none {
		return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: path + "/body/choices", Msg: "want the choices of a chat completion, have none"})
	}
	if msg, at, ok := fault(body, at); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	opt := d.tools(who.id)
	choices, ok := body.Get("choices")
	if !ok {
		output, _ := body.Get("output")
		return d.emit(pos, who.prediction(itemsTurn(output.Items, opt)), nil)
	}
	if len(choices.Items) == 0 {
		return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: at + "/choices", Msg: "want at least one choice, have none"})
	}
	for i, choice := range choices.Items {
		p := who
		p.repeat += i
		var turn qaoa.Turn
		var err error
		message, ok := choice.Get("message")
		text, isText := choice.Get("text") // of a completion that is no chat
		switch {
		case ok && message.Kind == qaoa.Object:
			turn = messageTurn(message, opt)
		case isText && text.Kind == qaoa.String:
			turn = textTurn(text.Text, opt)
		default:
			err = &qaoa.Error{Path: fmt.Sprintf("%s/choices/%d/message", at, i), Msg: "want an object, have " + message.Kind.String()}
		}
		if !d.emit(pos, p.prediction(turn), err) {
			return false
		}
	}
	return true
}

// itemsTurn returns the turn that the items of a Responses output are.
func itemsTurn(items []qaoa.Value, opt toolcall.Options) qaoa.Turn {
	var calls []qaoa.Call
	var texts []string
	for _, item := range items {
		switch kind, _ := item.Get("type"); kind.Text {
		case "function_call":
			calls = append(calls, callOf(item))
		case "message":
			content, _ := item.Get("content")
			texts = append(texts, contentText(content))
		}
	}
	text := strings.Join(texts, "\n")
	if len(calls) == 0 {
		return textTurn(text, opt)
	}
	return turnOf(calls, text)
}

// messageTurn returns the turn that one message of an assistant is.
func messageTurn(m qaoa.Value, opt toolcall.Options) qaoa.Turn {
	calls, text := messageCalls(m)
	if len(calls) == 0 {
		return textTurn(text, opt)
	}
	return turnOf(calls, text)
}

// messageCalls returns the calls that a message has as such, and its text.
func messageCalls(m qaoa.Value) ([]qaoa.Call, string) {
	content, _ := m.Get("content")
	list, _ := m.Get("tool_calls")
	calls := callsOf(list, toolcall.Options{})
	if f, ok := m.Get("function_call"); ok && f.Kind == qaoa.Object { // before tool_calls there was one
		calls = append(calls, callOf(f))
	}
	for _, part := range content.Items {
		if kind, _ := part.Get("type"); kind.Text == "tool_use" {
			calls = append(calls, callOf(part))
		}
	}
	return calls, contentText(content)
}

// contentText returns the text of the content of a message, without what it
// says in parts of other types, such as reasoning.
func contentText(content qaoa.Value) string {
	if content.Kind == qaoa.String {
		return content.Text
	}
	var texts []string
	for _, part := range content.Items {
		if part.Kind == qaoa.String {
			texts = append(texts, part.Text)
			continue
		}
		kind, _ := part.Get("type")
		text, _ := part.Get("text")
		if text.Kind == qaoa.String && (kind.Text == "text" || kind.Text == "output_text" || kind.Kind == qaoa.Invalid) {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// foldMessages makes turns of the messages of a conversation: a run of user
// messages begins one, each assistant message with calls is a step, and the
// last text without a call is the answer. Answered tells whether an assistant
// said anything. Messages up to the last one of an assistant that is marked as
// part of the prompt are left out.
func foldMessages(messages []qaoa.Value, path string, opt toolcall.Options) (turns []qaoa.Turn, answered bool, err error) {
	start := 0
	for i, m := range messages {
		source, _ := m.Get("source")
		if source.Text == "input" && roleOf(m) == "assistant" {
			start = i + 1
		}
	}
	fresh := false // the last turn has no message of an assistant yet
	for i, m := range messages[start:] {
		at := fmt.Sprintf("%s/%d", path, start+i)
		if m.Kind != qaoa.Object {
			return nil, false, &qaoa.Error{Path: at, Msg: fmt.Sprintf("want a message with a role, have %s", m.Kind)}
		}
		switch role := roleOf(m); role {
		case "user", "human":
			if !fresh {
				turns = append(turns, qaoa.Turn{})
			}
			fresh = true
		case "assistant", "model", "gpt":
			if len(turns) == 0 {
				turns = append(turns, qaoa.Turn{})
			}
			fresh, answered = false, true
			t := &turns[len(turns)-1]
			got := messageTurn(m, opt)
			t.Steps = append(t.Steps, got.Steps...)
			if got.Answer != "" && len(got.Steps) == 0 {
				t.Answer = got.Answer
			}
		case "system", "developer", "tool", "function", "observation":
		default:
			return nil, false, &qaoa.Error{Path: at + "/role", Msg: fmt.Sprintf("want user, assistant, tool or system, have %.40q", role)}
		}
	}
	return turns, answered, nil
}

// roleOf returns the role of a message.
func roleOf(m qaoa.Value) string {
	role, _ := m.Get("role")
	return role.Text
}
