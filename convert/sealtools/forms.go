package sealtools

import (
	"fmt"
	"path"
	"strings"

	"assay/convert"
	"assay/internal/pylit"
	"assay/qaoa"
)

// An instance is what an element says, whatever its form.
type instance struct {
	id             string
	query, calling qaoa.Value
	// JSON Pointers, for rejects
	queryPath, callingPath string
	prompt                 bool        // the form of prompts, whose tools are
	tools                  []qaoa.Tool // these, and whose calls are a text
}

// readInstance reads an element in any of the three forms.
func readInstance(el convert.Element) (instance, *convert.Reject) {
	v, err := qaoa.ParseValue(el.Data)
	if err != nil {
		return instance{}, convert.Rejectf(convert.ParseError, "", "%v", err)
	}
	if n := len(v.Items); v.Kind == qaoa.Array && n > 0 { // the old form
		in := instance{query: v.Items[n-1], queryPath: fmt.Sprintf("/%d", n-1)}
		if n == 2 && v.Items[0].Kind == qaoa.Array {
			in.calling, in.callingPath = v.Items[0], "/0"
		} else {
			in.calling = qaoa.ArrayValue(v.Items[:n-1]...)
		}
		return in, nil
	}
	if v.Kind != qaoa.Object {
		return instance{}, convert.Rejectf(convert.ParseError, "", "want an object, or an array that ends in the query, have %s", v.Kind)
	}
	in := instance{queryPath: "/query", callingPath: "/calling"}
	if id, _ := v.Get("id"); id.Kind == qaoa.String {
		in.id = id.Text
	}
	if messages, ok := v.Get("conversations"); ok {
		return in.fromPrompt(messages)
	}
	in.query, _ = v.Get("query")
	in.calling, _ = v.Get("calling")
	return in, nil
}

// The marks between the parts of a prompt.
const (
	toolsMark = "\napi_list = "
	queryMark = "\ntask_instruction = \""
	endMark   = "\"\nOutput:"
)

// fromPrompt returns in with what two messages say: a prompt that has the tools
// as a Python list and the query in quotes, and the calls as a Python list.
func (in instance) fromPrompt(messages qaoa.Value) (instance, *convert.Reject) {
	in.prompt = true
	in.queryPath, in.callingPath = "/conversations/0/value", "/conversations/1/value"
	if len(messages.Items) != 2 {
		return in, convert.Rejectf(convert.BadFlow, "/conversations", "want two messages, a prompt and the calls, have %d", len(messages.Items))
	}
	human, rej := convert.Field(messages.Items[0], "/conversations/0", "value", qaoa.String)
	if rej != nil {
		return in, rej
	}
	gpt, rej := convert.Field(messages.Items[1], "/conversations/1", "value", qaoa.String)
	if rej != nil {
		return in, rej
	}
	// The instructions before the list may have anything in them; the list is
	// one line, since Python's repr has no line breaks.
	_, rest, ok := strings.Cut("\n"+human.Text, toolsMark)
	list, rest, hasQuery := strings.Cut(rest, queryMark)
	end := strings.LastIndex(rest, endMark)
	if !ok || !hasQuery || end < 0 {
		return in, convert.Rejectf(convert.ParseError, in.queryPath, `want api_list = […], task_instruction = "…" and Output: on lines of their own, have %.60q`, human.Text)
	}
	in.query = qaoa.StringValue(rest[:end])
	tools, err := pylit.Parse(list)
	if err != nil || tools.Kind != qaoa.Array {
		return in, convert.Rejectf(convert.ParseError, in.queryPath, "want api_list as a list of tools, have %.60q (%v)", list, err)
	}
	for _, item := range tools.Items {
		t, err := convert.NormalizeTool(item)
		if err != nil {
			return in, convert.Rejectf(convert.ParseError, in.queryPath, "api_list: %v", err)
		}
		in.tools = append(in.tools, t)
	}
	if in.calling, err = pylit.Parse(gpt.Text); err != nil {
		return in, convert.Rejectf(convert.BadCallJSON, in.callingPath, "want a Python list of calls, have %.60q: %v", gpt.Text, err)
	}
	return in, nil
}

// promptFile reports whether file may hold prompts, which come as one JSON
// array; the other forms are JSON lines.
func promptFile(file string) bool {
	for _, suffix := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, suffix)
	}
	return path.Ext(file) == ".json"
}
