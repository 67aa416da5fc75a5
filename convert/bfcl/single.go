package bfcl

import (
	"fmt"

	"assay/convert"
	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// readSingle fills tools and the step of the one turn from the functions of
// the element and its gold calls.
func (e *element) readSingle(truth qaoa.Value) *convert.Reject {
	if len(e.turns) != 1 {
		return convert.Rejectf(convert.BadFlow, "/question", "want one turn in a single-turn category, have %d", len(e.turns))
	}
	var functions []json.RawMessage
	if err := json.Unmarshal(e.Function, &functions); err != nil {
		return convert.Rejectf(convert.ParseError, "/function", "want a list of functions, have %.60q", e.Function)
	}
	if truth.Kind != qaoa.Array || len(truth.Items) == 0 {
		return convert.Rejectf(convert.NoCall, "", "want gold calls as a list with something in it, have %s", truth.Kind)
	}
	var calls []qaoa.Call
	for i, item := range truth.Items {
		if item.Kind != qaoa.Object || len(item.Members) != 1 || item.Members[0].Value.Kind != qaoa.Object {
			return convert.Rejectf(convert.BadCallJSON, "", "gold call %d: want {name: {parameter: alternatives}}, have %.80s", i, item.JSON())
		}
		m := item.Members[0]
		calls = append(calls, qaoa.Call{Name: m.Name, Arguments: firstAlternatives(m.Value).JSON()})
		e.alternatives = append(e.alternatives, m.Value)
	}
	e.turns[0].Steps = []qaoa.Step{{Calls: calls}}
	return e.offerFunctions(functions, calls)
}

// offerFunctions puts functions on offer: all of them in the profile Strict,
// else those that calls name, in the order of the calls.
func (e *element) offerFunctions(functions []json.RawMessage, calls []qaoa.Call) *convert.Reject {
	if e.strict {
		for i := range functions {
			t, rej := readFunction(functions, i)
			if rej != nil {
				return rej
			}
			e.tools = append(e.tools, t)
		}
		return nil
	}
	index := make(map[string]int, len(functions)) // the first of each name
	for i, f := range functions {
		var named struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(f, &named); err != nil {
			continue // a function without a name is called by nobody
		}
		if _, ok := index[named.Name]; !ok {
			index[named.Name] = i
		}
	}
	for _, call := range calls {
		i, ok := index[call.Name]
		if !ok || e.offered[call.Name] {
			continue
		}
		t, rej := readFunction(functions, i)
		if rej != nil {
			return rej
		}
		e.offer(t)
	}
	return nil
}

// readFunction returns function i as a tool.
func readFunction(functions []json.RawMessage, i int) (qaoa.Tool, *convert.Reject) {
	v, err := qaoa.ParseValue(functions[i])
	if err != nil {
		return qaoa.Tool{}, convert.Rejectf(convert.ParseError, fmt.Sprintf("/function/%d", i), "%v", err)
	}
	t, err := convert.NormalizeTool(v)
	if err != nil {
		return qaoa.Tool{}, convert.Rejectf(convert.ParseError, fmt.Sprintf("/function/%d", i), "%v", err)
	}
	return t, nil
}

// firstAlternatives returns the arguments of a gold call: of each parameter the
// first alternative. A parameter whose first alternative is "" or that has
// none is left out.
func firstAlternatives(params qaoa.Value) qaoa.Value {
	out := qaoa.ObjectValue()
	for _, m := range params.Members {
		v := m.Value
		if v.Kind == qaoa.Array {
			if len(v.Items) == 0 {
				continue
			}
			v = v.Items[0]
		} // else a bare value, as some nested keys have
		if v.Kind == qaoa.String && v.Text == "" {
			continue
		}
		out.Members = append(out.Members, qaoa.Member{Name: m.Name, Value: plain(v)})
	}
	return out
}

// plain returns an alternative as a value: objects hold alternatives again,
// lists hold values.
func plain(v qaoa.Value) qaoa.Value {
	switch v.Kind {
	case qaoa.Object:
		return firstAlternatives(v)
	case qaoa.Array:
		items := make([]qaoa.Value, len(v.Items))
		for i, item := range v.Items {
			items[i] = plain(item)
		}
		return qaoa.ArrayValue(items...)
	}
	return v
}
