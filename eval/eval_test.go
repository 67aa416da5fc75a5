package eval_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
	"assay/toolcall"
)

// call reads "f:1", which is f({"a":1}); "f" is f({}), and "!x" is a call that
// did not parse.
func call(s string) qaoa.Call {
	if raw, ok := strings.CutPrefix(s, "!"); ok {
		return qaoa.Call{Raw: "<tool_call>" + raw}
	}
	name, arg, ok := strings.Cut(s, ":")
	if !ok {
		return qaoa.Call{Name: name, Arguments: "{}"}
	}
	return qaoa.Call{Name: name, Arguments: qaoa.JSON(`{"a":` + arg + `}`)}
}

// turns reads turns divided by "|", of steps divided by ",", of calls divided
// by blanks. What a call returns is "got " and the call.
func turns(s string) []qaoa.Turn {
	var out []qaoa.Turn
	for i, text := range strings.Split(s, "|") {
		t := qaoa.Turn{Query: fmt.Sprintf("query %d", i), Answer: fmt.Sprintf("answer %d", i)}
		for step := range strings.SplitSeq(text, ",") {
			var st qaoa.Step
			for f := range strings.FieldsSeq(step) {
				st.Calls = append(st.Calls, call(f))
				st.Observations = append(st.Observations, "got "+f)
			}
			if len(st.Calls) > 0 {
				t.Steps = append(t.Steps, st)
			}
		}
		out = append(out, t)
	}
	return out
}

// record makes a record of data set set with tools for all its calls.
func record(id, set, calls string) qaoa.Record {
	rec := qaoa.Record{ID: id, Source: qaoa.Source{Name: set, File: "f.jsonl", Split: "test"}, Turns: turns(calls)}
	have := map[string]bool{}
	for _, c := range rec.Calls() {
		if !have[c.Name] {
			have[c.Name] = true
			rec.Tools = append(rec.Tools, qaoa.Tool{Name: c.Name, Description: "does " + c.Name, Parameters: `{"type":"object"}`})
		}
	}
	return rec
}

func prediction(id string, repeat int, calls string) qaoa.Prediction {
	return qaoa.Prediction{ID: id, Repeat: repeat, Turns: turns(calls)}
}

func each[T any](items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// many returns n records with one single-hop and one multi-hop turn.
func many(n int) []qaoa.Record {
	var recs []qaoa.Record
	for i := range n {
		recs = append(recs, record(fmt.Sprintf("set/%03d", i), "set", fmt.Sprintf("f:%d | g:%d h:%d, f:7", i, i, i)))
	}
	return recs
}

// A chatter is a fake model.
type chatter func(ctx context.Context, req model.Request) (model.Reply, error)

func (c chatter) Chat(ctx context.Context, req model.Request) (model.Reply, error) {
	return c(ctx, req)
}

func says(text string) (model.Reply, error) {
	return model.Reply{Text: text, Finish: "stop", Usage: model.Usage{Prompt: 10, Completion: 2}, Attempts: 1}, nil
}

// golden replays the gold steps of the turn, then the answer.
func golden(_ context.Context, req model.Request) (model.Reply, error) {
	turn := req.Case.Record.Turns[req.Turn]
	if k := rounds(req); k < len(turn.Steps) {
		return says(toolcall.Render(turn.Steps[k].Calls))
	}
	return says("<answer>" + turn.Answer + "</answer>")
}

// rounds returns how many replies of the current turn a request shows.
func rounds(req model.Request) int { return req.Round() }

// A counter counts what a model is asked.
type counter struct {
	mu    sync.Mutex
	asked map[string]int // first requests by id and repeat
	all   int
}

func (c *counter) wrap(next chatter) chatter {
	c.asked = map[string]int{}
	return func(ctx context.Context, req model.Request) (model.Reply, error) {
		c.mu.Lock()
		c.all++
		if req.Turn == 0 && rounds(req) == 0 {
			c.asked[fmt.Sprintf("%s#%d", req.Case.Record.ID, req.Case.Repeat)]++
		}
		c.mu.Unlock()
		return next(ctx, req)
	}
}

// shape writes turns as [turns] reads them.
func shape(list []qaoa.Turn) string {
	var out []string
	for _, t := range list {
		var steps []string
		for _, s := range t.Steps {
			var calls []string
			for _, c := range s.Calls {
				switch {
				case c.Raw != "":
					calls = append(calls, "!")
				case c.Arguments == "{}" || c.Arguments == "":
					calls = append(calls, c.Name)
				default:
					arg := strings.TrimSuffix(strings.TrimPrefix(string(c.Arguments), `{"a":`), "}")
					calls = append(calls, c.Name+":"+arg)
				}
			}
			steps = append(steps, strings.Join(calls, " "))
		}
		out = append(out, strings.Join(steps, ", "))
	}
	return strings.Join(out, " | ")
}

func collect(seq iter.Seq2[eval.Result, error]) (list []eval.Result, last error) {
	for res, err := range seq {
		if err != nil {
			last = err
			continue
		}
		list = append(list, res)
	}
	return list, last
}
