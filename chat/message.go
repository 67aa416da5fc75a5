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
