package model

import (
	"slices"
	"strings"
)

// ToolResponse begins a User message that brings back what calls returned, in
// prompt mode, where the protocol of the messages has no role for it.
const ToolResponse = "<tool_response>"

// Round returns which request of the current turn r is, from 0: Slot - 1 if
// there is a Slot, else the number of Assistant messages after the last query.
// A User message that begins with [ToolResponse], after blanks, is no query.
func (r Request) Round() int {
	if r.Slot > 0 {
		return r.Slot - 1
	}
	n := 0
	for _, m := range slices.Backward(r.Messages) {
		switch {
		case m.Role == Assistant:
			n++
		case m.Role == User && !strings.HasPrefix(strings.TrimLeft(m.Content, " \t\r\n"), ToolResponse):
			return n
		}
	}
	return n
}
