package predfile

import (
	"strings"

	"assay/qaoa"
	"assay/toolcall"
)

// maxDecodes is how often arguments are taken out of a JSON string; servers
// encode them once, and some clients once more.
const maxDecodes = 3

// callOf returns the call that v is, as some interface writes it:
//
//	{"name","arguments"}                      parameters, args or input likewise
//	{"function":{"name","arguments"}}         OpenAI
//	{"function":"name","arguments"}           Inspect; with parse_error it did not parse
//
// Arguments may be a string that holds an object, and a blank one is none. A v
// that is no call, or has a text for arguments that is no JSON object, is a call
// that did not parse.
func callOf(v qaoa.Value) qaoa.Call {
	obj := v
	if f, ok := obj.Get("function"); ok {
		if f.Kind == qaoa.Object {
			obj = f
		}
	}
	name, ok := obj.Get("name")
	if !ok {
		name, _ = obj.Get("function")
	}
	if fault, ok := v.Get("parse_error"); ok && fault.Kind != qaoa.Null || name.Kind != qaoa.String || name.Text == "" {
		return rawCall(v)
	}
	for _, key := range []string{"arguments", "parameters", "args", "input"} {
		if args, ok := obj.Get(key); ok {
			return callWith(name.Text, args, v)
		}
	}
	return qaoa.Call{Name: name.Text}
}

// callWith returns the call of a name with args; v is what it was made of.
func callWith(name string, args, v qaoa.Value) qaoa.Call {
	switch args.Kind {
	case qaoa.Null:
		return qaoa.Call{Name: name}
	case qaoa.String:
		if strings.TrimSpace(args.Text) == "" {
			return qaoa.Call{Name: name}
		}
		in := args
		for range maxDecodes {
			var err error
			if in, err = qaoa.ParseValue(in.Text); err != nil || in.Kind != qaoa.String {
				break
			}
		}
		if in.Kind != qaoa.Object {
			return rawCall(v)
		}
		args = in
	}
	return qaoa.Call{Name: name, Arguments: args.JSON()}
}

// rawCall returns v as a call that did not parse.
func rawCall(v qaoa.Value) qaoa.Call {
	if v.Kind == qaoa.String && v.Text != "" {
		return qaoa.Call{Raw: v.Text}
	}
	return qaoa.Call{Raw: string(v.JSON())}
}

// callsOf returns the calls of a list, of a single one, or of null. Texts are
// parsed.
func callsOf(v qaoa.Value, opt toolcall.Options) []qaoa.Call {
	items := v.Items
	switch v.Kind {
	case qaoa.Array:
	case qaoa.Null, qaoa.Invalid:
		return nil
	default:
		items = []qaoa.Value{v}
	}
	var calls []qaoa.Call
	for _, item := range items {
		if raw, ok := item.Get("raw"); ok && raw.Kind == qaoa.String && raw.Text != "" {
			calls = append(calls, qaoa.Call{Raw: raw.Text})
			continue
		}
		if item.Kind != qaoa.String {
			calls = append(calls, callOf(item))
			continue
		}
		found := toolcall.Parse(item.Text, opt).Calls
		if len(found) == 0 {
			found = pythonCalls(item.Text, opt)
		}
		if len(found) == 0 {
			found = []qaoa.Call{rawCall(item)}
		}
		calls = append(calls, found...)
	}
	return calls
}

// textTurn returns the turn that a model answered with text.
func textTurn(text string, opt toolcall.Options) qaoa.Turn {
	res := toolcall.Parse(text, opt)
	return turnOf(res.Calls, res.Answer)
}

// turnOf returns a turn of at most one step.
func turnOf(calls []qaoa.Call, answer string) qaoa.Turn {
	t := qaoa.Turn{Answer: answer}
	if len(calls) > 0 {
		t.Steps = []qaoa.Step{{Calls: calls}}
	}
	return t
}
