package chat

import (
	"slices"
	"strings"

	"assay/qaoa"
)

// The marks of ChatML.
const (
	imStart = "<|im_start|>"
	imEnd   = "<|im_end|>"
)

// The marks of thoughts.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// The frame around the tools of Qwen2.5 and Qwen3.
const (
	qwenToolsHead = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>"
	qwenToolsTail = "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n"
)

// qwenSystem is the system message of Qwen2.5 where there is none.
const qwenSystem = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."

// chatML writes <|im_start|>role, the content, <|im_end|>: the bare layout, which
// has no place for tools, calls or thoughts.
func chatML(w *writer, c Conversation, opt Options) error {
	if len(c.Tools) > 0 {
		w.note("chatml has no place for tools: they are left out")
	}
	for i, m := range c.Messages {
		w.text(imStart + string(m.Role) + "\n")
		if len(m.Calls) > 0 {
			w.note("chatml has no place for calls: they are left out")
		}
		if m.Reasoning != "" {
			w.note("chatml has no place for reasoning: it is left out")
		}
		if m.Role == Assistant {
			turn := w.turn(i)
			w.content(i, m.Content)
			w.text(imEnd)
			turn.end()
			w.text("\n")
			continue
		}
		w.field(fieldOf(m.Role), i, 0, m.Content)
		w.text(imEnd + "\n")
	}
	if opt.AddGenerationPrompt {
		w.text(imStart + "assistant\n")
	}
	return nil
}

// fieldOf returns the field of the content of a message.
func fieldOf(r Role) Field {
	switch r {
	case System:
		return FieldSystem
	case User:
		return FieldQuery
	case Tool:
		return FieldObservation
	}
	return FieldContent
}

// qwenHead writes the system message with the tools of Qwen. It returns how many
// messages it took.
func qwenHead(w *writer, c Conversation, without string) (int, error) {
	hasSystem := len(c.Messages) > 0 && c.Messages[0].Role == System
	taken := 0
	if hasSystem {
		taken = 1
	}
	if !hasSystem && without == "" && len(c.Tools) == 0 {
		return 0, nil
	}
	w.text(imStart + "system\n")
	if hasSystem {
		w.field(FieldSystem, 0, 0, c.Messages[0].Content)
	} else {
		w.text(without)
	}
	if len(c.Tools) == 0 {
		w.text(imEnd + "\n")
		return taken, nil
	}
	if hasSystem || without != "" {
		w.text("\n\n")
	}
	w.text(qwenToolsHead)
	for i, t := range c.Tools {
		w.text("\n")
		if err := w.tool(i, t, ""); err != nil {
			return 0, err
		}
	}
	w.text(qwenToolsTail)
	return taken, nil
}

// hermesCalls writes <tool_call> blocks; lead asks for a line break before the
// first. With texts, arguments that are a JSON string are written as what it
// holds, as Qwen3 does.
func hermesCalls(w *writer, i int, m Message, lead, texts bool) error {
	for k, call := range m.Calls {
		if k > 0 || lead {
			w.text("\n")
		}
		w.text("<tool_call>\n{\"name\": \"")
		w.field(FieldCallName, i, k, call.Name)
		w.text("\", \"arguments\": ")
		if texts && call.Arguments.Kind() == qaoa.String {
			w.field(FieldArguments, i, k, call.Arguments.Text())
		} else if err := w.arguments(i, k, call); err != nil {
			return err
		}
		w.text("}\n</tool_call>")
	}
	return nil
}

// hermesReply writes the reply of a tool; replies that follow each other share
// one message of the given role.
func hermesReply(w *writer, c Conversation, i int, role string) {
	if i == 0 || c.Messages[i-1].Role != Tool {
		w.text(imStart + role)
	}
	w.text("\n<tool_response>\n")
	w.field(FieldObservation, i, 0, c.Messages[i].Content)
	w.text("\n</tool_response>")
	if i == len(c.Messages)-1 || c.Messages[i+1].Role != Tool {
		w.text(imEnd + "\n")
	}
}

// hermesMessages writes the messages from the given one on: replies of tools by
// hermesReply, those of the assistant by turn between its marks, and the others
// plainly.
func hermesMessages(w *writer, c Conversation, from int, replies string, turn func(i int, m Message) error) error {
	for i, m := range c.Messages {
		switch {
		case i < from:
		case m.Role == Tool:
			hermesReply(w, c, i, replies)
		case m.Role != Assistant:
			w.text(imStart + string(m.Role) + "\n")
			w.field(fieldOf(m.Role), i, 0, m.Content)
			w.text(imEnd + "\n")
		default:
			w.text(imStart + "assistant\n")
			t := w.turn(i)
			if err := turn(i, m); err != nil {
				return err
			}
			w.text(imEnd)
			t.end()
			w.text("\n")
		}
	}
	return nil
}

