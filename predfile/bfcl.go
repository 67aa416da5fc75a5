package predfile

import (
	"fmt"
	"strings"

	"assay/internal/pylit"
	"assay/qaoa"
	"assay/toolcall"
)

// bfclFailure begins the text that BFCL writes as the result of a question
// whose request failed. It counts the question as done.
const bfclFailure = "Error during inference:"

// bfcl reads an element of a result file of BFCL.
func (d *decoder) bfcl(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	result, ok := v.Get("result")
	if !ok {
		return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/result", Msg: "want the result of a question, have none"})
	}
	if result.Kind == qaoa.String && strings.HasPrefix(result.Text, bfclFailure) {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered("/result", result.Text))
	}
	turns, err := bfclTurns(result, "/result", d.tools(who.id))
	return d.emit(pos, who.prediction(turns...), err)
}

// bfclTurns returns the turns of a result: a list that holds a list is one of
// turns, anything else is one turn.
func bfclTurns(v qaoa.Value, path string, opt toolcall.Options) ([]qaoa.Turn, error) {
	nested := false
	for _, item := range v.Items {
		nested = nested || item.Kind == qaoa.Array
	}
	if !nested {
		t, err := bfclStep(qaoa.Turn{}, v, path, opt)
		if err != nil {
			return nil, err
		}
		return []qaoa.Turn{t}, nil
	}
	turns := make([]qaoa.Turn, len(v.Items))
	for i, turn := range v.Items {
		at := fmt.Sprintf("%s/%d", path, i)
		if turn.Kind != qaoa.Array {
			turn = qaoa.ArrayValue(turn)
		}
		for j, step := range turn.Items {
			var err error
			if turns[i], err = bfclStep(turns[i], step, fmt.Sprintf("%s/%d", at, j), opt); err != nil {
				return nil, err
			}
		}
	}
	return turns, nil
}

// bfclStep adds a step to t: what a model said, as text, as a list of calls, or
// as one call.
func bfclStep(t qaoa.Turn, v qaoa.Value, path string, opt toolcall.Options) (qaoa.Turn, error) {
	var calls []qaoa.Call
	switch v.Kind {
	case qaoa.Null:
	case qaoa.String:
		var answer string
		calls, answer = bfclText(v.Text, opt)
		if len(calls) == 0 && answer != "" {
			t.Answer = answer
		}
	case qaoa.Object:
		calls = bfclCalls(v)
	case qaoa.Array:
		for _, item := range v.Items {
			if item.Kind == qaoa.Object {
				calls = append(calls, bfclCalls(item)...)
			} else {
				calls = append(calls, callsOf(item, opt)...)
			}
		}
	default:
		return t, &qaoa.Error{Path: path, Msg: fmt.Sprintf("want a text, a list of calls or null, have %s: %.60s", v.Kind, v.JSON())}
	}
	if len(calls) > 0 {
		t.Steps = append(t.Steps, qaoa.Step{Calls: calls})
	}
	return t, nil
}

// bfclCalls returns the calls of an object: {"name": arguments}, where the
// arguments are an object or the JSON text of one, for each of its members; or
// a call with a member "name" and one for the arguments.
func bfclCalls(v qaoa.Value) []qaoa.Call {
	if len(v.Members) > 1 {
		if name, ok := v.Get("name"); ok && name.Kind == qaoa.String {
			return []qaoa.Call{callOf(v)}
		}
	}
	if len(v.Members) == 0 {
		return []qaoa.Call{rawCall(v)}
	}
	calls := make([]qaoa.Call, len(v.Members))
	for i, m := range v.Members {
		one := qaoa.ObjectValue(m)
		if m.Name == "" {
			calls[i] = rawCall(one)
			continue
		}
		calls[i] = callWith(m.Name, m.Value, one)
	}
	return calls
}

// bfclText returns the calls in a text, in which BFCL takes calls without the
// brackets that it asks for as well.
func bfclText(text string, opt toolcall.Options) ([]qaoa.Call, string) {
	res := toolcall.Parse(text, opt)
	if res.Class == toolcall.ClassAbstained {
		if calls := pythonCalls(res.Answer, opt); len(calls) > 0 {
			return calls, ""
		}
	}
	return res.Calls, res.Answer
}

// pythonCalls returns the calls that a text is, if it is nothing else.
func pythonCalls(text string, opt toolcall.Options) []qaoa.Call {
	text = strings.Trim(text, "` \t\r\n")
	if !strings.HasSuffix(text, ")") {
		return nil
	}
	if _, err := pylit.ParseCalls(text); err != nil {
		return nil
	}
	return toolcall.Parse("["+text+"]", opt).Calls
}
