package parity

import (
	"strings"
	"unicode/utf8"

	"assay/chat"
	"assay/eval"
	"assay/model"
	"assay/qaoa"
	"assay/train"
)

// A Difference is where a prompt is not the training text.
type Difference struct {
	ID      string `json:"id"`
	Turn    int    `json:"turn"`    // 1-based
	Request int    `json:"request"` // of the record, 1-based
	// At is how many bytes of the training text are equal. Field names what
	// stands there in it: a [chat.Field], "frame" for what the template writes
	// between fields, "end" behind the end of the prompt, "tokens" where the
	// texts are equal and the ids are not, "count" where only these are known.
	At    int    `json:"at"`
	Field string `json:"field"`
	// Message is the place of the field in the messages of the row, from 0; -1
	// in tools and where it is not known. Item is the number of the tool or
	// call.
	Message int `json:"message"`
	Item    int `json:"item"`
	// Before is the equal text there, shortened; Trained and Served are how
	// the two go on, "" at an end.
	Before  string `json:"before"`
	Trained string `json:"trained"`
	Served  string `json:"served"`
	// The same as tokens, if there is a tokenizer. Token is how many are
	// equal.
	Token         int      `json:"token"`
	BeforeTokens  []string `json:"before_tokens,omitempty"`
	TrainedTokens []string `json:"trained_tokens,omitempty"`
	ServedTokens  []string `json:"served_tokens,omitempty"`
	// Counts of the whole prompts, where only these are known.
	TrainedCount int    `json:"trained_count,omitempty"`
	ServedCount  int    `json:"served_count,omitempty"`
	Why          string `json:"why,omitempty"`
}

// The fields of a Difference beside those of package chat.
const (
	fieldFrame  = "frame"
	fieldEnd    = "end"
	fieldTokens = "tokens"
	fieldCount  = "count"
)

// How much of a text or of tokens a difference shows.
const (
	shownBytes  = 60
	shownTokens = 8
)

// A comparison is of one prompt.
type comparison struct {
	opt      *Options
	method   Method
	rendered chat.Rendered
	turn     chat.Span // where the prompt may end
	served   served

	ahead bool // the prompt ends behind the start of turn
	split bool // it ends inside of a token of the whole text
}

// compare returns the first difference, nil if there is none.
func (c *comparison) compare() *Difference {
	if c.method == MethodCounts {
		return c.compareCounts()
	}
	skip := 0
	if mark := startMark(c.rendered.Text); !strings.HasPrefix(c.served.text, mark) {
		skip = len(mark) // the server writes it when it makes tokens
	}
	trained := c.rendered.Text[skip:]
	n := common(trained, c.served.text)
	end := n + skip
	if n < len(c.served.text) || end < c.turn.Start || end > c.turn.End {
		// Where the model's own words begin, all that follows is one thing.
		if end > c.turn.Start {
			end = c.turn.Start
		}
		return c.textDifference(end, c.served.text[end-skip:])
	}
	c.ahead = end > c.turn.Start
	if c.opt.Tokenizer == nil {
		return nil
	}
	if _, ends := c.opt.Tokenizer.Offsets(c.rendered.Text); !contains(ends, end) {
		c.split = end > 0 && end < len(c.rendered.Text)
	}
	if c.method != MethodTokens {
		return nil
	}
	want := c.opt.Tokenizer.Encode(c.rendered.Text[:end])
	k := 0
	for k < len(want) && k < len(c.served.ids) && want[k] == c.served.ids[k] {
		k++
	}
	if k == len(want) && k == len(c.served.ids) {
		return nil
	}
	_, ends := c.opt.Tokenizer.Offsets(c.rendered.Text[:end])
	d := &Difference{Field: fieldTokens, Message: -1, Token: k, TrainedCount: len(want), ServedCount: len(c.served.ids)}
	if k > 0 {
		d.At = ends[min(k, len(ends))-1]
	}
	d.Before, d.Trained, d.Served = tail(c.rendered.Text[:d.At]), head(c.rendered.Text[d.At:end]), c.opt.Tokenizer.Decode(c.served.ids[k:min(k+shownTokens, len(c.served.ids))])
	c.tokens(d, want, c.served.ids)
	return d
}

// compareCounts compares how many tokens there are.
func (c *comparison) compareCounts() *Difference {
	// What a template adds for the message to come may be in the row's own
	// words, so more than the start of the turn is right too.
	least := c.opt.Tokenizer.Count(c.rendered.Text[:c.turn.Start])
	want := []int{least}
	if mark := emptyThought(c.rendered.Text[c.turn.Start:]); mark != "" {
		want = append(want, c.opt.Tokenizer.Count(c.rendered.Text[:c.turn.Start+len(mark)]))
	}
	for i, n := range want {
		if n == c.served.count {
			c.ahead = i > 0
			return nil
		}
	}
	return &Difference{Field: fieldCount, Message: -1, TrainedCount: least, ServedCount: c.served.count, Before: tail(c.rendered.Text[:c.turn.Start])}
}

