package predfile

import (
	"context"
	"fmt"
	"io"
	"iter"

	"assay/internal/raw"
	"assay/qaoa"
	"assay/toolcall"
)

// A Snapshot is one state of a conversation of HammerBench: what was said so
// far, the one call that fills the slots known by then, and what a model made
// of it.
type Snapshot struct {
	Pos          qaoa.Pos
	ID           string // conversation_snapshot, both counted from 0
	Conversation int    // 0-based index in the file
	Index        int    // 0-based, in the conversation
	Input        string // the messages so far, as the model was shown them
	Text         string // what the model wrote
	Gold         qaoa.Call
	Pred         []qaoa.Call    // in Text; one that did not parse has Raw set
	Class        toolcall.Class // of Text
}

// HammerLogs yields the snapshots in a log of HammerBench's multi-turn
// evaluation (MT_res.json), a list of conversations:
//
//	{"FC_res":[{"input":text,"predict":text,"label":{"name","arguments"}}…]}
//
// The calls in a predicted text, where the arguments are called parameters, are
// found by package toolcall, without repairs: the evaluator of HammerBench
// reads JSON or nothing. An element of another shape is yielded as a
// *[qaoa.Error] with its place and path, and the stream goes on; any other
// error comes last.
func HammerLogs(ctx context.Context, r io.Reader) iter.Seq2[Snapshot, error] {
	return func(yield func(Snapshot, error) bool) {
		opt := raw.Options{MaxElement: DefaultMaxElement}
		for el, err := range raw.Read(ctx, r, "MT_res.json", opt) {
			if err != nil {
				pos, ok := raw.Skippable(err)
				if !ok {
					yield(Snapshot{}, err)
					return
				}
				err = &qaoa.Error{Pos: pos, Msg: err.Error()}
			}
			var list []qaoa.Value
			if err == nil {
				list, err = hammerList(el)
			}
			if err != nil && !yield(Snapshot{}, err) {
				return
			}
			for i, item := range list {
				if !yield(snapshot(el.Pos, i, item)) {
					return
				}
			}
		}
	}
}

// hammerList returns the snapshots of a conversation.
func hammerList(el raw.Element) ([]qaoa.Value, error) {
	v, err := qaoa.ParseValue(el.Data)
	if err != nil {
		return nil, &qaoa.Error{Pos: el.Pos, Msg: err.Error()}
	}
	list, _ := v.Get("FC_res")
	if list.Kind != qaoa.Array {
		return nil, &qaoa.Error{Pos: el.Pos, Path: "/FC_res", Msg: "want the list of snapshots of a conversation, have " + list.Kind.String()}
	}
	return list.Items, nil
}

// snapshot reads snapshot i of the conversation at pos.
func snapshot(pos qaoa.Pos, i int, v qaoa.Value) (Snapshot, error) {
	s := Snapshot{Pos: pos, Conversation: pos.Index, Index: i, ID: fmt.Sprintf("%d_%d", pos.Index, i)}
	input, _ := v.Get("input")
	predict, _ := v.Get("predict")
	label, _ := v.Get("label")
	wrong := func(name string, want qaoa.Kind, have qaoa.Value) error {
		return &qaoa.Error{Pos: pos, Path: fmt.Sprintf("/FC_res/%d/%s", i, name), Msg: fmt.Sprintf("want a value of the kind %s, have %s", want, have.Kind)}
	}
	if predict.Kind != qaoa.String {
		return Snapshot{}, wrong("predict", qaoa.String, predict)
	}
	if label.Kind != qaoa.Object {
		return Snapshot{}, wrong("label", qaoa.Object, label)
	}
	if s.Gold = callOf(label); s.Gold.Raw != "" {
		return Snapshot{}, &qaoa.Error{Pos: pos, Path: fmt.Sprintf("/FC_res/%d/label", i), Msg: "want a call with a name and arguments, have " + describe(label)}
	}
	s.Input, s.Text = input.Text, predict.Text
	res := toolcall.Parse(predict.Text, toolcall.Options{Strict: true})
	s.Pred, s.Class = res.Calls, res.Class
	return s, nil
}
