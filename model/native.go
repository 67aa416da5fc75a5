package model

import "assay/qaoa"

// maxDecodes is how often arguments are taken out of a JSON string. The
// protocol of OpenAI encodes them once, and some servers once more.
const maxDecodes = 3

// NativeCall returns the call that a server delivered through its own field: a
// name, and arguments as a JSON value or as a string that holds one. An empty
// string and null are no arguments. A call without a name, or with a string
// that is not JSON, has Raw set: the JSON of what was delivered.
func NativeCall(name string, arguments qaoa.Value) qaoa.Call {
	in, broken := arguments, name == ""
	for range maxDecodes {
		if in.Kind != qaoa.String {
			break
		}
		if in.Text == "" {
			in = qaoa.Value{}
			break
		}
		out, err := qaoa.ParseValue(in.Text)
		if err != nil {
			broken = true
			break
		}
		in = out
	}
	if broken {
		return qaoa.Call{Raw: string(qaoa.ObjectValue(
			qaoa.Member{Name: "name", Value: qaoa.StringValue(name)},
			qaoa.Member{Name: "arguments", Value: arguments},
		).JSON())}
	}
	if in.Kind == qaoa.Invalid || in.Kind == qaoa.Null {
		return qaoa.Call{Name: name}
	}
	return qaoa.Call{Name: name, Arguments: in.JSON()}
}