// textDifference describes a difference at a byte of the training text, where
// the prompt goes on with rest.
func (c *comparison) textDifference(at int, rest string) *Difference {
	d := &Difference{At: at, Field: fieldFrame, Message: -1}
	end := len(c.rendered.Text)
	if rest == "" || at >= c.turn.Start {
		d.Field, d.Message = fieldEnd, c.turn.Message
	} else if s, ok := innermost(c.rendered.Spans, at); ok {
		d.Field, d.Message, d.Item = string(s.Field), s.Message, s.Item
	}
	if d.Field == fieldEnd && at < c.turn.Start {
		end = c.turn.Start
	}
	d.Before, d.Trained, d.Served = tail(c.rendered.Text[:at]), head(c.rendered.Text[at:end]), head(rest)
	if c.opt.Tokenizer != nil {
		whole := c.rendered.Text[:at] + rest
		want, have := c.opt.Tokenizer.Encode(c.rendered.Text), c.opt.Tokenizer.Encode(whole)
		for d.Token < min(len(want), len(have)) && want[d.Token] == have[d.Token] {
			d.Token++
		}
		c.tokens(d, want, have)
	}
	return d
}

// tokens fills in the tokens around d.Token.
func (c *comparison) tokens(d *Difference, trained, served []int) {
	d.BeforeTokens = c.names(trained[max(0, d.Token-shownTokens):d.Token])
	d.TrainedTokens = c.names(trained[d.Token:min(d.Token+shownTokens, len(trained))])
	d.ServedTokens = c.names(served[d.Token:min(d.Token+shownTokens, len(served))])
}

// names returns tokens as their text.
func (c *comparison) names(ids []int) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = c.opt.Tokenizer.Decode([]int{id})
	}
	return out
}

// innermost returns the shortest span of a field that holds a byte; the turn of
// a message is none.
func innermost(spans []chat.Span, at int) (best chat.Span, ok bool) {
	for _, s := range spans {
		if s.Field == chat.FieldTurn || s.Field == chat.FieldGeneration || at < s.Start || at > s.End {
			continue
		}
		// The end of a field belongs to it unless another one begins there:
		// text may follow that the row lacks.
		if at == s.End && ok && best.Start <= at && at < best.End {
			continue
		}
		if !ok || s.End-s.Start < best.End-best.Start || at == best.End && at < s.End {
			best, ok = s, true
		}
	}
	return best, ok
}

// startMarks are the tokens that begin a text, and that servers may add by
// themselves.
var startMarks = []string{"<|begin_of_text|>", "<s>", "<bos>"}

// startMark returns the one that text begins with, or "".
func startMark(text string) string {
	for _, m := range startMarks {
		if strings.HasPrefix(text, m) {
			return m
		}
	}
	return ""
}

// emptyThought returns the thought without content that text begins with, or "".
func emptyThought(text string) string {
	const open, end = "<think>", "</think>"
	rest, ok := strings.CutPrefix(text, open)
	if !ok {
		return ""
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \n"), end)
	if !ok {
		return ""
	}
	return text[:len(text)-len(strings.TrimLeft(rest, " \n"))]
}

// why guesses at the cause of a difference, in terms of what to do. "" is no
// idea.
func why(d *Difference, req model.Request, opt *Options) string {
	rows := opt.Against == AgainstRows
	switch {
	case d.Field == fieldTokens:
		return "the texts are equal, so the server's tokenizer is another one, or it adds a token by itself"
	case d.Field == fieldCount:
		return ""
	case emptyThought(d.Served) != "" && emptyThought(d.Trained) == "":
		return "the prompt holds an empty thought that the training text has not: run with --think on, or train on rows with empty thoughts"
	case rows && opt.Run.Compat != "":
		return "--compat asks in another form than any training row has"
	case rows && req.Tools == nil && len(req.Case.Record.Tools) > 0 && d.Message <= 0 && !strings.Contains(d.Before, "<|im_start|>user"):
		return "the run writes the tools into the system message, and the rows leave them to the template: run with --calls native"
	case rows && d.Field == string(chat.FieldSystem):
		return "the system text of the rows is another one: train with the --system-prompt of the run, or run with that of the rows"
	case rows && observed(d, req.Case.Record) && opt.Rows.Projection != train.Full && opt.Run.Observe != eval.ObserveEmpty:
		return "action-only rows have empty observations, and the run shows what gold returned: run with --observe empty, or train with --projection full"
	case rows && opt.Run.Flow == eval.FlowGuided && opt.Rows.Grouping != train.EachCall && parallel(req.Case.Record.Turns[req.Turn]):
		return "a guided flow shows one call at a time: train with --parallel each, or run with --flow free"
	case d.Field == string(chat.FieldArguments) && req.Tools != nil:
		return "the server words arguments in another way than the trainer's template"
	case d.Message == -1 && strings.HasPrefix(d.Field, "tool"):
		return "the server words tools in another way than the trainer's template"
	}
	return ""
}

// parallel reports whether a step of t has several calls.
func parallel(t qaoa.Turn) bool {
	for _, s := range t.Steps {
		if len(s.Calls) > 1 {
			return true
		}
	}
	return false
}

// observed reports whether the prompt goes on with what a call of rec returned.
func observed(d *Difference, rec qaoa.Record) bool {
	for _, t := range rec.Turns {
		for _, s := range t.Steps {
			for _, o := range s.Observations {
				if o != "" && strings.HasPrefix(strings.TrimLeft(d.Served, "\" \n"), o[:min(len(o), shownBytes/2)]) {
					return true
				}
			}
		}
	}
	return false
}

func contains(sorted []int, x int) bool {
	for _, v := range sorted {
		if v >= x {
			return v == x
		}
	}
	return false
}

// common returns how many bytes a and b have in common at their beginning, not
// ending inside of a character.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// head returns the beginning of s, tail its end.
func head(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return strings.ToValidUTF8(s[:shownBytes], "") + "…"
}

func tail(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-shownBytes:], "")
}
