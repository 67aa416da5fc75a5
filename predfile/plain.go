package predfile

import (
	"bytes"
	"fmt"
	"strings"

	"assay/qaoa"
)

// native reads an element in one of the forms of package qaoa, without a tree.
// It reports whether it did, or failed for good, and whether to go on.
func (d *decoder) native(p piece) (done, more bool) {
	if bytes.Contains(p.data, []byte(`"conversations"`)) {
		v, err := qaoa.ParseValue(p.data)
		if _, ok := v.Get("conversations"); err == nil && ok {
			got, err := qaoa.DecodeInterchangePrediction(p.data)
			props, _ := v.Get("properties")
			return true, d.adopt(p.pos, got, props, err)
		}
	}
	got, err := qaoa.DecodePrediction(p.data)
	if d.note.Format == Plain && (err != nil || anyRaw(got)) {
		return false, true // a call of another shape, maybe
	}
	var v qaoa.Value
	if err == nil && (d.run != 0 || strings.Contains(got.ID, "_run") || bytes.Contains(p.data, []byte(`"epoch"`))) {
		// Whether the element says which repeat it is matters only if something
		// else does. It has just been decoded, so that it is JSON.
		v, _ = qaoa.ParseValue(p.data)
	}
	return true, d.adopt(p.pos, got, v, err)
}

// adopt yields a prediction that package qaoa read, or the error. The repeat
// stands in v, if it is not in p.
func (d *decoder) adopt(pos qaoa.Pos, p qaoa.Prediction, v qaoa.Value, err error) bool {
	if err != nil {
		return d.emit(pos, p, err)
	}
	who, err := d.identifyAs(v, p.ID, "/id")
	p.ID = who.id
	if p.Repeat == 0 {
		p.Repeat = who.repeat
	}
	return d.emit(pos, p, err)
}

// anyRaw reports whether a call of p did not parse.
func anyRaw(p qaoa.Prediction) bool {
	for _, t := range p.Turns {
		for _, s := range t.Steps {
			for _, c := range s.Calls {
				if c.Raw != "" {
					return true
				}
			}
		}
	}
	return false
}

// plain reads an id with calls of whatever shape.
func (d *decoder) plain(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "id", "custom_id", "record_id", "sample_id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	for _, name := range []string{"calls", "tool_calls"} {
		if list, ok := v.Get(name); ok {
			answer, _ := v.Get("answer")
			return d.emit(pos, who.prediction(turnOf(callsOf(list, d.tools(who.id)), answer.Text)), nil)
		}
	}
	return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/calls", Msg: "want a list of calls, have " + describe(v)})
}

// text reads an id with what a model wrote.
func (d *decoder) text(pos qaoa.Pos, v qaoa.Value) bool {
	who, err := d.identify(v, "id", "custom_id", "record_id", "sample_id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, err)
	}
	if msg, at, ok := fault(v, ""); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	opt := d.tools(who.id)
	for _, key := range textKeys {
		switch m, ok := v.Get(key); {
		case !ok:
		case m.Kind == qaoa.String:
			return d.emit(pos, who.prediction(textTurn(m.Text, opt)), nil)
		case m.Kind == qaoa.Object, m.Kind == qaoa.Array, m.Kind == qaoa.Null:
			return d.emit(pos, who.prediction(turnOf(callsOf(m, opt), "")), nil)
		default:
			return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/" + key, Msg: fmt.Sprintf("want a text, have the %s %.40s", m.Kind, m.JSON())})
		}
	}
	return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: "/text", Msg: fmt.Sprintf("want one of %s, have %s", strings.Join(textKeys, ", "), describe(v))})
}
