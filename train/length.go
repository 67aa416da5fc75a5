package train

import (
	"fmt"
	"strings"

	"assay/chat"
	"assay/qaoa"
	"assay/tokenizer"
)

// A Counter counts the tokens of a text, as a model's tokenizer does.
type Counter interface {
	Count(text string) int
}

// An OverLong is what becomes of a row with more tokens than [Length.Max].
type OverLong string

const (
	// DropLong rejects the record. A trainer would cut the row, often inside
	// of a call.
	DropLong OverLong = "drop"
	// SplitLong cuts the record at ends of turns, into as few rows as hold
	// it when filled in order. A row that begins later lacks what was said
	// before, which is the loss [LostHistory]. A turn that is too long by
	// itself rejects the record.
	SplitLong OverLong = "split"
	// KeepLong keeps the row, and counts it.
	KeepLong OverLong = "keep"
)

// EstimateName is what a manifest calls the tokenizer where there is none.
const EstimateName = "estimate: bytes/3"

// An Estimate counts tokens without a tokenizer, see [tokenizer.Estimate].
type Estimate struct{}

// Count returns the bytes of text over 3, rounded up.
func (Estimate) Count(text string) int { return tokenizer.Estimate(len(text)) }

// A Length says how rows are measured and how long they may be. The zero value
// estimates, and limits nothing.
type Length struct {
	// Counter is the tokenizer; nil is [Estimate].
	Counter Counter
	// Name is the name of tokenizer and template, for the manifest.
	Name string
	// Template is the chat template that the trainer applies to a row. Nil
	// stands for all texts of the row, one after the other, without what a
	// template adds. Rows of [Hermes] are text already, and are counted as
	// they are.
	Template *chat.Template
	// Max is how many tokens a row may have; 0 is any number.
	Max int
	// OverLong is what becomes of longer rows; "" is DropLong.
	OverLong OverLong

	format Format
	plain  bool
}

func (l Length) complete() (Length, error) {
	fill(&l.OverLong, DropLong)
	switch {
	case l.OverLong != DropLong && l.OverLong != SplitLong && l.OverLong != KeepLong:
		return l, fmt.Errorf("over-long rows %q: want %s, %s or %s", l.OverLong, DropLong, SplitLong, KeepLong)
	case l.Max < 0:
		return l, fmt.Errorf("at most %d tokens: want 0 (any number) or more", l.Max)
	}
	if l.Counter == nil {
		l.Counter, l.Name = Estimate{}, EstimateName
		if l.Template != nil {
			l.Name += ", template " + l.Template.Name
		}
	}
	return l, nil
}

// tokens returns the length of a row.
func (l Length) tokens(r row) (int, error) {
	switch {
	case l.format == Hermes:
		return l.Counter.Count(hermesText(r, l.plain)), nil
	case l.Template == nil:
		return l.Counter.Count(r.text(l.plain)), nil
	}
	text, err := l.Template.Render(r.conversation(l.plain), chat.Options{})
	if err != nil {
		return 0, fmt.Errorf("%s: the chat template %s: %w", r.id, l.Template.Name, err)
	}
	return l.Counter.Count(text.Text), nil
}

// conversation returns what a template is given of r.
func (r row) conversation(plain bool) chat.Conversation {
	c := chat.Conversation{Tools: r.tools}
	add := func(m chat.Message) { c.Messages = append(c.Messages, m) }
	if r.system != "" {
		add(chat.Message{Role: chat.System, Content: r.system})
	}
	for i, t := range r.turns {
		last := r.openEnd && i == len(r.turns)-1
		add(chat.Message{Role: chat.User, Content: t.Query})
		for k, s := range t.Steps {
			add(chat.Message{Role: chat.Assistant, Content: r.saying(i, k), Calls: s.Calls})
			if last && k == len(t.Steps)-1 {
				return c
			}
			for n, call := range s.Calls {
				add(chat.Message{Role: chat.Tool, Content: s.Observation(n), Name: call.Name})
			}
		}
		add(chat.Message{Role: chat.Assistant, Content: answerText(t.Answer, plain)})
	}
	return c
}

// text returns all texts of r, a line each.
func (r row) text(plain bool) string {
	var b strings.Builder
	line := func(s string) {
		if s != "" {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	line(r.system)
	for _, t := range r.tools {
		line(string(qaoa.AppendTool(nil, t)))
	}
	for i, t := range r.turns {
		line(t.Query)
		for k, s := range t.Steps {
			line(r.saying(i, k))
			for n, c := range s.Calls {
				line(string(qaoa.AppendCall(nil, c)))
				line(s.Observation(n))
			}
		}
		line(answerText(t.Answer, plain))
	}
	return b.String()
}

// A piece is a row and which turns of its record it holds.
type piece struct {
	row      row
	from, to int // turns
	tokens   int
}

// measure returns the rows of r: itself, or the parts that it is split into,
// or why there are none. Notice is what to tell of one that is too long and
// kept.
func (l Length) measure(r row) (pieces []piece, notice, reject *Reject, err error) {
	n, err := l.tokens(r)
	if err != nil {
		return nil, nil, nil, err
	}
	whole := []piece{{r, 0, len(r.turns), n}}
	if l.Max == 0 || n <= l.Max {
		return whole, nil, nil, nil
	}
	rej := &Reject{ID: r.id, Code: TooLong, Detail: fmt.Sprintf("want at most %d tokens, have %d", l.Max, n)}
	switch l.OverLong {
	case KeepLong:
		rej.Detail += "; kept"
		return whole, rej, nil, nil
	case DropLong:
		return nil, nil, rej, nil
	}
	for from := 0; from < len(r.turns); {
		p, err := l.fill(r, from)
		if err != nil {
			return nil, nil, nil, err
		}
		if p.to == from {
			rej.Path = fmt.Sprintf("/turns/%d", from)
			rej.Detail = fmt.Sprintf("want at most %d tokens, and this turn alone has %d", l.Max, p.tokens)
			return nil, nil, rej, nil
		}
		p.row.id = fmt.Sprintf("%s~part%d", r.id, len(pieces)+1)
		pieces = append(pieces, p)
		from = p.to
	}
	rej.Detail += fmt.Sprintf("; split into %d rows", len(pieces))
	return pieces, rej, nil, nil
}

// fill returns the longest row that begins with a turn and is not too long; one
// with to == from if that turn is.
func (l Length) fill(r row, from int) (piece, error) {
	best := piece{from: from, to: from}
	for to := from + 1; to <= len(r.turns); to++ {
		part := r.part(from, to)
		n, err := l.tokens(part)
		if err != nil {
			return best, err
		}
		if n > l.Max {
			if to == from+1 {
				best.tokens = n
			}
			break
		}
		best = piece{part, from, to, n}
	}
	return best, nil
}

// part returns the row of some turns of r.
func (r row) part(from, to int) row {
	p := r
	p.turns = r.turns[from:to]
	p.openEnd = r.openEnd && to == len(r.turns)
	p.said = nil
	for _, s := range r.said {
		if from <= s.turn && s.turn < to {
			s.turn -= from
			p.said = append(p.said, s)
		}
	}
	return p
}
