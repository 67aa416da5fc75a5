package convert

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"assay/qaoa"
)

// A Speaker is whose message of a conversation it is.
type Speaker uint8

// The speakers. Nobody is that of a name that [SpeakerOf] does not know.
const (
	Nobody    Speaker = iota
	System            // says what the assistant is and can do
	User              // asks
	Assistant         // answers, or calls
	Caller            // only calls
	Tool              // returns what was called for
)

// SpeakerOf returns the speaker that the name of a role stands for in some
// corpus.
func SpeakerOf(name string) Speaker {
	switch name {
	case "user", "human":
		return User
	case "assistant", "gpt", "model":
		return Assistant
	case "function", "tool", "observation", "function_response", "tool_response", "ipython":
		return Tool
	case "function_call", "tool_call":
		return Caller
	case "system", "developer":
		return System
	}
	if lower := strings.ToLower(strings.TrimSpace(name)); lower != name {
		return SpeakerOf(lower)
	}
	return Nobody
}

// A Chat makes turns of the messages of a conversation, one after the other.
//
// A user message begins a turn. Calls without an observation between them are
// one step: they are parallel. An observation belongs to the first call of the
// turn with its name that has none yet, else to the first call that has none.
// The last text of the assistant in a turn, with no call after it, is the
// answer; its other texts are kept in the meta, as side_text, and so is what
// was cut as reasoning. Meta has only those of these members that are needed:
//
//	{"side_text":[{"turn":0,"step":1,"text":"…"}],"reasoning":[…],"decoded":{…}}
//
// where step is the number of steps of the turn that came before. The zero
// value is ready for use.
type Chat struct {
	// Tags says that texts may hold <tool_call> and <tool_response>.
	Tags bool
	// Markers says that texts may hold <functioncall> and <|fn_start|>.
	Markers bool
	// Notes count what was unusual.
	Notes Notes

	system    []string
	turns     []qaoa.Turn
	calls     int
	waiting   []waiting // calls of the turn without an observation, in order
	observed  bool      // the last message was an observation
	side      []aside
	reasoning []aside
}

// A waiting is a call that has no observation yet.
type waiting struct {
	step, call int
	id         string
}

// An aside is a text beside the record, with its place.
type aside struct {
	turn, step int
	text       string
}

// System adds a system text.
func (c *Chat) System(text string) {
	if strings.TrimSpace(text) != "" {
		c.system = append(c.system, text)
	}
}

// User begins a turn.
func (c *Chat) User(text string) {
	c.turns = append(c.turns, qaoa.Turn{Query: text})
	c.waiting, c.observed = c.waiting[:0], false
}

// Text adds a text of the assistant. A text of blanks is none.
func (c *Chat) Text(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if len(c.turns) == 0 { // a greeting
		c.Notes.Add("text_before_query", 1)
		c.side = append(c.side, aside{text: text})
		return
	}
	c.demote()
	c.turns[len(c.turns)-1].Answer = text
}

// demote makes a side text of what seemed to be the answer.
func (c *Chat) demote() {
	t := &c.turns[len(c.turns)-1]
	if t.Answer != "" {
		c.side = append(c.side, aside{len(c.turns) - 1, len(t.Steps), t.Answer})
		t.Answer = ""
	}
}

// Reasoning adds what the assistant thought before it goes on.
func (c *Chat) Reasoning(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a := aside{text: text}
	if n := len(c.turns); n > 0 {
		a.turn, a.step = n-1, len(c.turns[n-1].Steps)
	}
	c.reasoning = append(c.reasoning, a)
}

// Call adds a call; id is what its observation refers to, or "". A call before
// the first user message is no_query.
func (c *Chat) Call(call qaoa.Call, id, path string) *Reject {
	if len(c.turns) == 0 {
		return Rejectf(NoQuery, path, "want a user message before the first call, have none")
	}
	c.demote()
	t := &c.turns[len(c.turns)-1]
	if len(t.Steps) == 0 || c.observed {
		t.Steps = append(t.Steps, qaoa.Step{})
		c.observed = false
	}
	step := len(t.Steps) - 1
	s := &t.Steps[step]
	s.Calls = append(s.Calls, call)
	c.waiting = append(c.waiting, waiting{step, len(s.Calls) - 1, id})
	c.calls++
	return nil
}

// lookAhead bounds the calls that an observation is compared with: hostile
// input must not take time by the square of its length.
const lookAhead = 256

