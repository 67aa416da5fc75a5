package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"assay/model"
	"assay/qaoa"
)

// A place is which request a line answers.
type place struct {
	id                  string
	repeat, turn, round int
}

// An entry is what is answered.
type entry struct {
	reply model.Reply
	fail  *model.Error
	line  int
}

// A Player answers from a recording, all of which it holds in memory. It is
// safe for concurrent use.
type Player struct {
	name   string
	places map[place]entry
	keys   map[string]entry
}

// Read reads a recording; name is its name in messages. A line that is not
// understood, or a place that occurs twice, is an error that names the line.
func Read(r io.Reader, name string) (*Player, error) {
	p := &Player{name: name, places: map[place]entry{}, keys: map[string]entry{}}
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if text := strings.TrimSpace(string(line)); text != "" {
			if err := p.add(text, n); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

// Len returns how many replies the recording holds.
func (p *Player) Len() int { return len(p.places) + len(p.keys) }

// Chat implements [model.Chatter]. A request that the recording does not hold
// is a [model.Error] of class Request.
func (p *Player) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	where := "the request"
	if req.Case != nil {
		at := place{req.Case.Record.ID, req.Case.Repeat, req.Turn, req.Round()}
		if e, ok := p.places[at]; ok {
			return e.answer()
		}
		where = fmt.Sprintf("%q repeat %d turn %d round %d", at.id, at.repeat, at.turn, at.round)
	}
	key := Key(req)
	if e, ok := p.keys[key]; ok {
		return e.answer()
	}
	return model.Reply{}, &model.Error{Class: model.ClassRequest, Attempts: 1, Msg: fmt.Sprintf("replay: %s holds no reply to %s (key %s); record the run again", p.name, where, key)}
}

func (e entry) answer() (model.Reply, error) {
	if e.fail != nil {
		fail := *e.fail
		return model.Reply{}, &fail
	}
	return e.reply, nil
}

// Key returns the name of a request by its content: messages, tools and
// sampling, as 32 hexadecimal digits (XXH3, 128 bits). Case and Turn are not
// part of it.
func Key(req model.Request) string {
	var b []byte
	for _, m := range req.Messages {
		b = qaoa.AppendQuote(b, string(m.Role))
		b = qaoa.AppendQuote(b, m.Content)
		for _, c := range m.Calls {
			b = appendCall(b, c)
		}
		b = qaoa.AppendQuote(b, m.CallID)
		b = append(b, '\n')
	}
	for _, t := range req.Tools {
		b = qaoa.AppendQuote(b, t.Name)
		b = qaoa.AppendQuote(b, t.Description)
		b = append(append(b, t.Parameters...), '\n')
	}
	s := req.Sampling
	b = fmt.Appendf(b, "%s %s %d %d %d %t", strconv.FormatFloat(s.Temperature, 'g', -1, 64), strconv.FormatFloat(s.TopP, 'g', -1, 64), s.Seed, s.MaxTokens, s.NumCtx, s.Think)
	if req.ToolChoice != "" || req.ParallelCalls != "" {
		b = fmt.Appendf(b, " %s %s", req.ToolChoice, req.ParallelCalls)
	}
	sum := xxh3.Hash128(b)
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

func appendCall(b []byte, c qaoa.Call) []byte {
	if c.Raw != "" {
		b = append(b, `{"raw":`...)
		return append(qaoa.AppendQuote(b, c.Raw), '}')
	}
	b = append(b, `{"name":`...)
	b = qaoa.AppendQuote(b, c.Name)
	if c.Arguments != "" {
		b = append(append(b, `,"arguments":`...), c.Arguments...)
	}
	return append(b, '}')
}

// add reads one line.
func (p *Player) add(text string, line int) error {
	v, err := qaoa.ParseValue(text)
	if err != nil {
		return err
	}
	if v.Kind != qaoa.Object {
		return fmt.Errorf("want an object, have %s", v.Kind)
	}
	e := entry{line: line}
	if f, ok := v.Get("error"); ok {
		class, _ := f.Get("class")
		msg, _ := f.Get("message")
		if class.Kind != qaoa.String || class.Text == "" {
			return errors.New(`/error/class: want the class of a failure, such as "timeout"`)
		}
		e.fail = &model.Error{Class: model.Class(class.Text), Msg: msg.Text, Attempts: 1}
	} else if e.reply, err = readReply(v); err != nil {
		return err
	}
	if key, ok := v.Get("key"); ok {
		if key.Kind != qaoa.String || key.Text == "" {
			return fmt.Errorf("/key: want a string, have %s", key.Kind)
		}
		if old, twice := p.keys[key.Text]; twice {
			return fmt.Errorf("/key: %q was answered in line %d already", key.Text, old.line)
		}
		p.keys[key.Text] = e
		return nil
	}
	id, _ := v.Get("id")
	if id.Kind != qaoa.String || id.Text == "" {
		return fmt.Errorf("/id: want a string (or a key), have %s", id.Kind)
	}
	at := place{id: id.Text}
	for _, f := range []struct {
		name string
		to   *int
	}{{"repeat", &at.repeat}, {"turn", &at.turn}, {"round", &at.round}} {
		if *f.to, err = count(v, f.name, 0); err != nil {
			return err
		}
	}
	if old, twice := p.places[at]; twice {
		return fmt.Errorf("%q repeat %d turn %d round %d was answered in line %d already", at.id, at.repeat, at.turn, at.round, old.line)
	}
	p.places[at] = e
	return nil
}

// count returns the number at a member of v, or absent if there is none.
func count(v qaoa.Value, name string, absent int) (int, error) {
	m, ok := v.Get(name)
	if !ok {
		return absent, nil
	}
	n, err := strconv.Atoi(m.Text)
	if m.Kind != qaoa.Number || err != nil || n < 0 {
		return 0, fmt.Errorf("/%s: want a whole number from 0, have %.40q", name, string(m.JSON()))
	}
	return n, nil
}

// readReply returns the reply of a line.
func readReply(v qaoa.Value) (model.Reply, error) {
	out := model.Reply{Attempts: 1, Usage: model.Usage{Prompt: -1, Completion: -1}}
	r, ok := v.Get("reply")
	if !ok {
		return out, errors.New("/reply: want a string or an object, have nothing")
	}
	switch r.Kind {
	case qaoa.String:
		out.Text = r.Text
		return out, nil
	case qaoa.Object:
	default:
		return out, fmt.Errorf("/reply: want a string or an object, have %s", r.Kind)
	}
	for _, f := range []struct {
		name string
		to   *string
	}{{"text", &out.Text}, {"reasoning", &out.Reasoning}, {"finish", &out.Finish}} {
		if m, ok := r.Get(f.name); ok {
			if m.Kind != qaoa.String {
				return out, fmt.Errorf("/reply/%s: want a string, have %s", f.name, m.Kind)
			}
			*f.to = m.Text
		}
	}
	var err error
	if out.Usage.Prompt, err = count(r, "prompt_tokens", -1); err != nil {
		return out, fmt.Errorf("/reply%w", err)
	}
	if out.Usage.Completion, err = count(r, "completion_tokens", -1); err != nil {
		return out, fmt.Errorf("/reply%w", err)
	}
	calls, _ := r.Get("calls")
	for i, c := range calls.Items {
		if raw, ok := c.Get("raw"); ok && raw.Text != "" {
			out.Calls = append(out.Calls, qaoa.Call{Raw: raw.Text})
			continue
		}
		name, _ := c.Get("name")
		if name.Kind != qaoa.String || name.Text == "" {
			return out, fmt.Errorf("/reply/calls/%d/name: want a string, have %s", i, name.Kind)
		}
		args, _ := c.Get("arguments")
		out.Calls = append(out.Calls, qaoa.Call{Name: name.Text, Arguments: args.JSON()})
	}
	return out, nil
}
