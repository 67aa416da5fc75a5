package eval

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/goccy/go-json"

	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// The kinds of places in a conversation of the reference: it asks about each
// call and each answer, in the order of the record.
type placeKind uint8

const (
	placeQuery placeKind = iota
	placeCall
	placeResponse // follows its call
	placeAnswer
)

// A place is one message of the gold conversation, and what stands there now.
type place struct {
	kind placeKind
	turn int
	text string // of a query; of a call or an answer as the model wrote it; what a call returned
	gold string // what a call returned by the record
	ok   bool   // a call or an answer that the model gave
}

// A refTalk is one conversation as the reference leads it.
type refTalk struct {
	a      *asker
	p      pair
	tools  string // as the system message shows them
	places []place
	last   string // the last query
}

// askAsReference leads a conversation as the released runner does: one request
// per gold call and one per answer, each with everything before it told in the
// system message, as far as the faults in [Options.Compat] are not repaired.
func (a *asker) askAsReference(ctx context.Context, p pair, res Result) Result {
	r := newRefTalk(a, p)
	res.Turns = make([]qaoa.Turn, len(p.rec.Turns))
	var gold *oracle
	slot, stopped := 0, false
	for pos := range r.places {
		here := &r.places[pos]
		switch here.kind {
		case placeQuery:
			slot, gold = 0, newOracle(p.rec.Turns[here.turn], p.rec.Tools)
			continue
		case placeResponse:
			continue
		}
		if stopped {
			break
		}
		slot++
		req := a.requestFor(p, here.turn)
		req.Slot, req.Messages = slot, r.messages(pos)
		reply, err := a.m.Chat(ctx, req)
		if err != nil {
			res.Turns, res.Fail = nil, failure(err, here.turn)
			return res
		}
		x := r.exchange(reply, req)
		turn := &res.Turns[here.turn]
		if here.kind == placeAnswer {
			here.text, here.ok = r.readAnswer(reply)
			turn.Answer = here.text
		} else if err := r.fill(ctx, pos, reply, gold, turn, &x); err != nil {
			res.Turns, res.Fail = nil, failure(err, here.turn)
			return res
		}
		x.Unfilled = !here.ok
		res.Requests = append(res.Requests, x)
		stopped = !here.ok && a.opt.Compat.has(faultStop)
	}
	return res
}

func newRefTalk(a *asker, p pair) *refTalk {
	r := &refTalk{a: a, p: p, tools: referenceTools(p.rec.Tools)}
	for i, t := range p.rec.Turns {
		r.last = t.Query
		r.places = append(r.places, place{kind: placeQuery, turn: i, text: t.Query})
		for _, s := range t.Steps {
			for k := range s.Calls {
				r.places = append(r.places, place{kind: placeCall, turn: i}, place{kind: placeResponse, turn: i, gold: s.Observation(k)})
			}
		}
		r.places = append(r.places, place{kind: placeAnswer, turn: i})
	}
	return r
}

// referenceTools returns tools as an indented JSON array.
func referenceTools(tools []qaoa.Tool) string {
	var b bytes.Buffer
	flat := qaoa.AppendTools(nil, tools)
	if err := json.Indent(&b, flat, "", "  "); err != nil {
		return string(flat) // what a record holds is JSON
	}
	return b.String()
}

func (r *refTalk) has(fault string) bool { return r.a.opt.Compat.has(fault) }

// fill puts the first call of a reply into its slot, and what it returned into
// the place after it.
func (r *refTalk) fill(ctx context.Context, pos int, reply model.Reply, gold *oracle, turn *qaoa.Turn, x *Exchange) error {
	text, call, ok := r.readCall(reply)
	r.places[pos].text, r.places[pos].ok = text, ok
	if !ok {
		return nil
	}
	if call.Raw != "" {
		x.Class = string(toolcall.ClassMalformed)
	}
	step := qaoa.Step{Calls: []qaoa.Call{call}}
	if !r.has(faultBlank) {
		obs, _ := gold.observe(step.Calls)
		obs, err := r.a.returned(ctx, r.p.rec.Tools, step.Calls, obs, x)
		if err != nil {
			return err
		}
		step.Observations = obs
		r.places[pos+1].text = step.Observation(0)
	}
	turn.Steps = append(turn.Steps, step)
	return nil
}