// Observe adds what a call returned. Name and id say which call, "" if the
// source does not. An observation that no call waits for is noted and dropped.
func (c *Chat) Observe(name, id, text string) {
	if len(c.waiting) == 0 {
		c.Notes.Add("stray_observations", 1)
		return
	}
	c.observed = true
	t := &c.turns[len(c.turns)-1]
	at := 0
	if name != "" || id != "" {
		at = c.find(t, name, id)
	}
	w := c.waiting[at]
	copy(c.waiting[1:at+1], c.waiting[:at]) // the few before it move, not the many behind
	c.waiting = c.waiting[1:]
	if text == "" {
		return
	}
	s := &t.Steps[w.step]
	if s.Observations == nil {
		s.Observations = make([]string, len(s.Calls))
	}
	s.Observations[w.call] = text
}

// find returns which of the waiting calls an observation belongs to.
func (c *Chat) find(t *qaoa.Turn, name, id string) int {
	near := c.waiting[:min(len(c.waiting), lookAhead)]
	if id != "" {
		for i, w := range near {
			if w.id == id {
				return i
			}
		}
	}
	if name != "" {
		for i, w := range near {
			if t.Steps[w.step].Calls[w.call].Name == name {
				return i
			}
		}
	}
	return 0
}

// Finish puts the system text, the turns and the meta into rec; extra are
// members that the meta begins with. A conversation without a user message is
// no_query, and so is one with a user message of blanks; one without a call is
// no_call. Path is that of the list of messages.
func (c *Chat) Finish(rec *qaoa.Record, path string, extra ...qaoa.Member) *Reject {
	if len(c.turns) == 0 {
		return Rejectf(NoQuery, path, "want a user message, have none")
	}
	for i, t := range c.turns {
		if strings.TrimSpace(t.Query) == "" {
			return Rejectf(NoQuery, path, "want a user message with something in it to begin turn %d, have %.20q", i, t.Query)
		}
	}
	if c.calls == 0 {
		return Rejectf(NoCall, path, "want at least one call, have none in %d turns", len(c.turns))
	}
	rec.Turns = c.turns
	rec.System = c.SystemText()
	rec.Meta = c.meta(extra)
	return nil
}

// meta returns the meta of the record.
func (c *Chat) meta(extra []qaoa.Member) qaoa.JSON {
	dst := []byte{'{'}
	name := func(s string) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(qaoa.AppendQuote(dst, s), ':')
	}
	for _, m := range extra {
		name(m.Name)
		dst = m.Value.Append(dst)
	}
	asides := func(key string, list []aside) {
		if len(list) == 0 {
			return
		}
		name(key)
		for i, a := range list {
			open := `,{"turn":`
			if i == 0 {
				open = `[{"turn":`
			}
			dst = strconv.AppendInt(append(dst, open...), int64(a.turn), 10)
			dst = strconv.AppendInt(append(dst, `,"step":`...), int64(a.step), 10)
			dst = append(qaoa.AppendQuote(append(dst, `,"text":`...), a.text), '}')
		}
		dst = append(dst, ']')
	}
	asides("side_text", c.side)
	asides("reasoning", c.reasoning)
	if notes := c.Notes.append(nil); len(notes) > 0 {
		name("decoded")
		dst = append(dst, notes...)
	}
	if len(dst) == 1 {
		return ""
	}
	return qaoa.JSON(append(dst, '}'))
}

// AddAll adds the messages of a list, which may be a text that holds one.
func (c *Chat) AddAll(list qaoa.Value, path string) *Reject {
	messages, rung := DecodeValue(list)
	if messages.Kind != qaoa.Array {
		return Rejectf(ParseError, path, "want a list of messages, have %s", describe(messages))
	}
	c.Notes.Rung(rung)
	for i, m := range messages.Items {
		if rej := c.Add(m, fmt.Sprintf("%s/%d", path, i)); rej != nil {
			return rej
		}
	}
	return nil
}

