package preflight

import (
	"fmt"
	"strings"
	"unicode"

	"assay/chat"
)

// A part is a piece of the rendered row that is encoded on its own.
type part struct {
	start, end int
	ends       []int // of tokens, relative to start
	kept       int   // tokens
}

// keptEnd returns where what is kept of the part ends.
func (p part) keptEnd() int {
	if p.kept == 0 {
		return p.start
	}
	return p.start + p.ends[p.kept-1]
}

func (p part) whole() bool { return p.kept == len(p.ends) }

// A layout is a rendered row with its mask and its cut.
type layout struct {
	text    chat.Rendered
	parts   []part
	trained []chat.Span // sorted, apart from each other
}

// measure renders the conversation, and finds what is cut and trained.
func measure(row *Row, in ingested, o Options) *layout {
	r, err := o.Template.Render(in.conv, chat.Options{})
	if err != nil {
		row.add(TemplateError, "", "%s", err)
		return nil
	}
	l := &layout{text: r, trained: mask(r, in, o)}
	l.split(o)
	for i, p := range l.parts {
		row.Tokens += len(p.ends)
		l.parts[i].kept = len(p.ends)
	}
	l.cut(row, o)
	for _, p := range l.parts {
		row.Kept += p.kept
		row.Trained += l.trainedIn(p)
	}
	l.judge(row, in, o)
	return l
}

// mask returns what the trainer puts into the loss.
func mask(r chat.Rendered, in ingested, o Options) []chat.Span {
	if o.Trainer == TRL {
		if !o.AssistantOnly {
			return []chat.Span{{Start: 0, End: len(r.Text)}}
		}
		// Marks that the template lacks are TRL's own for families that it
		// knows; for templates of others the mask is empty.
		if o.Template.Source == "" {
			return r.Find(chat.FieldTurn)
		}
		return r.Find(chat.FieldGeneration)
	}
	var out []chat.Span
	for _, s := range r.Find(chat.FieldTurn) {
		silent := false
		for _, m := range in.silent {
			silent = silent || m == s.Message
		}
		if o.Trainer == LlamaFactory {
			s.End = behindBlanks(r.Text, s.End)
		}
		if !silent {
			out = append(out, s)
		}
	}
	return out
}

// split makes the parts: for LLaMA-Factory, which encodes each prompt and each
// reply on its own, the turns and what is between them; else the whole text.
func (l *layout) split(o Options) {
	text := l.text.Text
	add := func(start, end int) {
		l.parts = append(l.parts, part{start: start, end: end, ends: o.ends(text[start:end])})
	}
	at := 0
	if o.Trainer == LlamaFactory {
		for _, s := range l.text.Find(chat.FieldTurn) {
			if s.Start < at {
				continue
			}
			add(at, s.Start)
			end := behindBlanks(text, s.End)
			add(s.Start, end)
			at = end
		}
	}
	if at == 0 || at < len(text) {
		add(at, len(text))
	}
}

// behindBlanks returns the place behind the blanks at a place: LLaMA-Factory's
// templates count the line break behind a reply as a part of it.
func behindBlanks(text string, at int) int {
	return len(text) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
}

// trainedIn counts the tokens of a part that are kept and in the loss.
func (l *layout) trainedIn(p part) int {
	n, start, k := 0, p.start, 0
	for _, end := range p.ends[:p.kept] {
		end += p.start
		for k < len(l.trained) && l.trained[k].End < end {
			k++
		}
		if k < len(l.trained) && l.trained[k].Start <= start {
			n++
		}
		start = end
	}
	return n
}

// cut applies the cutoff.
func (l *layout) cut(row *Row, o Options) {
	limit := o.cutoff()
	if limit == 0 || row.Tokens <= limit {
		return
	}
	switch {
	case o.Trainer.deletes():
		row.add(OverLong, "", "want at most %d tokens, have %d", limit, row.Tokens)
		return
	case o.Trainer == LlamaFactory:
		l.proportional(limit)
	default:
		l.parts[0].kept = limit
	}
	row.Outcome = Cut
}

// proportional cuts as infer_seqlen of LLaMA-Factory does: each pair of prompt
// and reply gets its share of what is left of the limit, the reply first if it
// needs less than half of it; when nothing is left, the rest is left out.
func (l *layout) proportional(limit int) {
	left := limit
	for i := 0; i < len(l.parts); i += 2 {
		source, target := len(l.parts[i].ends), 0
		if i+1 < len(l.parts) {
			target = len(l.parts[i+1].ends)
		}
		if left <= 0 {
			source, target = 0, 0
		}
		source, target = keep(source, target, left)
		l.parts[i].kept = source
		if i+1 < len(l.parts) {
			l.parts[i+1].kept = target
		}
		left -= source + target
	}
}

