package toucan

import (
	"strings"
	"unsafe"

	"assay/convert"
	"assay/qaoa"
)

// The plain reader takes an element in one pass if it has the form that nearly
// all have, and checks all of it on the way. It gives up wherever it would have
// to think, and is tested to agree with the reader that does, by a tree.

// maxKept bounds the memory of the buffers that are used again.
const maxKept = 1 << 20

// buffers hold a text while it is read.
type buffers struct{ messages, arguments []byte }

// plain returns what becomes of an element, and whether it could read it.
func (c *converter) plain(el convert.Element) (rec qaoa.Record, rej *convert.Reject, ok bool) {
	buf, _ := c.buffers.Get().(*buffers)
	if buf == nil {
		buf = new(buffers)
	}
	defer func() {
		if cap(buf.messages)+cap(buf.arguments) <= maxKept {
			c.buffers.Put(buf)
		}
	}()
	s := qaoa.NewScanner(convert.ElementText(el))
	var uuid, subset, tools string
	var seen struct{ uuid, subset, messages, available, tools bool }
	once := func(flag *bool) bool {
		had := *flag
		*flag = true
		return !had
	}
	object := s.Members(func(name string) (ok bool) {
		switch name {
		case "uuid":
			uuid, ok = text(&s)
			return ok && once(&seen.uuid)
		case "subset_name":
			subset, ok = text(&s)
			return ok && once(&seen.subset)
		case "messages":
			buf.messages, ok = s.AppendText(buf.messages[:0])
			return ok && once(&seen.messages)
		case "available_tools":
			tools, ok = s.Skip()
			return ok && once(&seen.available)
		case "tools":
			tools, ok = s.Skip()
			return ok && once(&seen.tools)
		}
		_, ok = s.Skip()
		return ok
	})
	if !object || !s.End() || !seen.messages || subset == "irrelevant" || seen.available == seen.tools || strings.IndexByte(tools, '\\') < 0 {
		// Without an escape the tools are no list in a string, and what is made
		// of them would be pieces of the element.
		return rec, nil, false
	}
	chat := new(convert.Chat)
	if !plainMessages(chat, buf) {
		return rec, nil, false
	}
	if rec.Tools, rej = c.cache.RawTools(tools, "", &chat.Notes); rej != nil {
		return rec, nil, false
	}
	rec.ID = strings.Clone(uuid)
	rej = c.finish(&rec, chat, subset)
	return rec, rej, true
}

// text reads a string that has no escapes, or null, which is "".
func text(s *qaoa.Scanner) (string, bool) {
	if s.Null() {
		return "", true
	}
	raw, ok := s.Skip()
	if !ok || raw[0] != '"' || strings.IndexByte(raw, '\\') >= 0 {
		return "", false
	}
	return raw[1 : len(raw)-1], true
}

// plainMessages adds the messages in buf, and reports whether it could. What it
// adds shares no memory with buf.
func plainMessages(chat *convert.Chat, buf *buffers) bool {
	s := qaoa.NewScanner(unsafe.String(unsafe.SliceData(buf.messages), len(buf.messages)))
	// All texts of the record are in one piece of memory, which has room for
	// them: a text is not longer than its JSON.
	arena := make([]byte, 0, s.Left()+8)
	m := messageReader{s: &s, arena: &arena, buf: buf}
	return s.Items(func() bool { return m.read() && m.add(chat) }) && s.End()
}

// A messageReader reads one message after the other.
type messageReader struct {
	s     *qaoa.Scanner
	arena *[]byte
	buf   *buffers

	role, content, name, reasoning string
	called                         bool
	call                           qaoa.Call
}

// read takes a message, and reports whether it could: it has no other members
// than role, content, name, reasoning_content and function_call.
func (m *messageReader) read() bool {
	m.role, m.content, m.name, m.reasoning, m.called = "", "", "", "", false
	return m.s.Members(func(key string) (ok bool) {
		switch key {
		case "role":
			m.role, ok = m.s.Text(m.arena)
		case "content":
			if ok = m.s.Null(); ok {
				m.content = ""
				break
			}
			m.content, ok = m.s.Text(m.arena)
		case "name":
			m.name, ok = m.s.Text(m.arena)
		case "reasoning_content":
			m.reasoning, ok = m.s.Text(m.arena)
		case "function_call":
			m.called = true
			ok = m.readCall()
		}
		return ok
	})
}

// readCall takes {"name":"…","arguments":"{…}"}.
func (m *messageReader) readCall() bool {
	m.call = qaoa.Call{}
	return m.s.Members(func(key string) (ok bool) {
		switch key {
		case "name":
			m.call.Name, ok = m.s.Text(m.arena)
		case "arguments":
			m.call.Arguments, ok = m.readArguments()
		case "call_id":
			_, ok = m.s.Skip() // results do not refer to it
		}
		return ok
	}) && strings.TrimSpace(m.call.Name) != "" && m.call.Arguments != ""
}

// readArguments takes a string that holds an object.
func (m *messageReader) readArguments() (qaoa.JSON, bool) {
	var ok bool
	if m.buf.arguments, ok = m.s.AppendText(m.buf.arguments[:0]); !ok {
		return "", false
	}
	start := len(*m.arena)
	out, err := qaoa.AppendCompact(*m.arena, m.buf.arguments)
	if err != nil {
		return "", false
	}
	*m.arena = out
	args := out[start:]
	return qaoa.JSON(unsafe.String(unsafe.SliceData(args), len(args))), len(args) > 0 && args[0] == '{'
}

// add adds the message that was read, and reports whether it is in place.
func (m *messageReader) add(chat *convert.Chat) bool {
	speaker := convert.SpeakerOf(m.role)
	if speaker == convert.Assistant {
		chat.Reasoning(m.reasoning)
		if chat.AssistantText(m.content, "") != nil {
			return false
		}
		return !m.called || chat.Call(m.call, "", "") == nil
	}
	switch {
	case m.called || m.reasoning != "":
		return false
	case speaker == convert.User:
		chat.User(m.content)
	case speaker == convert.Tool:
		chat.Observe(m.name, "", m.content)
	case speaker == convert.System:
		chat.System(m.content)
	default:
		return false
	}
	return true
}
