package eval

import (
	"context"
	"slices"

	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// guidedTurn puts one request per gold call. The first call of a reply fills
// its slot; a reply without one leaves the slot unfilled, and the next slot is
// asked about all the same.
//
// What the next request shows of a slot is the model's own first call and what
// it returned, or with [HistoryGold] the gold call.
func (a *asker) guidedTurn(ctx context.Context, d *dialogue, req model.Request, turn qaoa.Turn, res *Result) (qaoa.Turn, error) {
	var out qaoa.Turn
	gold := newOracle(turn, req.Case.Record.Tools)
	for slot, want := range slotsOf(turn) {
		req.Slot = slot + 1
		req.Messages = slices.Clip(d.messages)
		reply, err := a.m.Chat(ctx, req)
		if err != nil {
			return out, err
		}
		x, calls, _ := a.read(reply, req.Case.Record.Tools)
		x.Turn, x.Slot, x.PromptBytes = req.Turn, req.Slot, contentBytes(req.Messages)
		x.Unfilled, x.Extra = len(calls) == 0, max(len(calls)-1, 0)
		shown, text := calls[:min(len(calls), 1)], spoken(reply.Text)
		if a.opt.History == HistoryGold {
			shown, text = []qaoa.Call{want}, ""
		}
		obs, _ := gold.observe(shown)
		obs, err = a.returned(ctx, req.Case.Record.Tools, shown, obs, &x)
		if err != nil {
			return out, err
		}
		res.Requests = append(res.Requests, x)
		if len(calls) > 0 {
			step := qaoa.Step{Calls: calls[:1:1]}
			if a.opt.History == HistoryOwn {
				step.Observations = obs
			}
			out.Steps = append(out.Steps, step)
		}
		if a.opt.Calls == CallsPrompt && (a.opt.History == HistoryGold || len(calls) > 1) {
			text = toolcall.Render(shown) // what filled the slot, and no more
		}
		d.slot(text, qaoa.Step{Calls: shown, Observations: obs})
	}
	return out, nil
}

// slot appends what filled a slot and what it returned. A slot that nothing
// filled returns nothing, but the model is asked on.
func (d *dialogue) slot(text string, s qaoa.Step) {
	if len(s.Calls) > 0 {
		d.step(text, s)
		return
	}
	d.said(text)
	d.messages = append(d.messages, model.Message{Role: model.User, Content: emptyResponse})
}

// emptyResponse is what a call that returned nothing looks like.
const emptyResponse = model.ToolResponse + "\n</tool_response>"
