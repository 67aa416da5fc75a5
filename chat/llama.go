package chat

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// eot ends a message of Llama 3.
const eot = "<|eot_id|>"

func llamaHeader(w *writer, role string) {
	w.text("<|start_header_id|>" + role + "<|end_header_id|>\n\n")
}

// llama31 is the layout of Llama 3.1: tools in the first user message, one call
// a message and without text beside it, replies as JSON strings under the role
// ipython.
func llama31(w *writer, c Conversation, opt Options) error {
	w.text("<|begin_of_text|>")
	llamaHeader(w, "system")
	if len(c.Tools) > 0 {
		w.text("Environment: ipython\n")
	}
	w.text("Cutting Knowledge Date: December 2023\nToday Date: " + opt.Date + "\n\n")
	from := 0
	if len(c.Messages) > 0 && c.Messages[0].Role == System {
		w.field(FieldSystem, 0, 0, trim(c.Messages[0].Content))
		from = 1
	}
	w.text(eot)
	if len(c.Tools) > 0 {
		if from >= len(c.Messages) || c.Messages[from].Role != User {
			return errors.New("llama3.1 writes tools into the first message after the system's, which must be the user's")
		}
		if err := llamaTools(w, c, from); err != nil {
			return err
		}
		from++
	}
	for i := from; i < len(c.Messages); i++ {
		if err := llamaMessage(w, i, c.Messages[i]); err != nil {
			return err
		}
	}
	if opt.AddGenerationPrompt {
		llamaHeader(w, "assistant")
	}
	return nil
}

func trim(s string) string { return strings.TrimFunc(s, unicode.IsSpace) }

func llamaTools(w *writer, c Conversation, query int) error {
	llamaHeader(w, "user")
	w.text("Given the following functions, please respond with a JSON for a function call with its proper arguments that best answers the given prompt.\n\nRespond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its value}.Do not use variables.\n\n")
	for i, t := range c.Tools {
		if err := w.tool(i, t, "    "); err != nil {
			return err
		}
		w.text("\n\n")
	}
	w.field(FieldQuery, query, 0, trim(c.Messages[query].Content))
	w.text(eot)
	return nil
}

func llamaMessage(w *writer, i int, m Message) error {
	if m.Reasoning != "" {
		w.note("llama3.1 has no place for reasoning: it is left out")
	}
	switch {
	case m.Role == Tool:
		llamaHeader(w, "ipython")
		w.quoted(FieldObservation, i, 0, m.Content)
		w.text(eot)
	case len(m.Calls) > 1:
		return fmt.Errorf("message %d: llama3.1 has one call a message, have %d: write parallel calls as messages of their own", i, len(m.Calls))
	case len(m.Calls) == 1:
		if trim(m.Content) != "" {
			w.note("llama3.1 has no place for text beside a call: it is left out")
		}
		llamaHeader(w, "assistant")
		turn := w.turn(i)
		w.text(`{"name": "`)
		w.field(FieldCallName, i, 0, m.Calls[0].Name)
		w.text(`", "parameters": `)
		if err := w.arguments(i, 0, m.Calls[0]); err != nil {
			return err
		}
		w.text("}" + eot)
		turn.end()
	case m.Role == Assistant:
		llamaHeader(w, "assistant")
		turn := w.turn(i)
		w.content(i, trim(m.Content))
		w.text(eot)
		turn.end()
	default:
		llamaHeader(w, string(m.Role))
		w.field(fieldOf(m.Role), i, 0, trim(m.Content))
		w.text(eot)
	}
	return nil
}
