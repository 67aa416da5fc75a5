package qaoa

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendInterchange appends rec in interchange form, the paper's ShareGPT
// layout, to dst as one line without the line break:
//
//	{"conversations":[{"from","value"}…],"system":"…","tools":"<JSON text>","properties":{…}}
//
// Every call is a function_call message followed by its observation, and a
// turn ends with one gpt message. Parallel and serial calls look alike in that
// layout, so properties.turn_N_steps keeps how many calls each step has. Labels
// of shape are written for others; [DecodeInterchange] computes its own.
func AppendInterchange(dst []byte, rec Record) []byte {
	dst = append(dst, `{"conversations":[`...)
	first := true
	open := func(from string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, `{"from":"`...), from...), `","value":`...)
	}
	message := func(from, value string) {
		open(from)
		dst = append(AppendQuote(dst, value), '}')
	}
	for _, t := range rec.Turns {
		message("human", t.Query)
		for _, s := range t.Steps {
			for i, c := range s.Calls {
				open("function_call")
				dst = append(appendCallText(dst, c), '}')
				message("observation", s.Observation(i))
			}
		}
		message("gpt", t.Answer)
	}
	dst = append(dst, `],"system":`...)
	dst = AppendQuote(dst, rec.System)
	dst = append(dst, `,"tools":`...)
	dst = appendToolsText(dst, rec.Tools)
	dst = append(dst, `,"properties":{"id":`...)
	dst = AppendQuote(dst, rec.ID)
	dst = append(dst, `,"source":`...)
	dst = appendSource(dst, rec.Source)
	dst = append(dst, `,"turns":`...)
	dst = strconv.AppendInt(dst, int64(len(rec.Turns)), 10)
	shape := ShapeOf(rec)
	for i, t := range rec.Turns {
		dst = appendTurnLabels(dst, i+1, t, shape.Turns[i])
	}
	if rec.Meta != "" {
		dst = append(append(dst, `,"meta":`...), rec.Meta...)
	}
	return append(dst, "}}"...)
}

// appendCallText appends the text of c as [AppendCall] has it, as a JSON string.
// That text is written in one go, since it is most of what there is to write.
func appendCallText(dst []byte, c Call) []byte {
	dst = append(dst, '"')
	if c.Raw != "" {
		dst = append(dst, `{\"raw\":`...)
		dst = append(appendTwice(dst, c.Raw), '}')
	} else {
		dst = append(dst, `{\"name\":`...)
		dst = appendTwice(dst, c.Name)
		if c.Arguments != "" {
			dst = append(dst, `,\"arguments\":`...)
			dst = appendEscaped(dst, string(c.Arguments))
		}
		dst = append(dst, '}')
	}
	return append(dst, '"')
}

// appendToolsText appends the text of tools as [AppendTools] has it, as a JSON
// string.
func appendToolsText(dst []byte, tools []Tool) []byte {
	dst = append(dst, `"[`...)
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{\"name\":`...)
		dst = appendTwice(dst, t.Name)
		dst = append(dst, `,\"description\":`...)
		dst = appendTwice(dst, t.Description)
		if t.Parameters != "" {
			dst = append(dst, `,\"parameters\":`...)
			dst = appendEscaped(dst, string(t.Parameters))
		}
		for _, more := range [...]struct{ name, value string }{{"category", t.Category}, {"domain", t.Domain}, {"origin", t.Origin}} {
			if more.value != "" {
				dst = append(append(append(dst, `,\"`...), more.name...), `\":`...)
				dst = appendTwice(dst, more.value)
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, `]"`...)
}

// appendTwice appends s as a JSON string inside of a JSON string.
func appendTwice(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = replaceInvalid(s)
	}
	dst = append(dst, `\"`...)
	if plainLen(s) == len(s) {
		dst = append(dst, s...)
	} else {
		var room [512]byte
		dst = appendEscaped(dst, view(appendEscaped(room[:0], s)))
	}
	return append(dst, `\"`...)
}

func appendTurnLabels(dst []byte, n int, t Turn, shape TurnShape) []byte {
	key := func() { dst = strconv.AppendInt(append(dst, `,"turn_`...), int64(n), 10) }
	key()
	dst = append(append(append(dst, `":"`...), shape.Hop...), '"')
	if shape.Strategy != "" {
		key()
		dst = append(append(append(dst, `_strategy":"`...), shape.Strategy...), '"')
	}
	key()
	dst = append(dst, `_steps":[`...)
	for i, s := range t.Steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(len(s.Calls)), 10)
	}
	return append(dst, ']')
}

