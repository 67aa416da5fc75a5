package parity

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"

	"assay/chat"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
	"assay/train"
)

// A player answers as a model that says its training rows by heart, and keeps
// what the server made of each request.
type player struct {
	server *server
	opt    *Options

	mu    sync.Mutex
	talks map[string]*talk // by id of the record
}

// A talk is the conversation about a record. One goroutine at a time works on
// it.
type talk struct {
	id   string
	row  chat.Conversation
	text chat.Rendered
	said []int // the messages of the assistant in row
	asks []ask
	err  error
}

// An ask is a request, which asks for a message of the row.
type ask struct {
	req    model.Request
	said   int // index in talk.said; behind its end for a message that it lacks
	served served
}

// rows passes the records on that have a training row, and notes it.
func (p *player) rows(recs iter.Seq2[qaoa.Record, error], rep *Report) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		seen := map[string]bool{}
		for rec, err := range recs {
			if err == nil && seen[rec.ID] {
				err = fmt.Errorf("two records have the id %q; keep one of each", rec.ID)
			}
			if err != nil {
				yield(rec, err)
				return
			}
			seen[rec.ID] = true
			t := &talk{id: rec.ID}
			var rej *train.Reject
			t.row, rej, err = train.Conversation(rec, p.opt.Rows)
			if rej != nil {
				p.mu.Lock()
				rep.Rejected[rej.Code]++
				p.mu.Unlock()
				continue
			}
			if err == nil {
				t.text, err = p.opt.Template.Render(t.row, chat.Options{Date: p.opt.Chat.Date})
			}
			if err != nil {
				yield(rec, fmt.Errorf("%s: the training row: %w", rec.ID, err))
				return
			}
			for i, m := range t.row.Messages {
				if m.Role == chat.Assistant {
					t.said = append(t.said, i)
				}
			}
			p.mu.Lock()
			p.talks[rec.ID] = t
			p.mu.Unlock()
			if !yield(rec, nil) {
				return
			}
		}
	}
}

func (p *player) talk(id string) *talk {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.talks[id]
}

// take returns a talk that is over, nil if there is none.
func (p *player) take(id string) *talk {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.talks[id]
	delete(p.talks, id)
	return t
}

// Chat implements [model.Chatter].
func (p *player) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	t := p.talk(req.Case.Record.ID)
	a := ask{req: req}
	// Another runner's requests tell the conversation in the system message.
	if a.said = len(t.asks); p.opt.Run.Compat == "" {
		a.said = 0
		for _, m := range req.Messages {
			if m.Role == model.Assistant {
				a.said++
			}
		}
	}
	var err error
	if a.served, err = p.server.prompt(ctx, req); err != nil {
		return model.Reply{}, err
	}
	t.asks = append(t.asks, a)
	return t.reply(a), nil
}

// endMark is the token that ends a message, as templates write it.
var endMark = regexp.MustCompile(`(<\|[^|<>]+\|>|</s>)\s*$`)

// reply returns what the row has the model say.
func (t *talk) reply(a ask) model.Reply {
	if a.said >= len(t.said) {
		return model.Reply{Text: "<answer></answer>"}
	}
	at := t.said[a.said]
	m := t.row.Messages[at]
	if a.req.Tools != nil {
		return model.Reply{Text: m.Content, Calls: m.Calls}
	}
	for _, s := range t.text.Find(chat.FieldTurn) {
		if s.Message == at {
			return model.Reply{Text: strings.TrimSpace(endMark.ReplaceAllString(t.text.Text[s.Start:s.End], ""))}
		}
	}
	if text := toolcall.Render(m.Calls); text != "" {
		return model.Reply{Text: strings.TrimSpace(m.Content + "\n" + text)}
	}
	return model.Reply{Text: m.Content}
}

// training returns the text that the prompt of request i has to begin, and the
// place in it where the prompt may end; false if no row has the message.
func (t *talk) training(i int, opt *Options) (chat.Rendered, chat.Span, bool, error) {
	a := t.asks[i]
	o := chat.Options{Date: opt.Chat.Date, AddGenerationPrompt: true}
	if opt.Against == AgainstMessages {
		o.EnableThinking = &a.req.Sampling.Think
		r, err := opt.Template.Render(conversation(a.req), o)
		return r, chat.Span{Start: len(r.Text), End: len(r.Text)}, true, err
	}
	if a.said >= len(t.said) {
		return chat.Rendered{}, chat.Span{}, false, nil
	}
	at := t.said[a.said]
	before := chat.Conversation{Messages: t.row.Messages[:at], Tools: t.row.Tools}
	for _, s := range t.text.Find(chat.FieldTurn) {
		if s.Message != at {
			continue
		}
		// Of a template in Jinja the place is a guess where it has more than
		// one prompt. A prompt that the text begins with tells it better.
		if opt.Template.Source != "" && len(a.served.text) < s.Start {
			r, err := opt.Template.Render(before, o)
			if err == nil && len(r.Text) < s.Start && strings.HasPrefix(t.text.Text, r.Text) {
				s.Start = len(r.Text)
			}
		}
		return t.text, s, true, nil
	}
	// The template does not tell where the message is: the prompt for it is
	// that of the messages before.
	r, err := opt.Template.Render(before, o)
	return r, chat.Span{Start: len(r.Text), End: len(r.Text)}, true, err
}

// rewritten reports whether the prompt is what the template makes of the messages
// of the row up to there, so that only the rest of the row made it differ.
func (t *talk) rewritten(a ask, opt *Options) bool {
	if opt.Against != AgainstRows || a.said >= len(t.said) {
		return false
	}
	before := chat.Conversation{Messages: t.row.Messages[:t.said[a.said]], Tools: t.row.Tools}
	r, err := opt.Template.Render(before, chat.Options{Date: opt.Chat.Date, AddGenerationPrompt: true, EnableThinking: &a.req.Sampling.Think})
	return err == nil && strings.TrimPrefix(r.Text, startMark(r.Text)) == strings.TrimPrefix(a.served.text, startMark(a.served.text))
}

// conversation returns the messages and tools of a request.
func conversation(req model.Request) chat.Conversation {
	c := chat.Conversation{Tools: req.Tools}
	var open []string // names of calls that have no reply yet
	for _, m := range req.Messages {
		out := chat.Message{Role: chat.Role(m.Role), Content: m.Content, Calls: m.Calls}
		switch {
		case m.Role == model.Assistant:
			open = nil
			for _, call := range m.Calls {
				open = append(open, call.Name)
			}
		case m.Role == model.ToolRole && len(open) > 0:
			out.Name, open = open[0], open[1:]
		}
		c.Messages = append(c.Messages, out)
	}
	return c
}
