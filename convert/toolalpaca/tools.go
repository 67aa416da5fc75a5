package toolalpaca

import (
	"strings"

	"assay/convert"
	"assay/qaoa"
)

// components is the entry of Function_Description that is no function.
const components = "components"

// escape writes a name as a part of a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// An api is what an element says about its functions.
type api struct {
	name  string
	tools []function
	index map[string]int // of tools, by name
}

// A function is a tool, or why its description cannot be read.
type function struct {
	tool qaoa.Tool
	rej  *convert.Reject
}

// readTools reads the descriptions of the functions in v.
func readTools(v qaoa.Value) []function {
	var out []function
	functions, _ := v.Get("Function_Description")
	for _, m := range functions.Members {
		if m.Name == components {
			continue
		}
		t, rej := readTool(m.Name, m.Value.Text)
		out = append(out, function{tool: t, rej: rej})
	}
	return out
}

// readTool reads one description:
//
//	Read one hive
//	Parameters: {"id": "Required. integer. Hive number."}
//	Output: …
//
// The first line may be missing.
func readTool(name, text string) (qaoa.Tool, *convert.Reject) {
	const mark = "Parameters:"
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, mark) {
		first = ""
	}
	flat := qaoa.ObjectValue()
	i := strings.Index("\n"+text, "\n"+mark)
	if i >= 0 {
		line, _, _ := strings.Cut(text[i+len(mark):], "\n") // JSON has no line breaks
		params, err := qaoa.ParseValue(line)
		if err != nil || params.Kind != qaoa.Object {
			return qaoa.Tool{Name: name}, convert.Rejectf(convert.ParseError, "/Function_Description/"+escape.Replace(name), "want the parameters as a JSON object on one line, have %.60q", line)
		}
		for _, p := range params.Members {
			flat.Members = append(flat.Members, qaoa.Member{Name: p.Name, Value: readParam(p.Value)})
		}
	}
	schema := qaoa.ObjectValue(
		qaoa.Member{Name: "type", Value: qaoa.StringValue("object")},
		qaoa.Member{Name: "properties", Value: flat},
	)
	return qaoa.Tool{Name: name, Description: first, Parameters: convert.NormalizeSchema(schema).JSON()}, nil
}

// readParam reads "Required. integer. Hive number.": the type is the text up to
// the first full stop outside of brackets, and the description the whole.
func readParam(v qaoa.Value) qaoa.Value {
	if v.Kind != qaoa.String {
		return v
	}
	rest, required := strings.CutPrefix(v.Text, "Required.")
	out := qaoa.ObjectValue(
		qaoa.Member{Name: "type", Value: qaoa.StringValue(typeText(rest))},
		qaoa.Member{Name: "description", Value: v},
	)
	if required {
		out.Members = append(out.Members, qaoa.Member{Name: "required", Value: qaoa.BoolValue(true)})
	}
	return out
}

// typeText returns the type at the start of a description.
func typeText(s string) string {
	depth := 0
	for i, c := range []byte(s) {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '.':
			if depth <= 0 {
				return strings.TrimSpace(s[:i])
			}
		}
	}
	return strings.TrimSpace(s)
}

// offer returns all tools, or those that calls name, in the order of the calls.
// A called tool whose description cannot be read is a reject; one that is not
// called is left out.
func (a *api) offer(calls []qaoa.Call, all bool) ([]qaoa.Tool, *convert.Reject) {
	if a.index == nil {
		a.index = map[string]int{}
		for i, f := range a.tools {
			a.index[f.tool.Name] = i
		}
	}
	var called []qaoa.Tool
	seen := map[string]bool{}
	for _, call := range calls {
		i, ok := a.index[call.Name]
		if !ok || seen[call.Name] {
			continue
		}
		seen[call.Name] = true
		if rej := a.tools[i].rej; rej != nil {
			own := *rej // several instances may share it, and each gets its ID
			return nil, &own
		}
		called = append(called, a.tools[i].tool)
	}
	if !all {
		return called, nil
	}
	var out []qaoa.Tool
	for _, f := range a.tools {
		if f.rej == nil {
			out = append(out, f.tool)
		}
	}
	return out, nil
}