// DecodeInterchange reads one record in interchange form, see
// [AppendInterchange]. It accepts "assistant" for gpt, a function_call value
// that is an array of calls (one step), a list instead of a text for "tools",
// and labels of any spelling, which it does not use. Without turn_N_steps each
// function_call message is a step of its own. The ID is empty if neither
// properties.id nor id is there: released data have none.
//
// Faults are of type *[Error] with the path of the culprit.
func DecodeInterchange(data []byte) (Record, error) { return decodeInterchange(data, false) }

// DecodeInterchangePrediction reads a prediction in interchange form, where a
// function_call value may be null or a text that is no call: such a call has
// Raw set. properties.repeat, if there, is the repeat.
func DecodeInterchangePrediction(data []byte) (Prediction, error) {
	rec, err := decodeInterchange(data, true)
	if err != nil {
		return Prediction{}, err
	}
	if rec.ID == "" {
		return Prediction{}, &Error{Path: "/properties", Msg: `want a member "id" that names the record, have none`}
	}
	return Prediction{ID: rec.ID, Repeat: rec.Source.Index, Turns: rec.Turns}, nil
}

// A message is one element of "conversations".
type message struct {
	from  string
	value string
	null  bool
}

// properties is what a reader uses of the object of that name.
type properties struct {
	id     string
	repeat int
	source Source
	meta   JSON
	steps  map[int][]int // by 1-based turn
}

func decodeInterchange(data []byte, predicted bool) (Record, error) {
	c := newCursor(data)
	var (
		rec      Record
		messages []message
		props    properties
		seen     bool
	)
	err := c.object(func(name string) (err error) {
		switch name {
		case "conversations":
			seen = true
			messages, err = c.messages()
		case "system":
			rec.System, err = c.optStr()
		case "tools":
			rec.Tools, err = c.foreignTools()
		case "properties":
			props, err = c.properties()
		case "id":
			rec.ID, err = c.str()
		default:
			err = c.skip()
		}
		return err
	})
	if err != nil {
		return Record{}, err
	}
	if !seen {
		return Record{}, &Error{Msg: `want a member "conversations", have none`}
	}
	if err := c.end(); err != nil {
		return Record{}, err
	}
	if props.id != "" {
		rec.ID = props.id
	}
	rec.Source, rec.Meta = props.source, props.meta
	if predicted {
		rec.Source.Index = props.repeat
	}
	rec.Turns, err = foldMessages(messages, props.steps, predicted)
	if err == nil && len(rec.Turns) == 0 && !predicted {
		err = &Error{Path: "/conversations", Msg: "want at least one human message, have none"}
	}
	return rec, err
}

func (c *cursor) messages() ([]message, error) {
	var out []message
	err := c.array(func() error {
		var m message
		err := c.object(func(name string) (err error) {
			switch name {
			case "from":
				m.from, err = c.str()
			case "value":
				if c.dec.PeekKind() == 'n' {
					m.null = true
					return c.skip()
				}
				m.value, err = c.str()
			default:
				err = c.skip()
			}
			return err
		})
		out = append(out, m)
		return err
	})
	return out, err
}

// foreignTools reads a list of tools, or a text that holds one.
func (c *cursor) foreignTools() ([]Tool, error) {
	switch c.dec.PeekKind() {
	case 'n':
		return nil, c.skip()
	case '[':
		var tools []Tool
		err := c.array(func() error {
			t, err := c.tool(true)
			tools = append(tools, t)
			return err
		})
		return tools, err
	}
	text, err := c.str()
	if err != nil || strings.TrimSpace(text) == "" {
		return nil, err
	}
	tools, err := DecodeTools([]byte(text))
	if inner, ok := err.(*Error); ok { //nolint:errorlint // DecodeTools returns it bare
		return nil, c.errorf("in the JSON text, at %q: %s", inner.Path, inner.Msg)
	}
	return tools, err
}

func (c *cursor) properties() (properties, error) {
	p := properties{}
	if c.dec.PeekKind() == 'n' {
		return p, c.skip()
	}
	err := c.object(func(name string) (err error) {
		switch {
		case name == "id":
			p.id, err = c.str()
		case name == "repeat":
			p.repeat, err = c.number()
		case name == "source" && c.dec.PeekKind() == '{':
			p.source, err = c.source()
		case name == "meta":
			p.meta, err = c.optObject()
		default:
			n, ok := stepsKey(name)
			if !ok {
				return c.skip()
			}
			if p.steps == nil {
				p.steps = map[int][]int{}
			}
			sizes := []int{}
			err = c.array(func() error {
				size, err := c.number()
				if err == nil && size == 0 {
					err = c.errorf("want the number of calls of a step, at least 1, have 0")
				}
				sizes = append(sizes, size)
				return err
			})
			p.steps[n] = sizes
		}
		return err
	})
	return p, err
}

