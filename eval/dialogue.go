package eval

import (
	"strconv"
	"strings"

	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// A dialogue is the list of messages of one conversation as it grows.
type dialogue struct {
	mode     CallMode
	messages []model.Message
	ids      int // call ids given out, in native mode
}

func newDialogue(system string, mode CallMode) *dialogue {
	d := &dialogue{mode: mode}
	if system != "" {
		d.messages = append(d.messages, model.Message{Role: model.System, Content: system})
	}
	return d
}

// The tags of an answer, which training rows use alike.
const (
	openAnswer  = "<answer>"
	closeAnswer = "</answer>"
)

// query appends what the user asks. Many chat templates refuse two messages of
// the user in a row, so a turn that ended in observations is closed by an empty answer first.
func (d *dialogue) query(text string) {
	if n := len(d.messages); n > 0 && d.messages[n-1].Role == model.User {
		d.said(openAnswer + closeAnswer)
	}
	d.messages = append(d.messages, model.Message{Role: model.User, Content: text})
}

// said appends a reply without calls.
func (d *dialogue) said(text string) {
	d.messages = append(d.messages, model.Message{Role: model.Assistant, Content: text})
}

// step appends a reply with calls, and what the calls returned.
func (d *dialogue) step(text string, s qaoa.Step) {
	m := model.Message{Role: model.Assistant, Content: text}
	if d.mode == CallsNative {
		m.Calls = s.Calls
		d.messages = append(d.messages, m)
		for i := range s.Calls {
			d.messages = append(d.messages, model.Message{
				Role: model.ToolRole, Content: s.Observation(i), CallID: "call_" + strconv.Itoa(d.ids),
			})
			d.ids++
		}
		return
	}
	var b strings.Builder
	for i := range s.Calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(model.ToolResponse + "\n")
		if o := s.Observation(i); o != "" {
			b.WriteString(o)
			b.WriteByte('\n')
		}
		b.WriteString("</tool_response>")
	}
	d.messages = append(d.messages, m, model.Message{Role: model.User, Content: b.String()})
}

// gold appends a finished turn of a record as the model would have said it.
func (d *dialogue) gold(t qaoa.Turn) {
	d.query(t.Query)
	for _, s := range t.Steps {
		text := ""
		if d.mode == CallsPrompt {
			text = toolcall.Render(s.Calls)
		}
		d.step(text, s)
	}
	if d.mode == CallsNative {
		d.said(t.Answer)
		return
	}
	d.said(openAnswer + t.Answer + closeAnswer)
}

// spoken returns text without the thought it begins with: chat templates drop
// the thoughts of earlier replies, and a model that was trained so must not
// see them. A thought that never ends is all of the text.
func spoken(text string) string {
	const open, end = "<think>", "</think>"
	before, after, ended := strings.Cut(text, end)
	switch starts := strings.HasPrefix(strings.TrimSpace(text), open); {
	case ended && (starts || !strings.Contains(before, open)):
		return strings.TrimSpace(after)
	case starts:
		return ""
	}
	return text
}
