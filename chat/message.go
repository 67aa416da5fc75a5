package chat

import (
	"fmt"

	"assay/qaoa"
)

// A Role is who speaks a message.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Message is one message of a conversation.
type Message struct {
	Role      Role
	Content   string
	Reasoning string      // of an Assistant: what it thought before it spoke
	Calls     []qaoa.Call // of an Assistant
	// Name and CallID are of a Tool message: the name and the id of the call
	// that it answers. Where CallID is empty, Render numbers calls and replies in
	// order.
	Name   string
	CallID string
}

// A Conversation is what a template renders.
type Conversation struct {
	Messages []Message
	Tools    []qaoa.Tool
}

// RecordOptions say what becomes of a record.
type RecordOptions struct {
	System     string // of the system message; "" is none
	KeepSystem bool   // the record's own system text, if it has one, instead
	// Asides keeps what the record's meta holds beside the exchange itself:
	// reasoning, and texts that came with calls (side_text).
	Asides bool
}

// FromRecord returns the conversation of rec: for each turn the query, for each
// step a message with its calls and one reply for each call, then the answer. A
// call that did not parse is an error, since no template can say it.
func FromRecord(rec qaoa.Record, opt RecordOptions) (Conversation, error) {
	c := Conversation{Tools: rec.Tools}
	system := opt.System
	if opt.KeepSystem && rec.System != "" {
		system = rec.System
	}
	if system != "" {
		c.Messages = append(c.Messages, Message{Role: System, Content: system})
	}
	var aside asides
	if opt.Asides {
		aside = readAsides(rec.Meta)
	}
	for i, t := range rec.Turns {
		c.Messages = append(c.Messages, Message{Role: User, Content: t.Query})
		for k, s := range t.Steps {
			for n, call := range s.Calls {
				if call.Raw != "" {
					return Conversation{}, fmt.Errorf("/turns/%d/steps/%d/calls/%d: want a call, have text that did not parse: %.60q", i, k, n, call.Raw)
				}
			}
			at := place{i, k}
			c.Messages = append(c.Messages, Message{Role: Assistant, Content: aside.text[at], Reasoning: aside.reasoning[at], Calls: s.Calls})
			for n, call := range s.Calls {
				c.Messages = append(c.Messages, Message{Role: Tool, Content: s.Observation(n), Name: call.Name})
			}
		}
		c.Messages = append(c.Messages, Message{Role: Assistant, Content: t.Answer, Reasoning: aside.reasoning[place{i, len(t.Steps)}]})
	}
	return c, nil
}

// A place is a step of a turn; the answer is the step behind the last.
type place struct{ turn, step int }

type asides struct{ text, reasoning map[place]string }

// readAsides reads side_text and reasoning of a record's meta. Others may have
// written other things there: what is not understood is no aside.
func readAsides(meta qaoa.JSON) asides {
	out := asides{map[place]string{}, map[place]string{}}
	v, err := meta.Value()
	if err != nil {
		return out
	}
	for name, into := range map[string]map[place]string{"side_text": out.text, "reasoning": out.reasoning} {
		list, _ := v.Get(name)
		for _, item := range list.Items {
			text, _ := item.Get("text")
			turn, okTurn := index(item, "turn")
			step, okStep := index(item, "step")
			if text.Kind == qaoa.String && okTurn && okStep {
				at := place{turn, step}
				if into[at] != "" {
					into[at] += "\n"
				}
				into[at] += text.Text
			}
		}
	}
	return out
}

func index(v qaoa.Value, name string) (int, bool) {
	n, _ := v.Get(name)
	if n.Kind != qaoa.Number {
		return 0, false
	}
	i := 0
	_, err := fmt.Sscanf(n.Text, "%d", &i)
	return i, err == nil && i >= 0
}

// callID returns the id of the n-th call of a conversation, from 0: nine letters
// and digits, which is what Mistral's templates want and no other minds.
func callID(n int) string { return fmt.Sprintf("call%05d", n%100_000) }

// numbered returns the ids of the calls of each message, and of the reply of
// each Tool message: the first call before it that has no reply.
func numbered(messages []Message) (calls [][]string, replies []string) {
	calls, replies = make([][]string, len(messages)), make([]string, len(messages))
	n := 0
	var open []string
	for i, m := range messages {
		for range m.Calls {
			calls[i] = append(calls[i], callID(n))
			open = append(open, callID(n))
			n++
		}
		if m.Role != Tool {
			continue
		}
		switch {
		case m.CallID != "":
			replies[i] = m.CallID
		case len(open) > 0:
			replies[i], open = open[0], open[1:]
		default:
			replies[i] = callID(n)
			n++
		}
	}
	return calls, replies
}