// stepsKey returns the N of turn_N_steps.
func stepsKey(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, "turn_")
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutSuffix(rest, "_steps")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// foldMessages makes turns of messages. A turn is human, then calls with
// their observations, then at most one gpt.
func foldMessages(messages []message, steps map[int][]int, predicted bool) ([]Turn, error) {
	var turns []Turn
	answered := false // the current turn has its gpt message
	open := 0         // calls of the last step that have no observation yet
	for i, m := range messages {
		path := fmt.Sprintf("/conversations/%d", i)
		if m.null && m.from != "function_call" && m.from != "observation" && !predicted {
			return nil, &Error{Path: path + "/value", Msg: "want a string, have null"}
		}
		if m.from == "human" {
			turns = append(turns, Turn{Query: m.value})
			answered, open = false, 0
			continue
		}
		if len(turns) == 0 {
			return nil, &Error{Path: path + "/from", Msg: fmt.Sprintf("want a human message first, have %.40q", m.from)}
		}
		t := &turns[len(turns)-1]
		if answered {
			return nil, &Error{Path: path + "/from", Msg: fmt.Sprintf("want a human message after the answer, have %.40q", m.from)}
		}
		switch m.from {
		case "function_call":
			calls, err := messageCalls(m, path, predicted)
			if err != nil {
				return nil, err
			}
			t.Steps = append(t.Steps, Step{Calls: calls})
			open = len(calls)
		case "observation":
			if open == 0 {
				return nil, &Error{Path: path + "/from", Msg: "want an observation only after its call, have one more"}
			}
			s := &t.Steps[len(t.Steps)-1]
			if m.value != "" && s.Observations == nil {
				s.Observations = make([]string, len(s.Calls))
			}
			if m.value != "" {
				s.Observations[len(s.Calls)-open] = m.value
			}
			open--
		case "gpt", "assistant":
			t.Answer, answered = m.value, true
		default:
			return nil, &Error{Path: path + "/from", Msg: fmt.Sprintf("want human, function_call, observation or gpt, have %.40q", m.from)}
		}
	}
	for i := range turns {
		if sizes, ok := steps[i+1]; ok {
			if err := regroup(&turns[i], sizes, i+1); err != nil {
				return nil, err
			}
		}
	}
	return turns, nil
}

// messageCalls reads the value of a function_call message.
func messageCalls(m message, path string, predicted bool) ([]Call, error) {
	if predicted {
		if m.null {
			return []Call{{Raw: "null"}}, nil
		}
		j, err := Compact(m.value)
		if err != nil {
			return []Call{{Raw: m.value}}, nil //nolint:nilerr // a text that is no call is data here
		}
		return []Call{ReadCall(j)}, nil
	}
	if m.null {
		return nil, &Error{Path: path + "/value", Msg: "want the JSON text of a call, have null"}
	}
	c := newCursor([]byte(m.value))
	var (
		calls []Call
		err   error
	)
	if c.dec.PeekKind() == '[' {
		calls, err = c.calls(false)
		if err == nil && len(calls) == 0 {
			err = &Error{Msg: "want at least one call, have an empty array"}
		}
	} else {
		calls = make([]Call, 1)
		calls[0], err = c.call()
	}
	if err == nil {
		err = c.end()
	}
	if inner, ok := err.(*Error); ok { //nolint:errorlint // the cursor returns it bare
		return nil, &Error{Path: path + "/value", Msg: fmt.Sprintf("in the JSON text, at %q: %s", inner.Path, inner.Msg)}
	}
	return calls, err
}

// regroup puts the calls of t into steps of the given sizes.
func regroup(t *Turn, sizes []int, n int) error {
	var calls []Call
	var obs []string
	for _, s := range t.Steps {
		for i, c := range s.Calls {
			calls = append(calls, c)
			obs = append(obs, s.Observation(i))
		}
	}
	total := 0
	for _, size := range sizes {
		total += size
	}
	if total != len(calls) {
		return &Error{
			Path: fmt.Sprintf("/properties/turn_%d_steps", n),
			Msg:  fmt.Sprintf("want steps that add up to the %d calls of turn %d, have %d; correct the sizes, or leave them out", len(calls), n, total),
		}
	}
	t.Steps = nil
	for _, size := range sizes {
		s := Step{Calls: calls[:size:size], Observations: obs[:size:size]}
		if !s.observed() {
			s.Observations = nil
		}
		t.Steps = append(t.Steps, s)
		calls, obs = calls[size:], obs[size:]
	}
	return nil
}