// qwen25 is the layout of Qwen2.5.
func qwen25(w *writer, c Conversation, opt Options) error {
	from, err := qwenHead(w, c, qwenSystem)
	if err != nil {
		return err
	}
	err = hermesMessages(w, c, from, "user", func(i int, m Message) error {
		if m.Reasoning != "" {
			w.note("qwen2.5 has no place for reasoning: it is left out")
		}
		w.content(i, m.Content)
		return hermesCalls(w, i, m, m.Content != "", false)
	})
	if err == nil && opt.AddGenerationPrompt {
		w.text(imStart + "assistant\n")
	}
	return err
}

// lastQuery returns the place of the last user message that is no reply of a
// tool; the last message if there is none.
func lastQuery(messages []Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == User && (!strings.HasPrefix(m.Content, "<tool_response>") || !strings.HasSuffix(m.Content, "</tool_response>")) {
			return i
		}
	}
	return len(messages) - 1
}

// splitThoughts returns the thoughts and the content of a message whose content
// may hold both.
func splitThoughts(m Message) (reasoning, content string) {
	start, end, rest, ok := thoughts(m.Content)
	if m.Reasoning != "" || !ok {
		return m.Reasoning, m.Content
	}
	return strings.Trim(m.Content[start:end], "\n"), strings.TrimLeft(m.Content[rest:], "\n")
}

// qwen3 is the layout of Qwen3: as Qwen2.5 without a system message of its own,
// and with thoughts, which it only keeps after the last query.
func qwen3(w *writer, c Conversation, opt Options) error {
	from, err := qwenHead(w, c, "")
	if err != nil {
		return err
	}
	last := lastQuery(c.Messages)
	err = hermesMessages(w, c, from, "user", func(i int, m Message) error {
		return qwen3Turn(w, i, m, i > last, i == len(c.Messages)-1)
	})
	if err != nil || !opt.AddGenerationPrompt {
		return err
	}
	w.text(imStart + "assistant\n")
	if opt.EnableThinking != nil && !*opt.EnableThinking {
		w.text(thinkOpen + "\n\n" + thinkClose + "\n\n")
	}
	return nil
}

func qwen3Turn(w *writer, i int, m Message, current, last bool) error {
	reasoning, content := splitThoughts(m)
	if current && (last || reasoning != "") {
		w.text(thinkOpen + "\n")
		w.field(FieldReasoning, i, 0, strings.Trim(reasoning, "\n"))
		w.text("\n" + thinkClose + "\n\n")
		w.content(i, strings.TrimLeft(content, "\n"))
	} else {
		if reasoning != "" {
			w.note("qwen3 drops the reasoning of turns before the last query")
		}
		w.content(i, content)
	}
	return hermesCalls(w, i, m, content != "", true)
}

// hermes is ChatML with tools and calls as the Hermes models have them, in words
// of our own. Replies of tools have a role of their own.
func hermes(w *writer, c Conversation, opt Options) error {
	from := 0
	if len(c.Tools) > 0 {
		w.text(imStart + "system\nYou can call functions. Their signatures are within <tools></tools> tags, one a line:\n<tools>")
		for i, t := range c.Tools {
			w.text("\n")
			if err := w.tool(i, t, ""); err != nil {
				return err
			}
		}
		w.text("\n</tools>\nFor each call write a JSON object with the name of the function and its arguments within <tool_call></tool_call> tags:\n<tool_call>\n{\"name\": <name>, \"arguments\": <arguments>}\n</tool_call>")
		if len(c.Messages) > 0 && c.Messages[0].Role == System {
			w.text("\n\n")
			w.field(FieldSystem, 0, 0, c.Messages[0].Content)
			from = 1
		}
		w.text(imEnd + "\n")
	}
	err := hermesMessages(w, c, from, "tool", func(i int, m Message) error {
		if m.Reasoning != "" {
			w.text(thinkOpen + "\n")
			w.field(FieldReasoning, i, 0, m.Reasoning)
			w.text("\n" + thinkClose + "\n")
		}
		w.content(i, m.Content)
		return hermesCalls(w, i, m, m.Content != "", false)
	})
	if err == nil && opt.AddGenerationPrompt {
		w.text(imStart + "assistant\n")
	}
	return err
}