// Add adds a message in any form that corpora have: role or from, content or
// value (a text, null, or typed parts), function_call, tool_calls, tool_plan
// and reasoning_content. See Tags and Markers for calls that stand in texts.
func (c *Chat) Add(m qaoa.Value, path string) *Reject {
	if m.Kind != qaoa.Object {
		return Rejectf(ParseError, path, "want a message as an object, have %s", describe(m))
	}
	key, role := "role", qaoa.Value{}
	if from, ok := m.Get("from"); ok {
		key, role = "from", from
	}
	if r, ok := m.Get("role"); ok && role.Kind != qaoa.String {
		key, role = "role", r
	}
	content, ok := m.Get("content")
	contentKey := "content"
	if v, has := m.Get("value"); has && (!ok || content.Kind == qaoa.Null) {
		content, contentKey = v, "value"
	}
	switch SpeakerOf(role.Text) {
	case System:
		c.System(ContentText(content))
	case User:
		c.User(ContentText(content))
	case Assistant:
		return c.assistant(m, content, path, path+"/"+contentKey)
	case Caller:
		return c.callMessage(m, content, path, path+"/"+contentKey)
	case Tool:
		c.observation(m, content)
	default:
		return Rejectf(ParseError, path+"/"+key, "want a known role such as user, assistant or tool, have %.40s", role.JSON())
	}
	return nil
}

// assistant adds a message that holds text, calls or both.
func (c *Chat) assistant(m, content qaoa.Value, path, contentPath string) *Reject {
	for _, key := range []string{"reasoning_content", "reasoning", "tool_plan"} {
		if v, ok := m.Get(key); ok {
			c.Reasoning(ContentText(v))
		}
	}
	if rej := c.AssistantText(ContentText(content), contentPath); rej != nil {
		return rej
	}
	if f, ok := m.Get("function_call"); ok && f.Kind != qaoa.Null {
		if rej := c.addCall(f, path+"/function_call"); rej != nil {
			return rej
		}
	}
	list, _ := m.Get("tool_calls")
	calls, rung := DecodeValue(list)
	switch {
	case calls.Kind == qaoa.Array:
		c.Notes.Rung(rung)
		for i, v := range calls.Items {
			if rej := c.addCall(v, fmt.Sprintf("%s/tool_calls/%d", path, i)); rej != nil {
				return rej
			}
		}
	case calls.Kind == qaoa.String && strings.TrimSpace(calls.Text) == "", calls.Kind == qaoa.Null, calls.Kind == qaoa.Invalid:
	default:
		return c.addCall(calls, path+"/tool_calls")
	}
	return nil
}

// addCall adds the call that v is.
func (c *Chat) addCall(v qaoa.Value, path string) *Reject {
	call, rej := c.Notes.Call(v, path)
	if rej != nil {
		return rej
	}
	id, _ := v.Get("id")
	return c.Call(call, id.Text, path)
}

// AssistantText adds a text of the assistant with the reasoning and, by Tags
// and Markers, the calls that stand in it. A call that is only mentioned in the
// reasoning is none.
func (c *Chat) AssistantText(text, path string) *Reject {
	rest, reasoning, unbalanced := CutThink(text)
	c.Reasoning(reasoning)
	var blocks []string
	if c.Tags {
		var n int
		blocks, rest, n = CutTags(rest, "tool_call")
		unbalanced += n
	}
	if c.Markers {
		marked, without, n := CutMarkers(rest)
		blocks, rest = append(blocks, marked...), without
		unbalanced += n
	}
	c.Notes.Add("unbalanced_tags", unbalanced)
	c.Text(rest)
	for _, block := range blocks {
		if rej := c.callText(block, path); rej != nil {
			return rej
		}
	}
	return nil
}

// callText adds the calls of a text: one, a list, or several one after the
// other.
func (c *Chat) callText(text, path string) *Reject {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") {
		v, rung := Decode(text)
		if v.Kind != qaoa.Array || len(v.Items) == 0 {
			return Rejectf(BadCallJSON, path, "want a list of calls, have %.80q", text)
		}
		c.Notes.Rung(rung)
		for _, item := range v.Items {
			if rej := c.addCall(item, path); rej != nil {
				return rej
			}
		}
		return nil
	}
	// A block that was not closed may have prose or a further call behind it.
	for n := valueLen(text); n > 0 && n < len(text) && strings.HasPrefix(text, "{"); n = valueLen(text) {
		if _, err := qaoa.ParseValue(text[:n]); err != nil {
			break
		}
		if rej := c.oneCallText(text[:n], path); rej != nil {
			return rej
		}
		text = strings.TrimSpace(text[n:])
		if !strings.HasPrefix(text, "{") {
			if text != "" {
				c.side = append(c.side, aside{len(c.turns) - 1, len(c.turns[len(c.turns)-1].Steps), text})
			}
			return nil
		}
	}
	return c.oneCallText(text, path)
}

