package predfile

import (
	"strings"

	"assay/qaoa"
	"assay/toolcall"
)

// evalScope reads a prediction or a review of EvalScope.
func (d *decoder) evalScope(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "metadata.id", "sample_score.sample_metadata.id", "sample_score.sample_id", "sample_id", "index")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	if index, _ := v.Get("index"); !who.explicit && index.Kind == qaoa.Number {
		who.repeat += d.occurrence(who.id, index.Text)
	}
	opt := d.tools(who.id)
	if review, ok := v.Get("sample_score"); ok {
		text, at := lookup(review, "score.prediction")
		if text.Kind != qaoa.String {
			return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/sample_score" + at, Msg: "want the text of a prediction, have " + text.Kind.String()})
		}
		turns, err := evalScopeText(text.Text, "/sample_score"+at, opt)
		return d.emit(pos, who.prediction(turns...), err)
	}
	output, _ := v.Get("model_output")
	if msg, at, ok := fault(output, "/model_output"); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	turns, err := evalScopeTurns(v, output, opt)
	return d.emit(pos, who.prediction(turns...), err)
}

// occurrence returns how many other indexes came before under an id.
func (d *decoder) occurrence(id, index string) int {
	if d.seen == nil {
		d.seen, d.count = map[[2]string]int{}, map[string]int{}
	}
	key := [2]string{id, index}
	at, ok := d.seen[key]
	if !ok {
		at = d.count[id]
		d.seen[key] = at
		d.count[id]++
	}
	return at
}

// evalScopeTurns returns the turns of a prediction: the nested lists of BFCL if
// its adapter made it, else the messages, else the output.
func evalScopeTurns(v, output qaoa.Value, opt toolcall.Options) ([]qaoa.Turn, error) {
	if generation, at := lookup(v, "metadata.generation"); generation.Kind == qaoa.Array {
		return bfclTurns(generation, at, opt)
	}
	var message qaoa.Value
	if choices, _ := output.Get("choices"); len(choices.Items) > 0 {
		message, _ = choices.Items[0].Get("message")
	}
	calls, text := messageCalls(message)
	const at = "/model_output/choices/0/message/content"
	if len(calls) == 0 && isNested(text) {
		return evalScopeText(text, at, opt)
	}
	if messages, _ := v.Get("messages"); messages.Kind == qaoa.Array {
		turns, answered, err := foldMessages(messages.Items, "/messages", opt)
		if err != nil || answered {
			return turns, err
		}
	}
	if message.Kind != qaoa.Object {
		return nil, &qaoa.Error{Path: "/model_output/choices", Msg: "want a choice with a message, or messages of an assistant, have neither"}
	}
	return []qaoa.Turn{messageTurn(message, opt)}, nil
}

// isNested reports whether a text is the JSON of BFCL's nested lists.
func isNested(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	rest, ok := strings.CutPrefix(text, "[")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "[")
}

// evalScopeText returns the turns that a text holds.
func evalScopeText(text, path string, opt toolcall.Options) ([]qaoa.Turn, error) {
	if isNested(text) {
		if v, err := qaoa.ParseValue(text); err == nil {
			return bfclTurns(v, path, opt)
		}
	}
	calls, answer := bfclText(text, opt)
	return []qaoa.Turn{turnOf(calls, answer)}, nil
}