// exchange describes a reply by our own reading of it.
func (r *refTalk) exchange(reply model.Reply, req model.Request) Exchange {
	x, calls, _ := r.a.read(reply, r.p.rec.Tools)
	x.Turn, x.Slot, x.PromptBytes = req.Turn, req.Slot, contentBytes(req.Messages)
	x.Extra = max(len(calls)-1, 0)
	return x
}

// text returns what of a reply is read.
func (r *refTalk) text(reply model.Reply) string {
	text := reply.Text
	if r.has(faultReasoning) && reply.Reasoning != "" {
		text = reply.Reasoning
	}
	if !r.has(faultThoughts) {
		text = spoken(text)
	}
	return text
}

// readCall returns the first call of a reply as the model wrote it and as a
// call, and whether there is one.
func (r *refTalk) readCall(reply model.Reply) (string, qaoa.Call, bool) {
	text := r.text(reply)
	if !r.has(faultTags) {
		got := toolcall.Parse(text, toolcall.Options{Strict: r.a.opt.Strict, Tools: r.p.rec.Tools})
		if len(got.Calls) == 0 {
			return "", qaoa.Call{}, false
		}
		c := got.Calls[0]
		if c.Raw != "" {
			return c.Raw, c, true
		}
		return string(qaoa.AppendCall(nil, c)), c, true
	}
	inner, ok := between(text, "<tool_call>", "</tool_call>")
	if !ok || inner == "" {
		return "", qaoa.Call{}, false
	}
	args, err := qaoa.Compact(inner)
	if err != nil {
		return inner, qaoa.Call{Raw: inner}, true
	}
	return inner, qaoa.ReadCall(args), true
}

// readAnswer returns the answer in a reply, and whether there is one.
func (r *refTalk) readAnswer(reply model.Reply) (string, bool) {
	text := r.text(reply)
	answer, ok := "", false
	if !r.has(faultTags) {
		got := toolcall.Parse(text, toolcall.Options{Strict: r.a.opt.Strict, Tools: r.p.rec.Tools})
		answer, ok = got.Answer, got.Answer != "" || strings.Contains(text, openAnswer)
	} else if answer, ok = between(text, openAnswer, closeAnswer); !ok {
		_, after, open := strings.Cut(text, openAnswer) // the end tag is missing
		answer = strings.TrimSpace(after)
		ok = open && answer != ""
	}
	if answer == "" && r.has(faultEmptyAnswer) {
		ok = false
	}
	return answer, ok
}

// between returns what stands between the first pair of tags, trimmed.
func between(text, open, end string) (string, bool) {
	_, after, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(after, end)
	return strings.TrimSpace(inner), ok
}

// messages returns the request about a call or an answer.
func (r *refTalk) messages(pos int) []model.Message {
	here, history := r.places[pos], r.history(pos)
	var user string
	withUser := true
	if before := r.places[pos-1]; here.kind == placeAnswer {
		user = responseText(r.shown(pos))
	} else if before.kind == placeResponse { // a call after a call
		user = responseText(before.text)
	} else {
		if user = r.last; !r.has(faultLastQuery) {
			user = before.text
		}
		if r.has(faultBareFirst) && r.firstCall(pos) || here.turn == 0 {
			history = nil
		}
		withUser = !r.has(faultNoUser) || len(history) == 0 || lastQuery(history) != user
	}
	if !r.has(faultSystemHistory) {
		return r.asMessages(history, user, withUser, here.kind == placeCall)
	}
	system := r.p.system
	if len(history) > 0 {
		system += "\n\n<chat_history>\n" + strings.Join(historyLines(history), "\n") + "\n</chat_history>"
	}
	if here.kind == placeCall {
		system += "\n\n<tools>\n" + r.tools + "\n</tools>"
	}
	out := []model.Message{{Role: model.System, Content: system}}
	if withUser {
		out = append(out, model.Message{Role: model.User, Content: user})
	}
	return out
}