func (c *Chat) oneCallText(text, path string) *Reject {
	call, rej := c.Notes.CallText(text, path)
	if rej != nil {
		return rej
	}
	return c.Call(call, "", path)
}

// callMessage adds a message of the role call.
func (c *Chat) callMessage(m, content qaoa.Value, path, contentPath string) *Reject {
	switch content.Kind {
	case qaoa.String:
		return c.callText(content.Text, contentPath)
	case qaoa.Array:
		for i, v := range content.Items {
			if rej := c.addCall(v, fmt.Sprintf("%s/%d", contentPath, i)); rej != nil {
				return rej
			}
		}
		if len(content.Items) == 0 {
			return Rejectf(BadCallJSON, contentPath, "want at least one call, have an empty list")
		}
		return nil
	case qaoa.Object:
		return c.addCall(content, contentPath)
	}
	if f, ok := m.Get("function_call"); ok {
		return c.addCall(f, path+"/function_call")
	}
	return Rejectf(BadCallJSON, contentPath, "want a call, have %s", describe(content))
}

// observation adds a message of the role observation.
func (c *Chat) observation(m, content qaoa.Value) {
	name, _ := m.Get("name")
	id, _ := m.Get("tool_call_id")
	text := ContentText(content)
	if !c.Tags {
		c.Observe(name.Text, id.Text, text)
		return
	}
	blocks, rest, unbalanced := CutTags(text, "tool_response")
	c.Notes.Add("unbalanced_tags", unbalanced)
	if len(blocks) == 0 {
		c.Observe(name.Text, id.Text, rest)
		return
	}
	for _, block := range blocks {
		block = strings.TrimSpace(block)
		c.Observe(responseName(block), "", block)
	}
	if rest != "" {
		c.Notes.Add("text_beside_responses", 1)
	}
}

// responseName returns the member "name" of an observation that is an object,
// else "".
func responseName(text string) string {
	var name string
	qaoa.EachMember(text, func(key, value string) bool {
		if key == "name" {
			name, _ = qaoa.Unquote(value)
		}
		return key != "name"
	})
	return name
}

// ContentText returns what a message says: a text as it is, nothing for null,
// the texts of typed parts joined by line breaks, and the JSON of anything
// else.
func ContentText(v qaoa.Value) string {
	switch v.Kind {
	case qaoa.String:
		return v.Text
	case qaoa.Invalid, qaoa.Null:
		return ""
	case qaoa.Array:
		var texts []string
		for _, part := range v.Items {
			switch typ, _ := part.Get("type"); {
			case part.Kind == qaoa.String:
				texts = append(texts, part.Text)
			case part.Kind != qaoa.Object || typ.Kind != qaoa.String:
				return string(v.JSON()) // a list that is no list of parts
			default:
				if text, ok := part.Get("text"); ok && text.Kind == qaoa.String {
					texts = append(texts, text.Text)
				}
			}
		}
		return strings.Join(texts, "\n")
	case qaoa.Object:
		typ, _ := v.Get("type")
		if text, ok := v.Get("text"); ok && typ.Text == "text" && text.Kind == qaoa.String {
			return text.Text
		}
	}
	return string(v.JSON())
}

// ElementText returns the text of el without a copy. Its data must not be
// changed any more.
func ElementText(el Element) string { return unsafe.String(unsafe.SliceData(el.Data), len(el.Data)) }

// RawText returns the content of the JSON value in raw if it is a string, else
// raw itself. Lone surrogates become U+FFFD.
func RawText(raw string) string {
	if s, ok := qaoa.Unquote(raw); ok {
		return s
	}
	if strings.HasPrefix(raw, `"`) {
		if v, err := qaoa.ParseValue(raw); err == nil {
			return v.Text
		}
	}
	return raw
}

// SystemText returns the system text so far.
func (c *Chat) SystemText() string { return strings.Join(c.system, "\n\n") }

// FirstOf returns the first of the members of v with these names that is not
// null, and its path; an absent value and the path of the first name if there
// is none.
func FirstOf(v qaoa.Value, names ...string) (qaoa.Value, string) {
	for _, name := range names {
		if m, ok := v.Get(name); ok && m.Kind != qaoa.Null {
			return m, "/" + name
		}
	}
	return qaoa.Value{}, "/" + names[0]
}
