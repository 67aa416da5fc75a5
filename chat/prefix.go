package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Break is a place where a template rewrites what it said before: the text of
// the first Messages messages does not begin the text of one more. A model that
// is asked after each message, as agents are, then sees another text than it was
// trained on, and a trainer that renders message by message trains another text
// than one that renders all.
type Break struct {
	Messages int    `json:"messages"` // k: messages[:k] against messages[:k+1]
	At       int    `json:"at"`       // bytes that are equal
	Before   string `json:"before"`   // the text there with k messages, from a little earlier on, shortened
	After    string `json:"after"`    // and with one more
	Why      string `json:"why"`
}

// A Break shows this many bytes of a text, of which so many come before the
// difference.
const (
	shown = 72
	lead  = 24
)

// Prefixes returns the breaks of t on c, for every k from 1 on where both texts
// can be made; what cannot be rendered, such as a conversation that ends in the
// middle, is skipped. No prompt is added.
func Prefixes(t *Template, c Conversation, opt Options) []Break {
	opt.AddGenerationPrompt = false
	var breaks []Break
	var before Rendered
	ok := false
	for k := 1; k <= len(c.Messages); k++ {
		after, err := t.Render(Conversation{Messages: c.Messages[:k], Tools: c.Tools}, opt)
		if ok && err == nil && !strings.HasPrefix(after.Text, before.Text) {
			breaks = append(breaks, newBreak(c, k-1, before, after))
		}
		before, ok = after, err == nil
	}
	return breaks
}

func newBreak(c Conversation, k int, before, after Rendered) Break {
	n := 0
	for n < len(before.Text) && n < len(after.Text) && before.Text[n] == after.Text[n] {
		n++
	}
	for n > 0 && (n < len(before.Text) && !utf8.RuneStart(before.Text[n]) || n < len(after.Text) && !utf8.RuneStart(after.Text[n])) {
		n--
	}
	from := max(n-lead, strings.LastIndexByte(before.Text[:n], '\n')+1)
	for from > 0 && !utf8.RuneStart(before.Text[from]) {
		from--
	}
	return Break{Messages: k, At: n, Before: head(before.Text[from:]), After: head(after.Text[from:]), Why: why(c, k, n, before, after)}
}

func head(s string) string {
	if len(s) <= shown {
		return s
	}
	n := shown
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// why tells in words what is behind a break, from what was rewritten.
func why(c Conversation, k, at int, before, after Rendered) string {
	lost := func(field Field) int {
		n := 0
		for _, s := range before.Find(field) {
			if s.Message < k && !has(after, s) {
				n++
			}
		}
		return n
	}
	rest := before.Text[at:]
	switch {
	case lost(FieldReasoning) > 0:
		return fmt.Sprintf("reasoning of earlier messages is removed when message %d (%s) comes", k, c.Messages[k].Role)
	case lost(FieldSystem) > 0:
		return "the system message moves or goes"
	case moved(before, after, FieldToolName):
		return "the tools move to another message"
	case emptyThoughts(before.Text) > emptyThoughts(after.Text):
		return "empty thoughts of the last message are removed when it is no longer the last"
	case c.Messages[k].Role == Tool && c.Messages[k-1].Role == Tool:
		return "replies of tools that follow each other are joined into one message"
	case strings.TrimSpace(rest) == "" || len(rest) < shown && !strings.HasPrefix(after.Text[at:], rest):
		return "the end of the last message is written otherwise than the end of others"
	}
	return "the text of earlier messages changes"
}

func has(r Rendered, want Span) bool {
	for _, s := range r.Spans {
		if s.Field == want.Field && s.Message == want.Message && s.Item == want.Item {
			return true
		}
	}
	return false
}

func moved(before, after Rendered, field Field) bool {
	a, b := before.Find(field), after.Find(field)
	return len(a) > 0 && (len(b) == 0 || a[0].Start != b[0].Start)
}

func emptyThoughts(s string) int {
	return strings.Count(strings.ReplaceAll(s, "\n", ""), thinkOpen+thinkClose)
}
