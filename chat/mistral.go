package chat

import "fmt"

// mistral is the layout of the Mistral models with the v3 Tekken tokenizer:
// tools and the system text stand before the last user message, calls are a JSON
// array with ids, replies hold the id of their call.
//
// The templates of these models compare messages by value, so tools also stand
// before an earlier message that is equal to the last; they are trained and
// served so, and so it is here. They write descriptions between quotes without
// an escape; here tools are JSON, as in Mistral's own tokenizer.
func mistral(w *writer, c Conversation, opt Options) error {
	calls, replies := numbered(c.Messages)
	if err := alternates(c.Messages); err != nil {
		return err
	}
	from, lastUser := 0, -1
	if len(c.Messages) > 0 && c.Messages[0].Role == System {
		from = 1
	}
	for i, m := range c.Messages {
		if m.Role == User {
			lastUser = i
		}
	}
	w.text("<s>")
	for i := from; i < len(c.Messages); i++ {
		m := c.Messages[i]
		if m.Reasoning != "" {
			w.note("mistral has no place for reasoning: it is left out")
		}
		switch m.Role {
		case User:
			if err := mistralQuery(w, c, i, m.Content == c.Messages[lastUser].Content, from == 1 && i == len(c.Messages)-1); err != nil {
				return err
			}
		case Tool:
			w.text(`[TOOL_RESULTS]{"content": `)
			w.field(FieldObservation, i, 0, m.Content)
			w.text(`, "call_id": "` + replies[i] + `"}[/TOOL_RESULTS]`)
		default:
			if err := mistralTurn(w, i, m, calls[i]); err != nil {
				return err
			}
		}
	}
	if from == 1 && lastUser != len(c.Messages)-1 {
		w.note("mistral writes the system message only before a last message of the user: it is left out")
	}
	return nil
}

// alternates checks the order that the templates of Mistral insist on: without
// the system message, calls and replies, user and assistant take turns.
func alternates(messages []Message) error {
	want := User
	for i, m := range messages {
		if i == 0 && m.Role == System || m.Role == Tool || len(m.Calls) > 0 {
			continue
		}
		if m.Role != want {
			return fmt.Errorf("message %d: mistral wants a message of the %s, have one of the %s: user and assistant take turns after one system message", i, want, m.Role)
		}
		if want == User {
			want = Assistant
		} else {
			want = User
		}
	}
	return nil
}

func mistralQuery(w *writer, c Conversation, i int, tools, system bool) error {
	if tools && len(c.Tools) > 0 {
		w.text("[AVAILABLE_TOOLS][")
		for k, t := range c.Tools {
			if k > 0 {
				w.text(", ")
			}
			if err := w.tool(k, t, ""); err != nil {
				return err
			}
		}
		w.text("][/AVAILABLE_TOOLS]")
	}
	w.text("[INST]")
	if system {
		w.field(FieldSystem, 0, 0, c.Messages[0].Content)
		w.text("\n\n")
	}
	w.field(FieldQuery, i, 0, c.Messages[i].Content)
	w.text("[/INST]")
	return nil
}

func mistralTurn(w *writer, i int, m Message, ids []string) error {
	turn := w.turn(i)
	if len(m.Calls) == 0 {
		w.content(i, m.Content)
		w.text("</s>")
		turn.end()
		return nil
	}
	if trim(m.Content) != "" {
		w.note("mistral has no place for text beside calls: it is left out")
	}
	w.text("[TOOL_CALLS][")
	for k, call := range m.Calls {
		if k > 0 {
			w.text(", ")
		}
		w.text(`{"name": `)
		w.quoted(FieldCallName, i, k, call.Name)
		w.text(`, "arguments": `)
		if err := w.arguments(i, k, call); err != nil {
			return err
		}
		w.text(`, "id": "` + ids[k] + `"}`)
	}
	w.text("]</s>")
	turn.end()
	return nil
}
