package eval

import (
	"context"
	"errors"
	"slices"
	"strings"

	"assay/match"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// A pair is one record in one repeat, ready to be asked.
type pair struct {
	rec    qaoa.Record
	repeat int
	index  int
	key    string
	system string // rendered once per record
}

// An asker leads conversations.
type asker struct {
	m   model.Chatter
	opt Options
}

// ask leads the conversation of one pair.
func (a *asker) ask(ctx context.Context, p pair) Result {
	res := Result{Index: p.index, Key: p.key}
	res.ID, res.Repeat = p.rec.ID, p.repeat
	if a.opt.Compat.on() {
		return a.askAsReference(ctx, p, res)
	}
	d := newDialogue(p.system, a.opt.Calls)
	for i, gold := range p.rec.Turns {
		if i > 0 && a.opt.History == HistoryGold {
			d = newDialogue(p.system, a.opt.Calls)
			for _, t := range p.rec.Turns[:i] {
				d.gold(t)
			}
		}
		d.query(gold.Query)
		lead := a.turn
		if a.opt.Flow == FlowGuided {
			lead = a.guidedTurn
		}
		turn, err := lead(ctx, d, a.requestFor(p, i), gold, &res)
		if err != nil {
			res.Turns, res.Fail = nil, failure(err, i)
			return res
		}
		res.Turns = append(res.Turns, turn)
	}
	return res
}

// turn asks until the model answers without a call, makes calls that it has
// made before, or runs out of rounds.
func (a *asker) turn(ctx context.Context, d *dialogue, req model.Request, want qaoa.Turn, res *Result) (qaoa.Turn, error) {
	var turn qaoa.Turn
	gold := newOracle(want, req.Case.Record.Tools)
	made := map[string]bool{}
	for range a.rounds(gold) {
		req.Messages = slices.Clip(d.messages)
		reply, err := a.m.Chat(ctx, req)
		if err != nil {
			return turn, err
		}
		x, calls, answer := a.read(reply, req.Case.Record.Tools)
		x.Turn = req.Turn
		x.PromptBytes = contentBytes(req.Messages)
		if len(calls) == 0 {
			turn.Answer = answer
			d.said(spoken(reply.Text))
			res.Requests = append(res.Requests, x)
			return turn, nil
		}
		set := callSet(calls)
		obs, fresh := gold.observe(calls)
		if made[set] && !fresh {
			x.Repeated = true
			res.Requests = append(res.Requests, x)
			return turn, nil
		}
		made[set] = true
		obs, err = a.returned(ctx, req.Case.Record.Tools, calls, obs, &x)
		res.Requests = append(res.Requests, x)
		if err != nil {
			return turn, err
		}
		step := qaoa.Step{Calls: calls, Observations: obs}
		turn.Steps = append(turn.Steps, step)
		d.step(spoken(reply.Text), step)
	}
	return turn, nil
}

// rounds returns how many requests a turn may take.
func (a *asker) rounds(gold *oracle) int {
	if a.opt.MaxRounds > 0 {
		return a.opt.MaxRounds
	}
	return max(DefaultMaxRounds, gold.steps+1)
}

// read finds the calls and the answer in a reply.
func (a *asker) read(reply model.Reply, tools []qaoa.Tool) (x Exchange, calls []qaoa.Call, answer string) {
	x = Exchange{
		Text: reply.Text, Reasoning: reply.Reasoning, Calls: reply.Calls, Finish: reply.Finish,
		Usage: reply.Usage, Latency: reply.Latency, Attempts: reply.Attempts, Cached: reply.Cached,
	}
	got := toolcall.Parse(reply.Text, toolcall.Options{Strict: a.opt.Strict, Tools: tools})
	// Thoughts that the server delivers apart are thoughts like those in the
	// text: a call in them is none, but the model meant one.
	inThought := got.InThought || reply.Reasoning != "" && callInThought(reply.Reasoning, tools)
	if a.opt.Calls == CallsNative {
		x.Server = compareParsers(reply, got, inThought, tools)
	}
	if len(reply.Calls) > 0 {
		x.Rung, x.Class = "native", string(toolcall.ClassCalls)
		calls = slices.Clone(reply.Calls)
		for i, c := range calls {
			if c.Raw == "" && c.Name == "" {
				calls[i] = qaoa.Call{Raw: string(qaoa.AppendCall(nil, c))}
			}
			if calls[i].Raw != "" {
				x.Class = string(toolcall.ClassMalformed)
			}
		}
		return x, calls, ""
	}
	// A server that was given the tools may still leave calls in the text.
	x.Rung, x.Repairs, x.Class = got.Rung, got.Repairs, string(got.Class)
	if inThought && len(got.Calls) == 0 {
		x.Class = string(toolcall.ClassInThought)
	}
	return x, got.Calls, got.Answer
}

// callInThought reports whether a thought that was delivered apart holds a
// well-formed call in tags.
func callInThought(thought string, tools []qaoa.Tool) bool {
	const open, end = "<think>", "</think>"
	thought = strings.NewReplacer(open, "", end, "").Replace(thought)
	return toolcall.Parse(open+thought+end, toolcall.Options{Tools: tools}).InThought
}

// callSet names a set of calls, whatever their order.
func callSet(calls []qaoa.Call) string {
	texts := make([]string, len(calls))
	for i, c := range calls {
		texts[i] = string(qaoa.AppendCall(nil, c))
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

// failure words an error of a back end.
func failure(err error, turn int) *Failure {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return &Failure{Class: e.Class, Msg: e.Msg, Turn: turn, Attempts: e.Attempts}
	}
	return &Failure{Class: ClassOther, Msg: err.Error(), Turn: turn, Attempts: 1}
}

// An oracle knows what the gold calls of one turn returned.
type oracle struct {
	calls []qaoa.Call
	obs   []string
	free  []bool // gold calls that no predicted call has matched yet
	steps int
	tools []qaoa.Tool
	all   *match.Gold // of all calls; nil until it is needed
}

func newOracle(gold qaoa.Turn, tools []qaoa.Tool) *oracle {
	o := &oracle{steps: len(gold.Steps), tools: tools}
	for _, s := range gold.Steps {
		for i, c := range s.Calls {
			o.calls = append(o.calls, c)
			o.obs = append(o.obs, s.Observation(i))
			o.free = append(o.free, true)
		}
	}
	return o
}

// observe returns what calls return: the observation of the gold call that
// each matches flexibly under preset paper, "" where there is none. Gold calls
// that are still free come first; a call that only matches one that was made
// before gets the same observation again, as a real tool would give it. fresh
// reports whether a free one was matched.
func (o *oracle) observe(calls []qaoa.Call) (obs []string, fresh bool) {
	obs = make([]string, len(calls))
	matched := make([]bool, len(calls))
	var left []qaoa.Call
	var at []int
	for i, c := range o.calls {
		if o.free[i] {
			left, at = append(left, c), append(at, i)
		}
	}
	for _, p := range match.Prepare(left, o.tools, match.Options{}).Explain(calls) {
		if p.Gold >= 0 && p.Pred >= 0 && p.Verdict.Flexible {
			i := at[p.Gold]
			o.free[i], matched[p.Pred], fresh = false, true, true
			obs[p.Pred] = o.obs[i]
		}
	}
	for i := range calls {
		if matched[i] {
			continue
		}
		if o.all == nil {
			o.all = match.Prepare(o.calls, o.tools, match.Options{})
		}
		for _, p := range o.all.Explain(calls[i : i+1]) {
			if p.Gold >= 0 && p.Pred >= 0 && p.Verdict.Flexible {
				obs[i] = o.obs[p.Gold]
			}
		}
	}
	return obs, fresh
}
