package filter

import (
	"fmt"
	"slices"

	"assay/convert"
	"assay/qaoa"
)

// direct returns why a record offers no tools, or answers without a call.
func direct(rec qaoa.Record) *convert.Reject {
	if len(rec.Tools) == 0 {
		return convert.Rejectf(convert.EmptyTools, "/tools", "want a tool on offer, have none")
	}
	for i, turn := range rec.Turns {
		if !hasCall(turn) && turn.Answer != "" {
			return convert.Rejectf(convert.DirectAnswer, fmt.Sprintf("/turns/%d/answer", i),
				"want a call before each answer, have the answer %.60q to the query itself", turn.Answer)
		}
	}
	return nil
}

// emptyArguments returns why a record has a call without arguments.
func emptyArguments(rec qaoa.Record) *convert.Reject {
	return eachCall(rec, func(call qaoa.Call) *convert.Reject {
		switch call.Arguments {
		case "", "null", "{}":
			return convert.Rejectf(convert.EmptyArguments, "/arguments", "want arguments in each call, have none for %.80q", call.Name)
		}
		return nil
	})
}

// flow returns why the messages of a record are not in order.
func flow(rec qaoa.Record) *convert.Reject {
	if rej := eachCall(rec, readable); rej != nil {
		return rej
	}
	observed := slices.ContainsFunc(rec.Turns, func(t qaoa.Turn) bool { return slices.ContainsFunc(t.Steps, hasObservation) })
	answered := slices.ContainsFunc(rec.Turns, func(t qaoa.Turn) bool { return t.Answer != "" })
	for i, turn := range rec.Turns {
		for j, step := range turn.Steps {
			if !observed || hasObservation(step) {
				continue
			}
			at := fmt.Sprintf("/turns/%d/steps/%d", i, j)
			switch {
			case j < len(turn.Steps)-1:
				return convert.Rejectf(convert.BadFlow, at, "want an observation after the calls, have the next calls")
			case turn.Answer != "":
				return convert.Rejectf(convert.BadFlow, at, "want an observation after the calls, have the answer %.60q", turn.Answer)
			}
			return convert.Rejectf(convert.IncompleteFlow, at, "want an observation after the calls, have the end of the turn")
		}
		if answered && turn.Answer == "" && i < len(rec.Turns)-1 {
			return convert.Rejectf(convert.BadFlow, fmt.Sprintf("/turns/%d/answer", i), "want an answer after the observations, have the next query")
		}
	}
	return nil
}

// readable returns why a call has no name, or arguments in a text that is no
// JSON.
func readable(call qaoa.Call) *convert.Reject {
	if call.Raw != "" || call.Name == "" {
		return convert.Rejectf(convert.BadCallJSON, "", "want a call with a name, have %.80q", call.Raw)
	}
	if call.Arguments.Kind() == qaoa.String {
		if _, err := qaoa.ParseValue(call.Arguments.Text()); err != nil {
			return convert.Rejectf(convert.BadArgsJSON, "/arguments", "want arguments as JSON, have a text that is %v", err)
		}
	}
	return nil
}

func hasObservation(s qaoa.Step) bool {
	return slices.ContainsFunc(s.Observations, func(o string) bool { return o != "" })
}

// eachCall calls rule with each call of rec until one is rejected. The path of
// the reject is relative to the call, and is completed here: most calls are
// good, and need no path.
func eachCall(rec qaoa.Record, rule func(call qaoa.Call) *convert.Reject) *convert.Reject {
	for i, turn := range rec.Turns {
		for j, step := range turn.Steps {
			for k, call := range step.Calls {
				if rej := rule(call); rej != nil {
					rej.Path = fmt.Sprintf("/turns/%d/steps/%d/calls/%d", i, j, k) + rej.Path
					return rej
				}
			}
		}
	}
	return nil
}
