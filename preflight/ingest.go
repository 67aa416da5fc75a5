package preflight

import (
	"fmt"
	"slices"
	"strings"

	"assay/chat"
	"assay/qaoa"
)

func sprintf(format string, args ...any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// An ingested is a row as the trainer takes it in.
type ingested struct {
	conv chat.Conversation
	// silent are messages of the assistant that the row takes out of the loss.
	silent []int
}

// ingest applies the rules of the trainer to the fields of a row.
func ingest(row *Row, v qaoa.Value, t Trainer, c Columns) ingested {
	var in ingested
	if v.Kind != qaoa.Object {
		row.add(NotJSON, "", "want an object, have a JSON %s", v.Kind)
		return in
	}
	switch {
	case t == LlamaFactory && c.Formatting == "alpaca":
		row.add(NoMessages, "", "dataset_info.json says formatting alpaca (or nothing), which has no tool calls: want sharegpt")
	case t == LlamaFactory && c.Formatting != "sharegpt":
		row.add(NoMessages, "", "dataset_info.json says formatting %.40q: only sharegpt is simulated", c.Formatting)
	case t == LlamaFactory:
		in.shareGPT(row, v, c)
	default:
		in.messages(row, v, t)
	}
	return in
}

// path returns a JSON Pointer.
func path(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "/%v", p)
	}
	return b.String()
}

// shareGPT reads a row as SharegptDatasetConverter of LLaMA-Factory does, and
// tools and calls as its formatters do.
func (in *ingested) shareGPT(row *Row, v qaoa.Value, c Columns) {
	list, ok := v.Get(c.Messages)
	if !ok || list.Kind != qaoa.Array || len(list.Items) == 0 {
		row.add(NoMessages, path(c.Messages), "want an array of messages")
		return
	}
	items := list.Items
	system := ""
	if c.System != "" {
		s, _ := v.Get(c.System)
		system = s.Text
		if s.Kind == qaoa.Null {
			system = ""
		}
	}
	shift := 0
	if role, _ := items[0].Get(c.Role); role.Kind == qaoa.String && role.Text == c.SystemTag {
		text, _ := items[0].Get(c.Content)
		system, items, shift = text.Text, items[1:], 1
	}
	if system != "" {
		in.conv.Messages = append(in.conv.Messages, chat.Message{Role: chat.System, Content: system})
	}
	for i, m := range items {
		if !in.shareMessage(row, m, c, i, path(c.Messages, i+shift)) {
			return
		}
	}
	if len(items)%2 != 0 || len(items) == 0 {
		row.add(OddCount, path(c.Messages), "want an even number of messages, have %d", len(items))
	}
	if c.Tools == "" {
		return
	}
	tools, ok := v.Get(c.Tools)
	switch {
	case !ok || tools.Kind == qaoa.Null || tools.Kind == qaoa.String && tools.Text == "":
	case tools.Kind == qaoa.String:
		in.toolsText(row, tools.Text, path(c.Tools))
	case tools.Kind == qaoa.Array:
		row.add(ToolsList, path(c.Tools), "want the JSON text of an array, have an array")
		in.tools(row, tools, path(c.Tools), false)
	default:
		row.add(BadTools, path(c.Tools), "want the JSON text of an array, have a JSON %s", tools.Kind)
	}
}

// shareMessage reads message i (the system message not counted) and reports
// whether the trainer reads on.
func (in *ingested) shareMessage(row *Row, m qaoa.Value, c Columns, i int, at string) bool {
	role, _ := m.Get(c.Role)
	accept := []string{c.User, c.Observation}
	place := "odd"
	if i%2 == 1 {
		accept, place = []string{c.Assistant, c.Function}, "even"
	}
	if role.Kind != qaoa.String || !slices.Contains(accept, role.Text) {
		row.add(OrderLaw, at, "want %s or %s at an %s place, have %.40q", accept[0], accept[1], place, role.Text)
		return false
	}
	content, _ := m.Get(c.Content)
	if content.Kind != qaoa.String {
		row.add(BadContent, at+path(c.Content), "want a text, have a JSON %s", content.Kind)
		return false
	}
	msg := chat.Message{Role: chat.User, Content: content.Text}
	switch role.Text {
	case c.Observation:
		msg.Role = chat.Tool
	case c.Assistant:
		msg.Role = chat.Assistant
	case c.Function:
		msg = chat.Message{Role: chat.Assistant}
		in.functionCall(row, &msg, content.Text, at+path(c.Content))
	}
	in.conv.Messages = append(in.conv.Messages, msg)
	return true
}

