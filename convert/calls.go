package convert

import (
	"strings"

	"assay/qaoa"
)

// Arguments returns the arguments of a call as an object, whatever form v has:
// an object, a text that holds one (see [Decode]), or nothing, which is {}. Text
// that cannot be read is bad_args_json; a list or scalar is
// arguments_not_object. The rung is counted.
func (n *Notes) Arguments(v qaoa.Value, path string) (qaoa.JSON, *Reject) {
	if v.Kind == qaoa.String {
		return n.ArgumentsText(v.Text, path)
	}
	return n.argumentsObject(v, path)
}

// ArgumentsText is [Notes.Arguments] for a text.
func (n *Notes) ArgumentsText(text, path string) (qaoa.JSON, *Reject) {
	if args, err := qaoa.Compact(text); err == nil && args.Kind() == qaoa.Object {
		return args, nil
	}
	if strings.TrimSpace(text) == "" {
		return "{}", nil
	}
	v, rung := Decode(text)
	if rung == RungRaw {
		return "", Rejectf(BadArgsJSON, path, "want the JSON text of an object, have %.80q", text)
	}
	n.Rung(rung)
	return n.argumentsObject(v, path)
}

func (n *Notes) argumentsObject(v qaoa.Value, path string) (qaoa.JSON, *Reject) {
	switch v.Kind {
	case qaoa.Invalid, qaoa.Null:
		return "{}", nil
	case qaoa.Object:
		return v.JSON(), nil
	}
	return "", Rejectf(ArgumentsNotObject, path, "want an object, have %.60s", v.JSON())
}

// Call returns the call that v is, in one of these forms: an object with name
// and arguments (or parameters), one that has these in a member "function"
// beside an id or type, or a text that holds either. What is no call is
// bad_call_json.
func (n *Notes) Call(v qaoa.Value, path string) (qaoa.Call, *Reject) {
	obj, rung := DecodeValue(v)
	if obj.Kind != qaoa.Object {
		return qaoa.Call{}, Rejectf(BadCallJSON, path, "want a call as an object, have %.80s", v.JSON())
	}
	n.Rung(rung)
	if f, ok := obj.Get("function"); ok {
		switch inner, rung := DecodeValue(f); {
		case inner.Kind == qaoa.Object:
			n.Rung(rung)
			obj, path = inner, path+"/function"
		case f.Kind == qaoa.String: // {"function":"name","arguments":…}
			obj = qaoa.ObjectValue(append([]qaoa.Member{{Name: "name", Value: f}}, obj.Members...)...)
		}
	}
	name, _ := obj.Get("name")
	if name.Kind != qaoa.String || strings.TrimSpace(name.Text) == "" {
		return qaoa.Call{}, Rejectf(BadCallJSON, path+"/name", "want the name of a tool, have %.80s", obj.JSON())
	}
	call := qaoa.Call{Name: name.Text}
	key := "arguments"
	args, ok := obj.Get(key)
	if !ok {
		if args, ok = obj.Get("parameters"); ok {
			key = "parameters"
		}
	}
	var rej *Reject
	call.Arguments, rej = n.Arguments(args, path+"/"+key)
	return call, rej
}

// CallText is [Notes.Call] for a text, which may also have its arguments as JSON
// in single quotes, in the way of Glaive:
//
//	{"name": "f", "arguments": '{"a": "it\'s"}'}
//
// The closing quote may be missing, which counts as a repair.
func (n *Notes) CallText(text, path string) (qaoa.Call, *Reject) {
	text = strings.TrimSpace(text)
	if v, err := qaoa.ParseValue(text); err == nil {
		return n.Call(v, path)
	}
	if v, args, rung, ok := quotedArguments(text); ok {
		name, _ := v.Get("name")
		if name.Kind == qaoa.String && name.Text != "" {
			n.Rung(rung)
			parsed, rej := n.ArgumentsText(args, path+"/arguments")
			return qaoa.Call{Name: name.Text, Arguments: parsed}, rej
		}
	}
	return n.Call(qaoa.StringValue(text), path)
}

// quotedArguments splits a call that has its arguments in single quotes, which
// is not JSON, into the object without them and the text in the quotes.
func quotedArguments(text string) (v qaoa.Value, args string, rung Rung, ok bool) {
	const key = `"arguments"`
	_, after, found := strings.Cut(text, key)
	if !found {
		return v, "", 0, false
	}
	rest := strings.TrimLeft(after, " \t\r\n")
	rest, ok = strings.CutPrefix(rest, ":")
	rest = strings.TrimLeft(rest, " \t\r\n")
	if !ok || !strings.HasPrefix(rest, "'") {
		return v, "", 0, false
	}
	body := rest[1:]
	head := text[:len(text)-len(rest)]
	parse := func(tail string) bool {
		var err error
		v, err = qaoa.ParseValue(head + "null" + tail)
		return err == nil
	}
	// The last quotes are tried first: there may be apostrophes in the text.
	const tries = 8
	for end, n := strings.LastIndexByte(body, '\''), 0; end >= 0 && n < tries; n++ {
		if parse(body[end+1:]) {
			return v, strings.ReplaceAll(body[:end], `\'`, `'`), RungPython, true
		}
		end = strings.LastIndexByte(body[:end], '\'')
	}
	if n := valueLen(body); n > 0 && (parse(body[n:]) || parse("}")) {
		return v, strings.ReplaceAll(body[:n], `\'`, `'`), RungRepaired, true
	}
	return v, "", 0, false
}

// valueLen returns the length of the object or array at the beginning of s, as
// far as brackets and JSON's quotes tell; 0 if there is none or it does not end.
func valueLen(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted:
			switch c {
			case '\\':
				i++
			case '"':
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		if depth <= 0 {
			return 0
		}
	}
	return 0
}
