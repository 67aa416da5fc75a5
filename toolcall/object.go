package toolcall

import "assay/qaoa"

var (
	nameKeys     = []string{"name", "tool", "function", "tool_name"}
	argumentKeys = []string{"arguments", "parameters", "args", "input"}
)

// callsOf returns the calls that vals are: call objects, arrays of them, or an
// object with OpenAI's member tool_calls. It is all or nothing: if one of them
// is no call, ok is false. An empty array is no calls, and ok.
//
// Tagged values say that they are calls by their tag, so they need no
// arguments; others must look like calls.
func callsOf(vals []qaoa.Value, tagged bool, opt Options) (calls []qaoa.Call, ok bool) {
	for _, v := range vals {
		if tagged {
			v = decodeArguments(v, opt) // the whole call may be in a string
		}
		if list, has := v.Get("tool_calls"); has && list.Kind == qaoa.Array {
			v = list
		}
		items := []qaoa.Value{v}
		if v.Kind == qaoa.Array {
			items = v.Items
		}
		for _, item := range items {
			c, ok := callOf(item, tagged, opt)
			if !ok {
				return nil, false
			}
			calls = append(calls, c)
		}
	}
	return calls, true
}

// callOf returns the call that v is.
func callOf(v qaoa.Value, tagged bool, opt Options) (qaoa.Call, bool) {
	if f, ok := v.Get("function"); ok && f.Kind == qaoa.Object {
		v = f
	}
	name, _, ok := first(v, nameKeys)
	if !ok || name.Kind != qaoa.String || name.Text == "" {
		return qaoa.Call{}, false
	}
	args, key, ok := first(v, argumentKeys)
	if !ok {
		return qaoa.Call{Name: name.Text}, tagged
	}
	args = decodeArguments(args, opt)
	if !tagged {
		if args.Kind != qaoa.Object {
			return qaoa.Call{}, false
		}
		// A model may quote the definition of a tool, which has a name and
		// parameters as well.
		if _, described := v.Get("description"); described && key == "parameters" {
			return qaoa.Call{}, false
		}
	}
	return qaoa.Call{Name: name.Text, Arguments: args.JSON()}, true
}

// first returns the member of v that has the first of keys that v has.
func first(v qaoa.Value, keys []string) (val qaoa.Value, key string, ok bool) {
	for _, k := range keys {
		if val, ok := v.Get(k); ok {
			return val, k, true
		}
	}
	return qaoa.Value{}, "", false
}

// maxDecodes is how often arguments are taken out of a string: models and
// servers encode them twice, and a fine-tuned model one time more.
const maxDecodes = 3

// decodeArguments returns the object or array that the string v holds, or v if
// it holds none.
func decodeArguments(v qaoa.Value, opt Options) qaoa.Value {
	in := v
	for range maxDecodes {
		if in.Kind != qaoa.String {
			break
		}
		out, err := qaoa.ParseValue(in.Text)
		if err != nil && !opt.Strict {
			out, _, _ = repair(in.Text)
		}
		in = out
	}
	if in.Kind == qaoa.Object || in.Kind == qaoa.Array {
		return in
	}
	return v
}