// functionCall reads the value of a function_call: one call or an array.
func (in *ingested) functionCall(row *Row, msg *chat.Message, text, at string) {
	v, err := qaoa.ParseValue(text)
	if err != nil {
		row.add(BadCall, at, "want the JSON text of a call, have %.60q", text)
		return
	}
	calls := []qaoa.Value{v}
	if v.Kind == qaoa.Array {
		calls = v.Items
	}
	for k, call := range calls {
		name, _ := call.Get("name")
		args, ok := call.Get("arguments")
		if name.Kind != qaoa.String || !ok {
			row.add(BadCall, at, "call %d: want a name and arguments, have %.60q", k, call.JSON())
			return
		}
		if args.Kind == qaoa.String {
			row.add(DoubleEncoded, at, "call %d: arguments are the text %.60q, which is serialised once more", k, args.Text)
		}
		msg.Calls = append(msg.Calls, qaoa.Call{Name: name.Text, Arguments: args.JSON()})
	}
}

// messages reads a row with messages in OpenAI's form, or in that of ms-swift.
func (in *ingested) messages(row *Row, v qaoa.Value, t Trainer) {
	column := "messages"
	list, ok := v.Get(column)
	if !ok && t != Axolotl {
		// TRL and ms-swift know the names of ShareGPT too.
		column = "conversations"
		list, ok = v.Get(column)
	}
	if !ok || list.Kind != qaoa.Array || len(list.Items) == 0 {
		row.add(NoMessages, "/messages", "want an array of messages")
		return
	}
	for i, m := range list.Items {
		if !in.message(row, m, t, path(column, i)) {
			return
		}
	}
	tools, ok := v.Get("tools")
	switch {
	case !ok || tools.Kind == qaoa.Null || tools.Kind == qaoa.String && tools.Text == "":
	case tools.Kind == qaoa.String:
		if t == Axolotl {
			row.add(ToolsText, "/tools", "want a list as documented, have a text")
		}
		in.toolsText(row, tools.Text, "/tools")
	default:
		in.tools(row, tools, "/tools", t == Axolotl)
	}
}

// roles are the names of roles by trainer; what is not here has no meaning.
var roles = map[string]chat.Role{
	"system": chat.System, "user": chat.User, "human": chat.User, "assistant": chat.Assistant, "gpt": chat.Assistant,
	"tool": chat.Tool, "tool_call": chat.Assistant, "tool_response": chat.Tool,
}

func knows(t Trainer, role string) bool {
	switch role {
	case "system", "user", "assistant", "tool":
		return true
	case "human", "gpt":
		return t != Axolotl
	case "tool_call", "tool_response":
		return t == MSSwift
	}
	return false
}

func either(v qaoa.Value, a, b string) qaoa.Value {
	x, ok := v.Get(a)
	if !ok {
		x, _ = v.Get(b)
	}
	return x
}

// message reads one message and reports whether the trainer reads on.
func (in *ingested) message(row *Row, m qaoa.Value, t Trainer, at string) bool {
	role := either(m, "role", "from")
	if role.Kind != qaoa.String || !knows(t, role.Text) {
		row.add(UnknownRole, at+"/role", "want a role of %s, have %.40q", t, role.Text)
		return false
	}
	content := either(m, "content", "value")
	text, ok := plainText(content)
	if !ok {
		row.add(BadContent, at+"/content", "want a text, have a JSON %s", content.Kind)
		return false
	}
	msg := chat.Message{Role: roles[role.Text], Content: text}
	if id, _ := m.Get("tool_call_id"); id.Kind == qaoa.String {
		msg.CallID = id.Text
	}
	if name, _ := m.Get("name"); name.Kind == qaoa.String && msg.Role == chat.Tool {
		msg.Name = name.Text
	}
	if thought, _ := m.Get("reasoning_content"); thought.Kind == qaoa.String {
		msg.Reasoning = thought.Text
	}
	if role.Text == "tool_call" {
		msg.Content = ""
		in.functionCallSwift(row, &msg, text, at+"/content")
	}
	if calls, _ := m.Get("tool_calls"); calls.Kind == qaoa.Array {
		in.toolCalls(row, &msg, calls.Items, t, at+"/tool_calls")
	}
	in.lossFlag(row, m, t, role.Text, at)
	if t == MSSwift && in.joins(role.Text, msg) {
		return true
	}
	in.conv.Messages = append(in.conv.Messages, msg)
	return true
}