// firstCall reports whether no call stands before pos.
func (r *refTalk) firstCall(pos int) bool {
	return !slices.ContainsFunc(r.places[:pos], func(p place) bool { return p.kind == placeCall })
}

// lastResponse returns the place of the last response before pos, -1 if there
// is none.
func (r *refTalk) lastResponse(pos int) int {
	for i := pos - 1; i >= 0; i-- {
		if r.places[i].kind == placeResponse {
			return i
		}
	}
	return -1
}

// shown returns the text of the response that is the user message of the
// answer slot at pos: the last one of its turn.
func (r *refTalk) shown(pos int) string {
	if p := r.places[pos-1]; p.kind == placeResponse {
		return p.text
	}
	return ""
}

// history returns what a request about the place pos tells of the places
// before it.
func (r *refTalk) history(pos int) []place {
	here := r.places[pos]
	last := r.lastResponse(pos)
	var out []place
	for i, p := range r.places[:pos] {
		switch p.kind {
		case placeCall, placeAnswer:
			if p.ok {
				break
			}
			if !r.has(faultNull) {
				continue
			}
			if here.kind == placeCall || p.kind == placeAnswer {
				return out
			}
			p.text = "None"
		case placeResponse:
			if !r.has(faultNull) && !r.places[i-1].ok || r.leftOut(i, last, here) {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// leftOut reports whether the response at place i is not told before here,
// where last is the place of the last response.
func (r *refTalk) leftOut(i, last int, here place) bool {
	switch {
	case i == last && r.places[i].turn == here.turn:
		return true // it is the user message
	case !r.has(faultLost):
		return false
	case here.kind == placeAnswer:
		return r.places[i].gold == r.places[last].gold
	}
	return i == last
}

// lastQuery returns the text of the last query in a history.
func lastQuery(history []place) string {
	for _, p := range slices.Backward(history) {
		if p.kind == placeQuery {
			return p.text
		}
	}
	return ""
}

// historyLines writes a history as the lines of the block in the system
// message.
func historyLines(history []place) []string {
	lines := make([]string, len(history))
	for i, p := range history {
		switch p.kind {
		case placeQuery:
			lines[i] = "User query: " + p.text
		case placeCall:
			lines[i] = "Tool call: " + p.text
		case placeResponse:
			lines[i] = "Tool response: " + p.text
		case placeAnswer:
			lines[i] = "Assistant reply: " + p.text
		}
	}
	return lines
}

// asMessages writes a history as messages between the system message and the
// user message. A query that the user message says is not said twice.
func (r *refTalk) asMessages(history []place, user string, withUser, tools bool) []model.Message {
	system := r.p.system
	if tools {
		system += "\n\n<tools>\n" + r.tools + "\n</tools>"
	}
	out := []model.Message{{Role: model.System, Content: system}}
	for i, p := range history {
		switch p.kind {
		case placeQuery:
			if i < len(history)-1 || !withUser || p.text != user {
				out = append(out, model.Message{Role: model.User, Content: p.text})
			}
		case placeCall:
			out = append(out, model.Message{Role: model.Assistant, Content: "<tool_call>\n" + p.text + "\n</tool_call>"})
		case placeResponse:
			out = append(out, model.Message{Role: model.User, Content: responseText(p.text)})
		case placeAnswer:
			out = append(out, model.Message{Role: model.Assistant, Content: openAnswer + p.text + closeAnswer})
		}
	}
	// A response that says nothing is not worth two messages of the user in a
	// row, which many chat templates refuse.
	if withUser && (user != emptyResponse || out[len(out)-1].Role != model.User) {
		out = append(out, model.Message{Role: model.User, Content: user})
	}
	return out
}

// responseText is what a call returned, as a message of the user.
func responseText(observation string) string {
	if observation == "" {
		return emptyResponse
	}
	return model.ToolResponse + "\n" + observation + "\n</tool_response>"
}
