package predfile

import (
	"fmt"
	"slices"
	"strings"

	"assay/qaoa"
)

// A Format is a form of prediction files; see the package comment.
type Format string

// The forms. The empty Format means "by content" in [Options], and "none was
// recognised" in a [FileNote].
const (
	Assay     Format = "assay"
	Plain     Format = "plain"
	BFCL      Format = "bfcl"
	Batch     Format = "batch"
	Chat      Format = "chat"
	EvalScope Format = "evalscope"
	Inspect   Format = "inspect"
	Text      Format = "text"
)

// Formats returns all forms, in the order of the package comment.
func Formats() []Format {
	return []Format{Assay, Plain, BFCL, Batch, Chat, EvalScope, Inspect, Text}
}

// ParseFormat returns the form with that name; "" and "auto" are the empty
// Format. The error of another name lists the forms.
func ParseFormat(name string) (Format, error) {
	if name == "" || name == "auto" {
		return "", nil
	}
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	names := []string{"auto"}
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return "", fmt.Errorf("format %.40q: want one of %s", name, strings.Join(names, ", "))
}

// textKeys are the members that may hold what a model wrote.
var textKeys = []string{"text", "output", "response", "prediction", "completion", "generated_text"}

// formatOf returns the form of one element, or "".
func formatOf(v qaoa.Value) Format {
	kind := func(name string) qaoa.Kind {
		m, _ := v.Get(name)
		return m.Kind
	}
	has := func(name string) bool { return kind(name) != qaoa.Invalid }
	switch {
	case v.Kind != qaoa.Object:
		return ""
	case has("conversations"), kind("turns") == qaoa.Array:
		return Assay
	case has("custom_id") && isBatch(v):
		return Batch
	case has("sample_score"), has("model_output"):
		return EvalScope
	case has("epoch") && (has("messages") || has("output")), kind("samples") == qaoa.Array && has("eval"):
		return Inspect
	case has("id") && has("result"):
		return BFCL
	case has("calls"), kind("tool_calls") == qaoa.Array:
		return Plain
	case kind("messages") == qaoa.Array:
		return Chat
	}
	if _, path := completionOf(v, ""); path != none {
		return Chat
	}
	if slices.ContainsFunc(textKeys, has) {
		return Text
	}
	return ""
}

// isBatch reports whether v is an answer of the batch interface of OpenAI, and
// not a log that calls its ids alike.
func isBatch(v qaoa.Value) bool {
	response, ok := v.Get("response")
	if response.Kind == qaoa.Object {
		_, body := response.Get("body")
		_, status := response.Get("status_code")
		return body || status
	}
	_, failed := v.Get("error")
	return ok && failed && response.Kind == qaoa.Null
}

// noPredictions says what a file is whose first element is v, if that is a
// known companion of prediction files and holds none.
func noPredictions(v qaoa.Value) (what string, ok bool) {
	has := func(name string) bool {
		_, ok := v.Get(name)
		return ok
	}
	switch {
	case has("accuracy") && has("total_count"):
		return "a score file of BFCL, which lists failures only; give the result file", true
	case has("eval") && (has("status") || has("version")):
		return "the header of an Inspect log without its samples", true
	case has("epoch") && has("scores"):
		return "a summary of Inspect samples; give the samples themselves", true
	}
	return "", false
}