// keep returns how much is kept of a prompt and a reply.
func keep(source, target, limit int) (int, int) {
	room := limit
	switch {
	case target*2 < limit:
	case source*2 < limit:
		room = limit - source
	default:
		room = limit * target / max(source+target, 1)
	}
	target = min(target, room)
	return min(source, max(limit-target, 0)), target
}

// judge adds what follows from mask and cut.
func (l *layout) judge(row *Row, in ingested, o Options) {
	l.lostCalls(row, in)
	if row.Outcome == Cut {
		l.where(row, in, o)
	}
	if row.usable() && row.Trained == 0 {
		why := "no message of the assistant is left"
		if o.Trainer == TRL && o.AssistantOnly {
			why = "the template has no generation marks"
		}
		row.add(EmptyMask, "", "want trained tokens, have none of %d: %s", row.Kept, why)
	}
	if o.Trainer == TRL && !o.AssistantOnly {
		row.add(PromptTrained, "", "all %d tokens are trained on, also those that the model only reads", row.Kept)
	} else if row.Trained > 0 {
		l.untrained(row)
	}
	if len(in.conv.Tools) > 0 && len(l.text.Find(chat.FieldTool))+len(l.text.Find(chat.FieldToolName)) == 0 {
		row.add(ToolsNotShown, "", "want %d tools in the text, have none", len(in.conv.Tools))
	}
}

// untrained finds a call outside of the mask.
func (l *layout) untrained(row *Row) {
	for _, s := range l.text.Find(chat.FieldArguments) {
		if !l.inMask(s) {
			row.add(CallNotTrained, "", "call %d of message %d is not in the loss", s.Item, s.Message)
			return
		}
	}
}

func (l *layout) inMask(s chat.Span) bool {
	for _, t := range l.trained {
		if t.Start <= s.Start && s.End <= t.End {
			return true
		}
	}
	return false
}

// isKept reports whether a span is wholly kept.
func (l *layout) isKept(s chat.Span) bool {
	for _, p := range l.parts {
		if p.start <= s.Start && s.End <= p.end {
			return s.End <= p.keptEnd()
		}
	}
	return false
}

// lostCalls counts calls, and those that are not wholly trained on.
func (l *layout) lostCalls(row *Row, in ingested) {
	for _, m := range in.conv.Messages {
		row.Calls += len(m.Calls)
	}
	if !row.usable() {
		row.CallsLost = row.Calls
		return
	}
	lost := map[[2]int]bool{}
	for _, f := range []chat.Field{chat.FieldCallName, chat.FieldArguments} {
		for _, s := range l.text.Find(f) {
			if !l.isKept(s) {
				lost[[2]int{s.Message, s.Item}] = true
			}
		}
	}
	row.CallsLost = min(len(lost), row.Calls)
}

// where tells what the cut goes through: the gravest place counts.
func (l *layout) where(row *Row, in ingested, o Options) {
	best, detail := CutTurns, "whole messages are left out"
	rank := map[Code]int{CutInCall: 3, CutInAnswer: 2, CutInPrompt: 1}
	for _, p := range l.parts {
		if p.whole() || p.kept == 0 {
			continue
		}
		code, what := l.at(p.keptEnd(), in)
		if rank[code] > rank[best] {
			best, detail = code, what
		}
	}
	row.add(best, "", "want at most %d tokens, have %d: %s; %d of %d calls are lost", o.cutoff(), row.Tokens, detail, row.CallsLost, row.Calls)
}

// at returns what a place of the text is in.
func (l *layout) at(pos int, in ingested) (Code, string) {
	var inner *chat.Span
	for i, s := range l.text.Spans {
		if s.Start < pos && pos < s.End && s.Field != chat.FieldGeneration && (inner == nil || s.End-s.Start <= inner.End-inner.Start) {
			inner = &l.text.Spans[i]
		}
	}
	if inner == nil {
		return CutInPrompt, "cut between messages"
	}
	switch inner.Field {
	case chat.FieldArguments, chat.FieldCallName:
		return CutInCall, fmt.Sprintf("cut in the %s of call %d of message %d", strings.TrimPrefix(string(inner.Field), "call_"), inner.Item, inner.Message)
	case chat.FieldContent, chat.FieldReasoning, chat.FieldTurn:
		// The frame of a call is a part of it.
		if inner.Field == chat.FieldTurn && inner.Message >= 0 && inner.Message < len(in.conv.Messages) && len(in.conv.Messages[inner.Message].Calls) > 0 {
			return CutInCall, fmt.Sprintf("cut in the frame of the calls of message %d", inner.Message)
		}
		return CutInAnswer, fmt.Sprintf("cut in what the assistant says in message %d", inner.Message)
	}
	return CutInPrompt, fmt.Sprintf("cut in the %s of message %d", inner.Field, inner.Message)
}
