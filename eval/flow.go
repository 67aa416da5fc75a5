package eval

import (
	"fmt"

	"assay/model"
	"assay/qaoa"
)

// A Flow says who decides how many requests a turn takes.
type Flow string

// The flows.
const (
	// FlowFree lets the model decide: it is asked until it answers without a
	// call. Over-calling, early stops and abstention are visible.
	FlowFree Flow = "free"
	// FlowGuided puts one request per call slot, that is, per gold call, and no
	// more, in the order of the record; the first call of a reply fills the
	// slot. A turn without a gold call is not asked about. Neither too many
	// calls nor a stop can be seen: it is the way in which the paper's own
	// scores were made (UniToolCall, section 4.1).
	FlowGuided Flow = "guided"
)

// ParseFlow returns the flow of that name; "" is [FlowFree].
func ParseFlow(s string) (Flow, error) {
	switch f := Flow(s); f {
	case "":
		return FlowFree, nil
	case FlowFree, FlowGuided:
		return f, nil
	}
	return "", fmt.Errorf("--flow %q: want free or guided", s)
}

// slotsOf returns the gold calls of a turn in order: the slots of a guided
// flow. Calls of one step are slots one after the other.
func slotsOf(t qaoa.Turn) []qaoa.Call {
	var calls []qaoa.Call
	for _, s := range t.Steps {
		calls = append(calls, s.Calls...)
	}
	return calls
}

// requestFor returns the request that all requests about a turn begin as.
func (a *asker) requestFor(p pair, turn int) model.Request {
	sampling := a.opt.Sampling
	sampling.Seed += int64(p.repeat)
	req := model.Request{
		Sampling: sampling,
		Case:     &model.Case{Record: p.rec, Repeat: p.repeat, Seed: uint64(sampling.Seed)},
		Turn:     turn,
	}
	if a.opt.Calls == CallsNative {
		req.Tools = p.rec.Tools
		req.ToolChoice, req.ParallelCalls = a.opt.ToolChoice, a.opt.ParallelCalls
	}
	return req
}