// lossFlag reads the flag of ms-swift that takes a message out of the loss.
func (in *ingested) lossFlag(row *Row, m qaoa.Value, t Trainer, role, at string) {
	flag, _ := m.Get("loss")
	if t != MSSwift || flag.Kind != qaoa.Bool || flag.Text != "false" {
		return
	}
	if role == "tool_call" {
		row.add(LossFlagIgnored, at+"/loss", "want a message to train on, have loss: false")
		return
	}
	in.silent = append(in.silent, len(in.conv.Messages))
}

// joins adds the calls of msg to those of the message before: ms-swift writes
// tool_call messages that follow each other, and a text before them, as one.
func (in *ingested) joins(role string, msg chat.Message) bool {
	n := len(in.conv.Messages)
	if role != "tool_call" || n == 0 || in.conv.Messages[n-1].Role != chat.Assistant {
		return false
	}
	last := &in.conv.Messages[n-1]
	last.Calls = append(last.Calls, msg.Calls...)
	return true
}

// functionCallSwift reads the content of a tool_call message. Arguments that
// are a text are read as JSON.
func (in *ingested) functionCallSwift(row *Row, msg *chat.Message, text, at string) {
	in.functionCall(row, msg, text, at)
	for i, call := range msg.Calls {
		if args, ok := objectIn(call.Arguments); ok {
			msg.Calls[i].Arguments = args
			row.Findings = slices.DeleteFunc(row.Findings, func(f Finding) bool { return f.Code == DoubleEncoded && f.Path == at })
		}
	}
}

// objectIn returns the object in a JSON string that holds one.
func objectIn(j qaoa.JSON) (qaoa.JSON, bool) {
	if j.Kind() != qaoa.String {
		return "", false
	}
	v, err := qaoa.ParseValue(j.Text())
	return v.JSON(), err == nil && v.Kind == qaoa.Object
}

// toolCalls reads the calls of a message.
func (in *ingested) toolCalls(row *Row, msg *chat.Message, calls []qaoa.Value, t Trainer, at string) {
	for k, c := range calls {
		f, ok := c.Get("function")
		if !ok {
			f = c
		}
		name, _ := f.Get("name")
		args, okArgs := f.Get("arguments")
		if name.Kind != qaoa.String || !okArgs {
			row.add(BadCall, at+path(k), "want a function with a name and arguments, have %.60q", c.JSON())
			return
		}
		call := qaoa.Call{Name: name.Text, Arguments: args.JSON()}
		if t != TRL {
			if object, ok := objectIn(call.Arguments); ok {
				call.Arguments = object
			}
		}
		msg.Calls = append(msg.Calls, call)
	}
}

// plainText returns the text of a content: a string, null, or parts of type
// text.
func plainText(v qaoa.Value) (string, bool) {
	switch v.Kind {
	case qaoa.String:
		return v.Text, true
	case qaoa.Null, qaoa.Invalid:
		return "", true
	case qaoa.Array:
		var b strings.Builder
		for _, part := range v.Items {
			text, ok := part.Get("text")
			if !ok || text.Kind != qaoa.String {
				return "", false
			}
			b.WriteString(text.Text)
		}
		return b.String(), true
	}
	return "", false
}

// toolsText reads tools from a text.
func (in *ingested) toolsText(row *Row, text, at string) {
	v, err := qaoa.ParseValue(text)
	if err != nil {
		row.add(BadTools, at, "want the JSON text of an array, have %.60q", text)
		return
	}
	in.tools(row, v, at, false)
}

// tools reads a list of tools, in their wrappers or without; texts tells that
// parameters may be a text.
func (in *ingested) tools(row *Row, v qaoa.Value, at string, texts bool) {
	if v.Kind != qaoa.Array {
		row.add(BadTools, at, "want an array, have a JSON %s", v.Kind)
		return
	}
	for i, item := range v.Items {
		f, ok := item.Get("function")
		if !ok {
			f = item
		}
		name, _ := f.Get("name")
		if name.Kind != qaoa.String {
			row.add(BadTools, at+path(i), "want a name, have %.60q", item.JSON())
			return
		}
		description, _ := f.Get("description")
		tool := qaoa.Tool{Name: name.Text, Description: description.Text}
		if description.Kind == qaoa.Null {
			tool.Description = ""
		}
		if params, ok := f.Get("parameters"); ok && params.Kind != qaoa.Null {
			tool.Parameters = params.JSON()
			if object, ok := objectIn(tool.Parameters); ok && texts {
				tool.Parameters = object
			}
		}
		in.conv.Tools = append(in.conv.Tools, tool)
	}
}
