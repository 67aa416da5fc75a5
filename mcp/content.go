package mcp

import (
	"fmt"

	"assay/qaoa"
)

// A Failure is a call that the server answered, but that failed: the tool says
// so itself, or the server has no such tool, or refuses the arguments. It is
// the model's business and no fault of the connection, which goes on.
type Failure struct {
	Tool string
	Code int64 // of JSON-RPC if the server refused the call, 0 if the tool failed
	// Observation is what there is to see: what the tool returned, or
	// {"error": message} if the server refused the call.
	Observation qaoa.JSON
}

// Error returns what failed and the beginning of what was said.
func (f *Failure) Error() string {
	if f.Code != 0 {
		return fmt.Sprintf("tool %.60q: the server refused the call (code %d): %.200s", f.Tool, f.Code, f.Observation)
	}
	return fmt.Sprintf("tool %.60q failed: %.200s", f.Tool, f.Observation)
}

// errorObservation returns {"error": message}.
func errorObservation(message qaoa.Value) qaoa.JSON {
	return qaoa.ObjectValue(qaoa.Member{Name: "error", Value: message}).JSON()
}

// observation returns what the result of a call holds for a reader, and whether
// the tool says that it failed.
func observation(result qaoa.Value) (v qaoa.Value, failed bool) {
	flag, _ := result.Get("isError")
	failed = flag.Kind == qaoa.Bool && flag.Text == "true"
	if structured, ok := result.Get("structuredContent"); ok && structured.Kind != qaoa.Null {
		return structured, failed
	}
	content, _ := result.Get("content")
	switch len(content.Items) {
	case 0:
		return qaoa.NullValue(), failed
	case 1:
		return block(content.Items[0]), failed
	}
	v = qaoa.ArrayValue()
	for _, item := range content.Items {
		v.Items = append(v.Items, block(item))
	}
	return v, failed
}

// block returns what a block of content holds: of a text what it says in JSON,
// or else the text; of anything else the block, but with the size of binary
// data instead of the data, which nobody reads.
func block(v qaoa.Value) qaoa.Value {
	if text, ok := v.Get("text"); ok && text.Kind == qaoa.String && textOf(v, "type") == "text" {
		if parsed, err := qaoa.ParseValue(text.Text); err == nil {
			return parsed
		}
		return text
	}
	out := qaoa.ObjectValue()
	for _, m := range v.Members {
		switch {
		case (m.Name == "data" || m.Name == "blob") && m.Value.Kind == qaoa.String:
			m = qaoa.Member{Name: m.Name + "Bytes", Value: qaoa.NumberValue(fmt.Sprint(len(m.Value.Text) / 4 * 3))}
		case m.Name == "resource" && m.Value.Kind == qaoa.Object:
			m.Value = block(m.Value)
		}
		out.Members = append(out.Members, m)
	}
	return out
}
